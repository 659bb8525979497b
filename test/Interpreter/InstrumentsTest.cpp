#include "test/Interpreter/Support.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <cmath>

using namespace mlir::nb;
using namespace mlir::nb::test;
using testing::HasSubstr;
using testing::Not;

namespace {
/// 1 / (fast - c), with a probe, over two mosaic domains.
const char *const quotients = R"(
  func.func @f(%n: index, %c: f64) -> tensor<?x?x?xf64> {
    %one = arith.constant 1 : index
    %two = arith.constant 2 : index
    %unit = arith.constant 1.0 : f64
    %image = nb.image panel %p in %one, slow %s in %two, fast %q in %n : tensor<?x?x?xf64> {
      %i = arith.index_cast %q : index to i64
      %x = arith.sitofp %i : i64 to f64
      %sum = nb.sum mosaic %j in %two : f64 {
        %d = arith.subf %x, %c : f64 loc("difference")
        %r = arith.divf %unit, %d : f64 loc("quotient")
        nb.probe "quotient" %r : f64
        nb.yield %r : f64
      }
      nb.yield %sum : f64
    }
    return %image : tensor<?x?x?xf64>
  })";

TEST(Probes, CountWhatTheySee) {
  ProbeRecord record;
  InterpreterOptions options;
  options.probes = &record;
  Program(quotients).run({{600}, {-1}}, options);
  ASSERT_EQ(record.probes.size(), 1u);
  EXPECT_EQ(record.probes[0].name, "quotient");
  const Statistics &s = record.probes[0].components.at(0);
  EXPECT_EQ(s.count(), 600 * 2 * 2);
  EXPECT_EQ(s.min, 1 / 600.0);
  EXPECT_EQ(s.max, 1);
  double sum = 0;
  for (int i = 1; i <= 600; ++i)
    sum += 1.0 / i;
  EXPECT_NEAR(s.mean(), sum / 600, 1e-15);
}

TEST(Probes, TellInfinitiesAndNaNApart) {
  ProbeRecord record;
  InterpreterOptions options;
  options.probes = &record;
  Program program(quotients);
  program.run({{10}, {3}}, options);
  EXPECT_EQ(record.probes[0].components[0].infinite, 4);
  EXPECT_EQ(record.probes[0].components[0].nan, 0);
  program.run({{10}, {NAN}}, options);
  EXPECT_EQ(record.probes[0].components[0].nan, 40);
  EXPECT_EQ(record.probes[0].components[0].finite, 0);
}

TEST(Probes, DoNotDependOnThreadsOrChangeTheImage) {
  ProbeRecord one, many;
  InterpreterOptions options;
  Program program(quotients);
  auto plain = program.values({{2000}, {0.3}});
  options.probes = &one;
  options.threads = 1;
  EXPECT_EQ(program.values({{2000}, {0.3}}, options), plain);
  options.probes = &many;
  options.threads = 4;
  program.run({{2000}, {0.3}}, options);
  EXPECT_EQ(one.probes[0].components[0].sum, many.probes[0].components[0].sum);
}

TEST(Probes, TableAndJsonSayTheSame) {
  ProbeRecord record;
  InterpreterOptions options;
  options.probes = &record;
  Program(quotients).run({{4}, {-1}}, options);
  std::string table, json;
  llvm::raw_string_ostream tableStream(table), jsonStream(json);
  record.printTable(tableStream);
  record.printJson(jsonStream);
  EXPECT_THAT(table, HasSubstr("quotient"));
  EXPECT_THAT(table, HasSubstr("16"));
  EXPECT_THAT(json, HasSubstr("\"count\": 16"));
  std::string bounded;
  llvm::raw_string_ostream boundedStream(bounded);
  record.printTable(boundedStream, 0);
  EXPECT_THAT(bounded, HasSubstr("1 rows more"));
}

TEST(Probes, OfLookupsCountHits) {
  Program program(R"(
    func.func @f(%F: !nb.hkl_grid<f64>, %n: index) -> tensor<?x?x?xf64> {
      %one = arith.constant 1 : index
      %zero = arith.constant 0.0 : f64
      %image = nb.image panel %p in %one, slow %s in %one, fast %q in %n : tensor<?x?x?xf64> {
        %i = arith.index_cast %q : index to i64
        %x = arith.sitofp %i : i64 to f64
        %hkl = nb.vec %x, %zero, %zero : f64
        %f = nb.structure_factor nearest %F[%hkl] default %zero : !nb.hkl_grid<f64>, !nb.vec3<f64>
        nb.probe "F" %f : f64
        nb.yield %f : f64
      }
      return %image : tensor<?x?x?xf64>
    })");
  const double data[] = {4, 5, 6};
  const nb_hkl_grid grid = {0, 2, 0, 0, 0, 0, data};
  const int64_t n = 5;
  ProbeRecord record;
  InterpreterOptions options;
  options.probes = &record;
  program.runBound({{&grid, {}}, {&n, {}}}, options);
  ASSERT_EQ(record.probes.size(), 1u);
  ASSERT_TRUE(record.probes[0].isLookup);
  const LookupStatistics &lookup = record.probes[0].lookup;
  EXPECT_EQ(lookup.inside, 3);
  EXPECT_EQ(lookup.outside, 2);
  EXPECT_EQ(lookup.index[0].min, 0);
  EXPECT_EQ(lookup.index[0].max, 4);
}

std::string traceOf(Pixel pixel, Program &program, double c) {
  std::string text;
  llvm::raw_string_ostream out(text);
  InterpreterOptions options;
  options.trace = pixel;
  options.traceOutput = &out;
  program.run({{10}, {c}}, options);
  return text;
}

TEST(Trace, ShowsNamedValuesOfOnePixelOnce) {
  Program program(quotients);
  // Neither value depends on the domain, so that each appears once and without its index.
  std::string trace = traceOf({0, 1, 7}, program, 3);
  EXPECT_THAT(trace, HasSubstr("TRACE difference 4\nTRACE quotient 0.25\n"));
  EXPECT_THAT(trace, Not(HasSubstr("mosaic=")));
  EXPECT_THAT(trace, HasSubstr("TRACE floatimage_accumulated 0.5\n"));
}

TEST(Trace, OutsideTheImageIsAnError) {
  Program program(quotients);
  EXPECT_EQ(traceOf({0, 2, 7}, program, 3), "");
  EXPECT_THAT(program.errors(), HasSubstr("pixel slow 2, fast 7 is outside the image"));
}

TEST(CheckFinite, NamesTheFirstOpAndItsOperands) {
  Program program(quotients);
  InterpreterOptions options;
  options.checkFinite = true;
  EXPECT_FALSE(program.values({{10}, {0.5}}, options).empty());
  EXPECT_TRUE(program.values({{2000}, {3}}, options).empty());
  EXPECT_THAT(program.errors(),
              HasSubstr("'arith.divf' (quotient) yields inf at pixel slow 0, fast 3 (mosaic 0); "
                        "operands 1, difference = 0"));
}

TEST(CheckFinite, LeavesBranchesNotTakenAlone) {
  Program program(R"(
    func.func @f(%n: index) -> tensor<?x?x?xf64> {
      %one = arith.constant 1 : index
      %zero = arith.constant 0.0 : f64
      %unit = arith.constant 1.0 : f64
      %image = nb.image panel %p in %one, slow %s in %one, fast %q in %n : tensor<?x?x?xf64> {
        %i = arith.index_cast %q : index to i64
        %x = arith.sitofp %i : i64 to f64
        %positive = arith.cmpf ogt, %x, %zero : f64
        %r = scf.if %positive -> f64 {
          %y = arith.divf %unit, %x : f64
          scf.yield %y : f64
        } else {
          scf.yield %zero : f64
        }
        nb.yield %r : f64
      }
      return %image : tensor<?x?x?xf64>
    })");
  InterpreterOptions options;
  options.checkFinite = true;
  EXPECT_EQ(program.values({{3}}, options), (std::vector<double>{0, 1, 0.5}));
  EXPECT_EQ(program.errors(), "");
}
} // namespace
