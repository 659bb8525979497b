#include "test/Interpreter/Support.h"

#include "gtest/gtest.h"

using namespace mlir::nb::test;

namespace {
std::string inImage(const std::string &body) {
  return R"(
    func.func @f(%n: index, %c: f64) -> tensor<?x?x?xf64> {
      %one = arith.constant 1 : index
      %image = nb.image panel %p in %one, slow %s in %one, fast %q in %n : tensor<?x?x?xf64> {
        %q64 = arith.index_cast %q : index to i64
        %x = arith.sitofp %q64 : i64 to f64
)" + body +
         R"(
        nb.yield %r : f64
      }
      return %image : tensor<?x?x?xf64>
    })";
}

TEST(If, ChoosesPerPixel) {
  Program program(inImage(R"(
    %small = arith.cmpf olt, %x, %c : f64
    %r = scf.if %small -> f64 {
      %y = arith.addf %x, %c : f64
      scf.yield %y : f64
    } else {
      scf.yield %c : f64
    })"));
  EXPECT_EQ(program.values({{4}, {2}}), (std::vector<double>{2, 3, 2, 2}));
}

TEST(If, NestsPerPixel) {
  Program program(inImage(R"(
    %zero = arith.constant 0.0 : f64
    %big = arith.cmpf oge, %x, %c : f64
    %isEven = arith.constant 2 : index
    %rest = arith.remsi %q, %isEven : index
    %even = arith.cmpi eq, %rest, %one : index
    %r = scf.if %big -> f64 {
      %y = scf.if %even -> f64 {
        scf.yield %x : f64
      } else {
        scf.yield %zero : f64
      }
      scf.yield %y : f64
    } else {
      scf.yield %c : f64
    })"));
  EXPECT_EQ(program.values({{5}, {2}}), (std::vector<double>{2, 2, 0, 3, 0}));
}

TEST(If, OfOneConditionForAllRunsOneSide) {
  Program program(R"(
    func.func @f(%c: i1, %t: !nb.table<?xf64>, %i: index) -> f64 {
      %r = scf.if %c -> f64 {
        %x = nb.lookup %t[%i] : !nb.table<?xf64>
        scf.yield %x : f64
      } else {
        %zero = arith.constant 0.0 : f64
        scf.yield %zero : f64
      }
      return %r : f64
    })");
  EXPECT_EQ(program.values({{0}, {1}, {9}}), std::vector<double>{0});
  EXPECT_EQ(program.values({{1}, {1}, {0}}), std::vector<double>{1});
}

TEST(For, CarriesValuesPerPixel) {
  Program program(inImage(R"(
    %zero = arith.constant 0 : index
    %three = arith.constant 3 : index
    %r, %other = scf.for %i = %zero to %three step %one iter_args(%a = %c, %b = %x) -> (f64, f64) {
      %next = arith.addf %a, %x : f64
      scf.yield %b, %next : f64, f64
    })"));
  // (c, x) -> (x, c + x) -> (c + x, 2 x) -> (2 x, c + 2 x)
  EXPECT_EQ(program.values({{3}, {10}}), (std::vector<double>{0, 2, 4}));
}

TEST(Call, RunsTheCallee) {
  Program program(R"(
    func.func @square(%x: f64) -> f64 {
      %y = arith.mulf %x, %x : f64
      return %y : f64
    }
    func.func @f(%a: f64, %b: f64) -> f64 {
      %x = func.call @square(%a) : (f64) -> f64
      %y = func.call @square(%b) : (f64) -> f64
      %r = arith.subf %x, %y : f64
      return %r : f64
    })");
  EXPECT_EQ(program.values({{5}, {3}}), std::vector<double>{16});
}
} // namespace
