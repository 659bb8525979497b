// A plugin with one pass: divisions by values that do not change in a loop become multiplications.

#include "dialect/NB.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Tools/Plugins/PassPlugin.h"

#include <map>

using namespace mlir;

namespace {
/// The image or sum whose body contains the op; null if there is none.
Operation *loopAround(Operation *op) {
  Operation *parent = op->getParentOp();
  while (parent && !isa<nb::SumOp, nb::ImageOp>(parent))
    parent = parent->getParentOp();
  return parent;
}

/// A division takes as long as four to eight multiplications. The pass changes results by rounding,
/// in the last bit.
struct DivideOnce : PassWrapper<DivideOnce, OperationPass<func::FuncOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(DivideOnce)

  StringRef getArgument() const override { return "nb-divide-once"; }
  StringRef getDescription() const override {
    return "replace divisions by loop-invariant values by multiplications";
  }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<nb::NBDialect, arith::ArithDialect>();
  }

  void runOnOperation() override {
    SmallVector<arith::DivFOp> divisions;
    getOperation().walk([&](arith::DivFOp division) {
      Operation *loop = loopAround(division);
      // 1/x stays as it is: its replacement would contain 1/x, too.
      const bool reciprocal = isOne(division.getLhs());
      if (loop && !reciprocal && isa<FloatType>(division.getType()) &&
          !loop->isAncestor(division.getRhs().getParentRegion()->getParentOp()))
        divisions.push_back(division);
    });
    std::map<std::pair<Operation *, void *>, Value> reciprocals;
    for (arith::DivFOp division : divisions) {
      Operation *loop = loopAround(division);
      Value divisor = division.getRhs();
      Value &reciprocal = reciprocals[{loop, divisor.getAsOpaquePointer()}];
      if (!reciprocal)
        reciprocal = divideAhead(loop, divisor);
      OpBuilder b(division);
      division.replaceAllUsesWith(
          arith::MulFOp::create(b, division.getLoc(), division.getLhs(), reciprocal).getResult());
      division.erase();
    }
    tell(divisions.size(), reciprocals.size());
  }

private:
  static bool isOne(Value value) {
    auto constant = value.getDefiningOp<arith::ConstantOp>();
    auto number = constant ? dyn_cast<FloatAttr>(constant.getValue()) : FloatAttr();
    return number && number.getValueAsDouble() == 1;
  }

  static Value divideAhead(Operation *loop, Value divisor) {
    OpBuilder b(loop);
    Location loc = divisor.getLoc();
    Value one = arith::ConstantOp::create(b, loc, b.getFloatAttr(divisor.getType(), 1));
    return arith::DivFOp::create(b, loc, one, divisor);
  }

  void tell(size_t divisions, size_t reciprocals) {
    auto named = [](StringRef name) {
      return remark::RemarkOpts::name(name).category("nb-divide-once");
    };
    if (divisions)
      remark::passed(getOperation().getLoc(), named("divided")) << remark::add(
          "{0} division(s) became multiplications by {1} reciprocal(s)", divisions, reciprocals);
    else
      remark::missed(getOperation().getLoc(), named("none"))
          << "no loop contains a division by a loop-invariant value";
  }
};
} // namespace

extern "C" __attribute__((visibility("default"))) PassPluginLibraryInfo mlirGetPassPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "DivideOnce", "1", [] { PassRegistration<DivideOnce>(); }};
}
