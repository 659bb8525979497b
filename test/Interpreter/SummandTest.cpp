// Sums of vectors, tables and grids, inside images and outside; images that are summed over.
#include "test/Interpreter/Support.h"

#include "gtest/gtest.h"

using namespace mlir::nb;
using namespace mlir::nb::test;

namespace {
using Numbers = std::vector<double>;

TEST(Sum, OfVectorsAndMatricesIsElementByElement) {
  Program program(R"(
    func.func @f(%n: index, %v: !nb.vec3<f64>, %m: !nb.mat3<f64>)
        -> (!nb.vec3<f64>, !nb.mat3<f64>) {
      %s, %t = nb.sum source %i in %n : !nb.vec3<f64>, !nb.mat3<f64> {
        nb.yield %v, %m : !nb.vec3<f64>, !nb.mat3<f64>
      }
      return %s, %t : !nb.vec3<f64>, !nb.mat3<f64>
    })");
  auto results = program.run({{3}, {1, 2, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9}});
  ASSERT_EQ(results.size(), 2u);
  EXPECT_EQ(results[0].values, (Numbers{3, 6, 9}));
  EXPECT_EQ(results[1].values, (Numbers{3, 6, 9, 12, 15, 18, 21, 24, 27}));
}

TEST(Sum, OfEntriesIsATable) {
  Program program(R"(
    func.func @f(%n: index, %two: index, %v: !nb.vec3<f64>) -> !nb.table<?x?x!nb.vec3<f64>> {
      %t = nb.sum source %i in %n : !nb.table<?x?x!nb.vec3<f64>> {
        %j = arith.remsi %i, %two : index
        %e = nb.scatter %v at [%j, %i] in (%two, %n) : !nb.table<?x?x!nb.vec3<f64>>
        nb.yield %e : !nb.table<?x?x!nb.vec3<f64>>
      }
      return %t : !nb.table<?x?x!nb.vec3<f64>>
    })");
  auto results = program.run({{3}, {2}, {1, 2, 3}});
  ASSERT_EQ(results.size(), 1u);
  EXPECT_EQ(llvm::ArrayRef(results[0].shape), (llvm::ArrayRef<int64_t>{2, 3}));
  EXPECT_EQ(results[0].values, (Numbers{1, 2, 3, 0, 0, 0, 1, 2, 3, 0, 0, 0, 1, 2, 3, 0, 0, 0}));
}

TEST(Sum, OfTablesThatWereAdded) {
  Program program(R"(
    func.func @f(%n: index, %v: f64, %w: f64) -> !nb.table<?xf64> {
      %last = arith.constant 2 : index
      %t = nb.sum source %i in %n : !nb.table<?xf64> {
        %a = nb.scatter %v at [%i] in (%n) : !nb.table<?xf64>
        %b = nb.scatter %w at [%last] in (%n) : !nb.table<?xf64>
        %c = nb.add %a, %b : !nb.table<?xf64>
        %d = nb.add %c, %b : !nb.table<?xf64>
        nb.yield %d : !nb.table<?xf64>
      }
      return %t : !nb.table<?xf64>
    })");
  EXPECT_EQ(program.values({{3}, {1}, {10}}), (Numbers{1, 1, 61}));
}

TEST(Sum, OfNothingIsATableOfZeros) {
  Program program(R"(
    func.func @f(%n: index, %m: index, %v: f64) -> !nb.table<?xf64> {
      %t = nb.sum source %i in %n : !nb.table<?xf64> {
        %e = nb.scatter %v at [%i] in (%m) : !nb.table<?xf64>
        nb.yield %e : !nb.table<?xf64>
      }
      return %t : !nb.table<?xf64>
    })");
  EXPECT_EQ(program.values({{0}, {2}, {5}}), (Numbers{0, 0}));
  EXPECT_EQ(program.values({{2}, {1}, {5}}), Numbers());
  EXPECT_NE(program.errors().find("writes outside the table"), std::string::npos)
      << program.errors();
}

/// Tables pass through nested sums and are looked up when they are complete.
TEST(Sum, OfTablesOfAnInnerSum) {
  Program program(R"(
    func.func @f(%n: index, %m: index, %w: !nb.table<?xf64>) -> (!nb.table<?xf64>, f64) {
      %t = nb.sum source %i in %n : !nb.table<?xf64> {
        %u = nb.sum mosaic %j in %m : !nb.table<?xf64> {
          %x = nb.lookup %w[%i] : !nb.table<?xf64>
          %e = nb.scatter %x at [%j] in (%m) : !nb.table<?xf64>
          nb.yield %e : !nb.table<?xf64>
        }
        nb.yield %u : !nb.table<?xf64>
      }
      %one = arith.constant 1 : index
      %x = nb.lookup %t[%one] : !nb.table<?xf64>
      return %t, %x : !nb.table<?xf64>, f64
    })");
  auto results = program.run({{2}, {3}, {10, 200}});
  ASSERT_EQ(results.size(), 2u);
  EXPECT_EQ(results[0].values, (Numbers{210, 210, 210}));
  EXPECT_EQ(results[1].values, (Numbers{210}));
}

TEST(Sum, RefusesATableWhoseSizeItCannotKnow) {
  std::string error = Program::errorOf(R"(
    func.func @f(%n: index, %v: f64) -> !nb.table<?xf64> {
      %t = nb.sum source %i in %n : !nb.table<?xf64> {
        %m = arith.addi %i, %i : index
        %e = nb.scatter %v at [%i] in (%m) : !nb.table<?xf64>
        nb.yield %e : !nb.table<?xf64>
      }
      return %t : !nb.table<?xf64>
    })");
  EXPECT_NE(error.find("size that is computed inside the loop"), std::string::npos) << error;
}

/// 3 x 1000 pixels: several tiles and a part of one. Each pixel's value is its fast index + 1; what
/// does not depend on the pixel counts once per pixel.
constexpr const char *summedImage = R"(
  func.func @f(%f0: index, %f1: index, %one64: f64, %v: !nb.vec3<f64>, %n: index)
      -> (f64, !nb.vec3<f64>, !nb.mat3<f64>, tensor<?x?x?xf64>, f64, !nb.table<?xf64>,
          !nb.table<?xf64>, !nb.table<?xf64>) {
    %one = arith.constant 1 : index
    %rows = arith.constant 3 : index
    %columns = arith.constant 1000 : index
    %zero = arith.constant 0 : index
    %x, %y, %z, %image, %u, %t, %r, %q = nb.image panel %p in %one, slow %s in %rows,
        fast %f in %columns roi(%f0, %f1, %zero, %rows)
        : f64, !nb.vec3<f64>, !nb.mat3<f64>, tensor<?x?x?xf64>, f64, !nb.table<?xf64>,
          !nb.table<?xf64>, !nb.table<?xf64> {
      %g = arith.addi %f, %one : index
      %i = arith.index_cast %g : index to i64
      %value = arith.sitofp %i : i64 to f64
      %w = nb.scale %v, %value : !nb.vec3<f64>
      %m = nb.outer %w, %v : !nb.vec3<f64>
      %row = nb.scatter %value at [%s] in (%rows) : !nb.table<?xf64>
      %sum, %same, %varying = nb.sum source %k in %n
          : !nb.table<?xf64>, !nb.table<?xf64>, f64 {
        %a = nb.scatter %one64 at [%k] in (%n) : !nb.table<?xf64>
        %b = nb.scatter %value at [%k] in (%n) : !nb.table<?xf64>
        nb.yield %a, %b, %value : !nb.table<?xf64>, !nb.table<?xf64>, f64
      }
      nb.yield %value, %w, %m, %varying, %one64, %row, %sum, %same
          : f64, !nb.vec3<f64>, !nb.mat3<f64>, f64, f64, !nb.table<?xf64>, !nb.table<?xf64>,
            !nb.table<?xf64>
    }
    return %x, %y, %z, %image, %u, %t, %r, %q
        : f64, !nb.vec3<f64>, !nb.mat3<f64>, tensor<?x?x?xf64>, f64, !nb.table<?xf64>,
          !nb.table<?xf64>, !nb.table<?xf64>
  })";

TEST(SummedImage, AddsOverThePixelsOfTheRegion) {
  Program program(summedImage);
  auto results = program.run({{0}, {999}, {1}, {1, 10, 100}, {2}});
  ASSERT_EQ(results.size(), 8u);
  const double row = 1000 * 1001 / 2, all = 3 * row;
  EXPECT_EQ(results[0].values, Numbers{all});
  EXPECT_EQ(results[1].values, (Numbers{all, 10 * all, 100 * all}));
  EXPECT_EQ(results[2].values[7], 1000 * all);
  ASSERT_EQ(results[3].values.size(), 3000u);
  EXPECT_EQ(results[3].values[1999], 2000);
  EXPECT_EQ(results[4].values, Numbers{3000});
  EXPECT_EQ(results[5].values, (Numbers{row, row, row}));
  EXPECT_EQ(results[6].values, (Numbers{3000, 3000}));
  EXPECT_EQ(results[7].values, (Numbers{all, all}));

  results = program.run({{10}, {11}, {1}, {1, 10, 100}, {2}});
  ASSERT_EQ(results.size(), 8u);
  EXPECT_EQ(results[0].values, Numbers{3 * (11 + 12)});
  EXPECT_EQ(results[5].values, (Numbers{23, 23, 23}));

  results = program.run({{11}, {10}, {1}, {1, 10, 100}, {2}});
  ASSERT_EQ(results.size(), 8u);
  EXPECT_EQ(results[0].values, Numbers{0});
  EXPECT_EQ(results[5].values, (Numbers{0, 0, 0}));
}

TEST(SummedImage, IsTheSameForAnyNumberOfThreads) {
  Program program(summedImage);
  std::vector<std::vector<double>> arguments = {{0}, {999}, {0.1}, {0.1, 0.7, 1e-3}, {2}};
  InterpreterOptions options;
  options.threads = 1;
  auto one = program.run(arguments, options);
  options.threads = 3;
  auto three = program.run(arguments, options);
  ASSERT_EQ(one.size(), 8u);
  ASSERT_EQ(three.size(), 8u);
  for (size_t i = 0; i < one.size(); ++i)
    EXPECT_EQ(one[i].values, three[i].values) << i;
}

TEST(SummedImage, NeedsNoImage) {
  Program program(R"(
    func.func @f(%n: index, %v: f64, %m: tensor<?x?x?xi8>) -> f64 {
      %t = nb.image panel %p in %n, slow %s in %n, fast %f in %n mask(%m : tensor<?x?x?xi8>) : f64 {
        nb.yield %v : f64
      }
      return %t : f64
    })");
  int64_t n = 2;
  double v = 0.5;
  const char mask[8] = {1, 0, 1, 1, 0, 0, 1, 1};
  auto results = program.runBound({{&n, {}}, {&v, {}}, {mask, {2, 2, 2}}}, {});
  ASSERT_EQ(results.size(), 1u) << program.errors();
  EXPECT_EQ(results[0].values, Numbers{2.5});
}

constexpr const char *readBack = R"(
  func.func @f(%n: index, %image: tensor<?x?x?xf64>) -> tensor<?x?x?xf64> {
    %one = arith.constant 1 : index
    %two = arith.constant 2 : index
    %copy = nb.image panel %p in %one, slow %s in %two, fast %f in %n : tensor<?x?x?xf64> {
      %g = arith.addi %f, %one : index
      %v = nb.read_pixel %image[%p, %s, %g] : tensor<?x?x?xf64>
      nb.yield %v : f64
    }
    return %copy : tensor<?x?x?xf64>
  })";

TEST(ReadPixel, IsZeroPastTheEndOfARow) {
  Program program(readBack);
  int64_t n = 3;
  const double image[] = {1, 2, 3, 4, 5, 6};
  auto results = program.runBound({{&n, {}}, {image, {1, 2, 3}}}, {});
  ASSERT_EQ(results.size(), 1u) << program.errors();
  EXPECT_EQ(results[0].values, (Numbers{2, 3, 0, 5, 6, 0}));
  // The sizes of the image around it when the caller leaves them out.
  EXPECT_EQ(program.runBound({{&n, {}}, {image, {}}}, {})[0].values, results[0].values);
}

TEST(ReadPixel, RefusesARowThatIsNotThere) {
  Program program(readBack);
  int64_t n = 3;
  const double image[] = {1, 2, 3};
  EXPECT_TRUE(program.runBound({{&n, {}}, {image, {1, 1, 3}}}, {}).empty());
  EXPECT_NE(program.errors().find("reads outside the image"), std::string::npos);
}
} // namespace
