#include "test/Interpreter/Support.h"

#include "gtest/gtest.h"

using namespace mlir::nb::test;
using testing::Test;

namespace {
TEST(Sum, AddsOverAllCombinationsLastDimensionFastest) {
  // 1e16 first swallows every 1 that comes later: the order shows.
  Program program(R"(
    func.func @f(%n: index, %m: index, %t: !nb.table<?xf64>) -> f64 {
      %s = nb.sum source %i in %n, mosaic %j in %m : f64 {
        %k = arith.muli %i, %m : index
        %e = arith.addi %k, %j : index
        %x = nb.lookup %t[%e] : !nb.table<?xf64>
        nb.yield %x : f64
      }
      return %s : f64
    })");
  EXPECT_EQ(program.values({{2}, {3}, {1, 2, 3, 4, 5, 6}}), std::vector<double>{21});
  EXPECT_EQ(program.values({{2}, {2}, {1e16, 1, 1, 1}}), std::vector<double>{1e16});
  EXPECT_EQ(program.values({{2}, {2}, {1, 1, 1, 1e16}}), std::vector<double>{1e16 + 4});
}

TEST(Sum, OfNothingIsZero) {
  Program program(R"(
    func.func @f(%n: index) -> (f64, f64) {
      %c = arith.constant 5.0 : f64
      %s:2 = nb.sum source %i in %n : f64, f64 {
        nb.yield %c, %c : f64, f64
      }
      return %s#0, %s#1 : f64, f64
    })");
  EXPECT_EQ(program.values({{0}}), std::vector<double>{0});
  EXPECT_EQ(program.values({{-3}}), std::vector<double>{0});
  EXPECT_EQ(program.run({{3}})[1].values, std::vector<double>{15});
}

TEST(Sum, RoundsInSinglePrecision) {
  Program program(R"(
    func.func @f(%n: index) -> f32 {
      %c = arith.constant 0.1 : f32
      %s = nb.sum source %i in %n : f32 {
        nb.yield %c : f32
      }
      return %s : f32
    })");
  float sum = 0;
  for (int i = 0; i < 1000; ++i)
    sum += 0.1f;
  EXPECT_EQ(program.values({{1000}}), std::vector<double>{double(sum)});
}

/// Values that do not change with an inner loop are not computed again, and others are.
TEST(Sum, InnerLoopsSeeTheOuterIndices) {
  Program program(R"(
    func.func @f(%n: index) -> f64 {
      %s = nb.sum phi %i in %n : f64 {
        %i64 = arith.index_cast %i : index to i64
        %x = arith.sitofp %i64 : i64 to f64
        %inner = nb.sum mosaic %j in %n : f64 {
          %twice = arith.addf %x, %x : f64
          %j64 = arith.index_cast %j : index to i64
          %y = arith.sitofp %j64 : i64 to f64
          %xy = arith.mulf %twice, %y : f64
          nb.yield %xy : f64
        }
        nb.yield %inner : f64
      }
      return %s : f64
    })");
  EXPECT_EQ(program.values({{4}}), std::vector<double>{2 * 6 * 6});
}

TEST(First, IsTheFirstThatHolds) {
  Program program(R"(
    func.func @f(%n: index, %t: !nb.table<?xf64>, %limit: f64) -> f64 {
      %x = nb.first source %i in %n : f64 {
        %v = nb.lookup %t[%i] : !nb.table<?xf64>
        %big = arith.cmpf ogt, %v, %limit : f64
        nb.yield %big, %v : i1, f64
      }
      return %x : f64
    })");
  EXPECT_EQ(program.values({{4}, {1, 7, 9, 8}, {5}}), std::vector<double>{7});
  EXPECT_EQ(program.values({{4}, {1, 7, 9, 8}, {8}}), std::vector<double>{9});
  EXPECT_EQ(program.values({{4}, {1, 7, 9, 8}, {10}}), std::vector<double>{0});
}

TEST(Tabulate, StoresEntriesForLookup) {
  Program program(R"(
    func.func @f(%n: index, %m: index, %a: index, %b: index)
        -> (!nb.vec3<f64>, !nb.table<?x?x!nb.vec3<f64>>) {
      %t = nb.tabulate phi %i in %n, mosaic %j in %m : !nb.table<?x?x!nb.vec3<f64>> {
        %i64 = arith.index_cast %i : index to i64
        %j64 = arith.index_cast %j : index to i64
        %x = arith.sitofp %i64 : i64 to f64
        %y = arith.sitofp %j64 : i64 to f64
        %z = arith.addf %x, %y : f64
        %v = nb.vec %x, %y, %z : f64
        nb.yield %v : !nb.vec3<f64>
      }
      %e = nb.lookup %t[%a, %b] : !nb.table<?x?x!nb.vec3<f64>>
      return %e, %t : !nb.vec3<f64>, !nb.table<?x?x!nb.vec3<f64>>
    })");
  auto results = program.run({{3}, {4}, {2}, {1}});
  ASSERT_EQ(results.size(), 2u);
  EXPECT_EQ(results[0].values, (std::vector<double>{2, 1, 3}));
  EXPECT_EQ(results[1].shape, (llvm::SmallVector<int64_t>{3, 4}));
  EXPECT_EQ(results[1].values.size(), 36u);
}

TEST(Lookup, OutsideTheTableIsAnError) {
  Program program(R"(
    func.func @f(%t: !nb.table<?xf64>, %i: index) -> f64 {
      %x = nb.lookup %t[%i] : !nb.table<?xf64>
      return %x : f64
    })");
  EXPECT_EQ(program.values({{1, 2, 3}, {2}}), std::vector<double>{3});
  EXPECT_TRUE(program.values({{1, 2, 3}, {3}}).empty());
  EXPECT_NE(program.errors().find("reads outside the table"), std::string::npos);
}

/// A table whose entries differ between pixels.
TEST(Tabulate, InsideAnImageHasEntriesPerPixel) {
  Program program(R"(
    func.func @f(%n: index, %at: index) -> tensor<?x?x?xf64> {
      %one = arith.constant 1 : index
      %image = nb.image panel %p in %one, slow %s in %one, fast %q in %n : tensor<?x?x?xf64> {
        %t = nb.tabulate phi %i in %n : !nb.table<?xf64> {
          %k = arith.muli %i, %q : index
          %k64 = arith.index_cast %k : index to i64
          %x = arith.sitofp %k64 : i64 to f64
          nb.yield %x : f64
        }
        %e = nb.lookup %t[%at] : !nb.table<?xf64>
        %own = nb.lookup %t[%q] : !nb.table<?xf64>
        %sum = arith.addf %e, %own : f64
        nb.yield %sum : f64
      }
      return %image : tensor<?x?x?xf64>
    })");
  EXPECT_EQ(program.values({{4}, {3}}), (std::vector<double>{0, 3 + 1, 6 + 4, 9 + 9}));
}
} // namespace
