// Every op against high-precision arithmetic: uniform, and per pixel inside an image.
#include "test/Interpreter/Support.h"

#include "gtest/gtest.h"

#include <set>

using namespace mlir::nb::test;

namespace {
struct OpCase {
  const char *op, *function;
  std::vector<std::vector<double>> arguments;
  std::vector<double> expected;
  double tolerance; ///< ulps
};

const OpCase cases[] = {
#include "test/Interpreter/OpCases.inc"
};

TEST(Ops, YieldWhatTheirFormulasSay) {
  for (const OpCase &c : cases) {
    Program program(c.function);
    std::vector<double> actual = program.values(c.arguments);
    EXPECT_LE(ulps(actual, c.expected), c.tolerance)
        << c.function << "\n  yields " << testing::PrintToString(actual) << ", expected "
        << testing::PrintToString(c.expected);
  }
}

/// The first scalar argument varies over the pixels of an image of 700 pixels, more than a tile; it
/// takes the value of the case in every third one. Other arguments stay uniform.
std::string perPixel(const OpCase &c) {
  std::string text = c.function;
  size_t body = text.find("%r = "), end = text.find(" return");
  std::string op = text.substr(body, end - body), argument = "%a";
  op.replace(op.find(argument), 2, "%v");
  return text.substr(0, text.find(") -> ")) +
         ") -> tensor<?x?x?xf64> {\n"
         "  %one = arith.constant 1 : index\n  %n = arith.constant 700 : index\n"
         "  %third = arith.constant 3 : index\n  %zero = arith.constant 0 : index\n"
         "  %image = nb.image panel %p in %one, slow %s in %one, fast %q in %n"
         " : tensor<?x?x?xf64> {\n"
         "    %m = arith.remsi %q, %third : index\n"
         "    %here = arith.cmpi eq, %m, %zero : index\n"
         "    %x = arith.constant 0.71 : f64\n"
         "    %v = arith.select %here, %a, %x : f64\n    " +
         op + "\n    nb.yield %r : f64\n  }\n  return %image : tensor<?x?x?xf64>\n}";
}

TEST(Ops, YieldTheSamePerPixel) {
  int tested = 0;
  for (const OpCase &c : cases) {
    std::string text = c.function;
    // Scalars to a scalar, which an image can show.
    bool scalar =
        text.find("(%a: f64") != std::string::npos && text.find(") -> f64") != std::string::npos;
    if (!scalar)
      continue;
    ++tested;
    Program program(perPixel(c));
    std::vector<double> image = program.values(c.arguments);
    ASSERT_EQ(image.size(), 700u) << c.function;
    std::vector<std::vector<double>> other = c.arguments;
    other[0] = {0.71};
    double here = Program(c.function).values(c.arguments)[0];
    double elsewhere = Program(c.function).values(other)[0];
    for (size_t i = 0; i < image.size(); ++i)
      ASSERT_EQ(ulps({image[i]}, {i % 3 == 0 ? here : elsewhere}), 0)
          << c.function << " at pixel " << i;
  }
  EXPECT_GT(tested, 40);
}

/// Gratings of one delta share factors, but not with another call of their function.
TEST(Ops, GratingsShareNothingBetweenCalls) {
  Program program(R"(
    func.func @slope(%d: !nb.vec3<f64>, %n: !nb.vec3<f64>) -> (f64, f64) {
      %e = nb.add %d, %d : !nb.vec3<f64>
      %v = nb.grating %e, %n : !nb.vec3<f64>
      %w = nb.grating %e, %n order [0, 1, 0] : !nb.vec3<f64>
      return %v, %w : f64, f64
    }
    func.func @both(%d: !nb.vec3<f64>, %c: !nb.vec3<f64>, %n: !nb.vec3<f64>)
        -> (f64, f64, f64, f64) {
      %v:2 = func.call @slope(%d, %n) : (!nb.vec3<f64>, !nb.vec3<f64>) -> (f64, f64)
      %w:2 = func.call @slope(%c, %n) : (!nb.vec3<f64>, !nb.vec3<f64>) -> (f64, f64)
      return %v#0, %v#1, %w#0, %w#1 : f64, f64, f64, f64
    })");
  std::vector<double> one = {0.01, 0.02, 0.03}, other = {-0.1, 0.2, 0.05}, cells = {5, 6, 7};
  auto results = program.run({one, other, cells}), swapped = program.run({other, one, cells});
  ASSERT_EQ(results.size(), 4u) << program.errors();
  ASSERT_EQ(swapped.size(), 4u);
  for (size_t i = 0; i < 4; ++i)
    EXPECT_EQ(results[i].values, swapped[(i + 2) % 4].values) << i;
  EXPECT_NE(results[0].values, results[2].values);
}

TEST(Ops, AllOfTheDialectAreCovered) {
  std::set<std::string> covered;
  for (const OpCase &c : cases)
    covered.insert(c.op);
  // Tested elsewhere: IterationTest, StructureFactorTest, ProbesTest. The interpreter never sees
  // what lies in memory: nb.parts, nb.stored.
  for (const char *op : {"nb.image", "nb.sum", "nb.first", "nb.tabulate", "nb.lookup", "nb.yield",
                         "nb.in_grid", "nb.structure_factor", "nb.scatter", "nb.scatter_factor",
                         "nb.read_pixel", "nb.probe", "nb.splat", "nb.parts", "nb.stored"})
    covered.insert(op);
  mlir::MLIRContext context;
  auto *dialect = context.getOrLoadDialect<mlir::nb::NBDialect>();
  for (mlir::RegisteredOperationName name :
       context.getRegisteredOperationsByDialect(dialect->getNamespace()))
    EXPECT_TRUE(covered.count(name.getStringRef().str())) << name.getStringRef().str();
}
} // namespace
