#include "test/engines/TestBreak.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include "mlir/Pass/Pass.h"

using namespace mlir;

namespace {
struct TestBreakPass : PassWrapper<TestBreakPass, OperationPass<>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(TestBreakPass)

  TestBreakPass() = default;
  TestBreakPass(const TestBreakPass &other) : PassWrapper(other) {}

  StringRef getArgument() const final { return "nb-test-break"; }
  StringRef getDescription() const final { return "multiply named values by a factor"; }
  void getDependentDialects(DialectRegistry &registry) const final {
    registry.insert<arith::ArithDialect>();
  }

  void runOnOperation() final {
    SmallVector<Value> values;
    getOperation()->walk([&](Operation *op) {
      auto location = op->getLoc()->findInstanceOf<NameLoc>();
      if (location && location.getName() == name && op->getNumResults() == 1 &&
          op->getResult(0).getType().isF64())
        values.push_back(op->getResult(0));
    });
    OpBuilder b(&getContext());
    for (Value value : values) {
      b.setInsertionPointAfterValue(value);
      Value factor = arith::ConstantOp::create(b, value.getLoc(), b.getF64FloatAttr(by));
      Value broken = arith::MulFOp::create(b, value.getLoc(), value, factor);
      value.replaceAllUsesExcept(broken, broken.getDefiningOp());
      // From here on the name means the broken value, as after a pass that gets it wrong.
      value.getDefiningOp()->setLoc(b.getUnknownLoc());
    }
  }

  Option<std::string> name{*this, "name", llvm::cl::desc("of the values to break")};
  Option<double> by{*this, "by", llvm::cl::desc("factor"), llvm::cl::init(1.001)};
};
} // namespace

void nb::registerTestBreak() { PassRegistration<TestBreakPass>(); }
