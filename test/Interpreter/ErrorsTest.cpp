#include "test/Interpreter/Support.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

using namespace mlir::nb;
using namespace mlir::nb::test;
using testing::HasSubstr;

namespace {
TEST(Errors, UnknownOpIsNamedWithItsFunction) {
  std::string error = Program::errorOf(R"(
    func.func @image(%x: f64) -> f64 {
      %y = "foo.bar"(%x) : (f64) -> f64
      return %y : f64
    })");
  EXPECT_THAT(error, HasSubstr("'foo.bar' op has no evaluation"));
  EXPECT_THAT(error, HasSubstr("note: the interpreter was asked to run function 'image'"));
}

TEST(Errors, UnknownOpInsideLoopsIsFoundBeforeAnythingRuns) {
  EXPECT_THAT(Program::errorOf(R"(
    func.func @f(%n: index) -> f64 {
      %s = nb.sum source %i in %n : f64 {
        %y = "foo.bar"() : () -> f64
        nb.yield %y : f64
      }
      return %s : f64
    })"),
              HasSubstr("'foo.bar' op has no evaluation"));
}

TEST(Errors, TypeWithoutValues) {
  EXPECT_THAT(Program::errorOf("func.func @f(%x: complex<f64>) -> complex<f64> {"
                               " return %x : complex<f64> }"),
              HasSubstr("no values of type 'complex<f64>'"));
}

TEST(Errors, CountThatDiffersBetweenPixels) {
  EXPECT_THAT(Program::errorOf(R"(
    func.func @f(%n: index) -> tensor<?x?x?xf64> {
      %image = nb.image panel %p in %n, slow %s in %n, fast %q in %n : tensor<?x?x?xf64> {
        %c = arith.constant 1.0 : f64
        %r = nb.sum source %i in %q : f64 {
          nb.yield %c : f64
        }
        nb.yield %r : f64
      }
      return %image : tensor<?x?x?xf64>
    })"),
              HasSubstr("the number of iterations differs between pixels"));
}

TEST(Errors, Recursion) {
  EXPECT_THAT(Program::errorOf(R"(
    func.func @f(%x: f64) -> f64 {
      %y = func.call @f(%x) : (f64) -> f64
      return %y : f64
    })"),
              HasSubstr("from inside itself"));
}

TEST(Errors, NumberOfArguments) {
  Program program("func.func @f(%x: f64) -> f64 { return %x : f64 }");
  EXPECT_TRUE(program.runBound({}, InterpreterOptions()).empty());
  EXPECT_THAT(program.errors(), HasSubstr("takes 1 arguments, not 0"));
}
} // namespace
