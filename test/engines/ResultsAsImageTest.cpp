#include "test/engines/Engines.h"

#include "lib/Compiler/Run/ResultsAsImage.h"

#include "mlir/Parser/Parser.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace mlir;
using namespace mlir::nb;
using testing::ElementsAre;

namespace {

OwningOpRef<ModuleOp> parse(StringRef text) {
  return parseSourceString<ModuleOp>(text, ParserConfig(&testContext()));
}

constexpr StringRef everyKind = R"mlir(
  func.func @other() { return }
  func.func @kinds(%x: f64, %n: index, %v: !nb.vec3<f64>, %m: !nb.mat3<f64>)
      -> (f64, index, i1, !nb.vec3<f64>, !nb.mat3<f64>) {
    %y = arith.mulf %x, %x : f64
    %more = arith.addi %n, %n : index
    %c = arith.cmpf ogt, %y, %x : f64
    %w = nb.transform %m, %v : !nb.vec3<f64>
    %t = nb.transpose %m : !nb.mat3<f64>
    return %y, %more, %c, %w, %t : f64, index, i1, !nb.vec3<f64>, !nb.mat3<f64>
  }
)mlir";

struct Kinds {
  double x = 3;
  int64_t n = 21;
  double v[3] = {1, 10, 100};
  double m[9] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
  RunArguments arguments = {{&x, {}}, {&n, {}}, {v, {}}, {m, {}}};
};

TEST(ResultsAsImage, ScalarsVectorsAndMatricesOfACompiledFunction) {
  OwningOpRef<ModuleOp> program = parse(everyKind);
  ASSERT_TRUE(program);
  auto function = program->lookupSymbol<func::FuncOp>("kinds");
  const Kinds given;
  const auto results = valueOf(runCompiled(function, given.arguments, {}));
  ASSERT_EQ(results.size(), 5u);
  EXPECT_THAT(results[0].values, ElementsAre(9));
  EXPECT_THAT(results[1].values, ElementsAre(42));
  EXPECT_THAT(results[2].values, ElementsAre(1));
  EXPECT_THAT(results[3].values, ElementsAre(321, 654, 987));
  EXPECT_THAT(results[4].values, ElementsAre(1, 4, 7, 2, 5, 8, 3, 6, 9));
}

TEST(ResultsAsImage, TheEnginesAreComparedByThem) {
  OwningOpRef<ModuleOp> program = parse(everyKind);
  const Kinds given;
  const EngineComparison c =
      valueOf(compareEngines(*program, "kinds", given.arguments, {}, CompareOptions()));
  EXPECT_TRUE(c.agree()) << c.toString();
  EXPECT_EQ(c.pixels, 15u);
}

TEST(ResultsAsImage, TablesAreRefused) {
  OwningOpRef<ModuleOp> program = parse(R"mlir(
    func.func @table(%n: index, %x: f64) -> !nb.table<?xf64> {
      %t = nb.tabulate mosaic %i in %n : !nb.table<?xf64> {
        nb.yield %x : f64
      }
      return %t : !nb.table<?xf64>
    }
  )mlir");
  ASSERT_TRUE(program);
  const int64_t n = 2;
  const double x = 1;
  const RunArguments arguments = {{&n, {}}, {&x, {}}};
  auto results =
      runCompiled(program->lookupSymbol<func::FuncOp>("table"), arguments, CompileOptions());
  ASSERT_FALSE(results);
  EXPECT_THAT(llvm::toString(results.takeError()), testing::HasSubstr("--no-fuse"));
}

} // namespace
