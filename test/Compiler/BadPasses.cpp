// Passes that go wrong, for tests of what is said of them.

#include "dialect/NB.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Tools/Plugins/PassPlugin.h"

#include <cstdlib>
#include <unistd.h>

using namespace mlir;

namespace {
/// `Act` takes the function, and says whether the pass succeeds.
template <typename Act>
struct BadPass : PassWrapper<BadPass<Act>, OperationPass<func::FuncOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(BadPass)
  StringRef getArgument() const override { return Act::name; }
  StringRef getDescription() const override { return "goes wrong"; }
  void runOnOperation() override {
    if (!Act::act(this->getOperation()))
      this->signalPassFailure();
  }
};

struct Crash {
  static constexpr const char *name = "bad-crash";
  static bool act(func::FuncOp) { ::abort(); }
};

struct Overflow {
  static constexpr const char *name = "bad-overflow";
  // The room starts out as zeroes, which the compiler cannot know: never ends.
  static int descend(int depth) {
    volatile char room[4096] = {};
    if (room[1])
      return depth;
    return descend(depth + 1) + room[0];
  }
  static bool act(func::FuncOp) { return descend(0) != 1; }
};

struct Hang {
  static constexpr const char *name = "bad-hang";
  static bool act(func::FuncOp) {
    for (;;)
      ::usleep(1000);
  }
};

struct Silent {
  static constexpr const char *name = "bad-silent";
  static bool act(func::FuncOp) { return false; }
};

struct Throw {
  static constexpr const char *name = "bad-throw";
  static bool act(func::FuncOp) { throw 42; }
};

struct Exit {
  static constexpr const char *name = "bad-exit";
  static bool act(func::FuncOp) { ::exit(0); }
};

struct GoesOn {
  static constexpr const char *name = "bad-goes-on";
  static bool act(func::FuncOp function) {
    function.walk([](nb::PolarizationOp op) { op->emitError("this is wrong"); });
    return true;
  }
};

/// The distance is what it is, and does not change.
struct Gradient {
  static constexpr const char *name = "bad-gradient";
  static bool act(func::FuncOp function) {
    OpBuilder b(&function.front(), function.front().begin());
    for (BlockArgument argument : function.getArguments())
      if (auto of = function.getArgAttrOfType<StringAttr>(argument.getArgNumber(), "nb.name");
          of && of.getValue() == "distance")
        argument.replaceAllUsesWith(
            arith::ConstantOp::create(b, function.getLoc(), b.getF64FloatAttr(0.1)).getResult());
    return true;
  }
};

/// The first product becomes a sum.
struct Sum {
  static constexpr const char *name = "bad-sum";
  static bool act(func::FuncOp function) {
    function.walk([](arith::MulFOp op) {
      OpBuilder b(op);
      op.replaceAllUsesWith(
          arith::AddFOp::create(b, op.getLoc(), op.getLhs(), op.getRhs()).getResult());
      op.erase();
      return WalkResult::interrupt();
    });
    return true;
  }
};

/// Crystal and detector turn the other way round.
struct Turn {
  static constexpr const char *name = "bad-turn";
  static bool act(func::FuncOp function) {
    function.walk([](nb::EulerRotationOp op) {
      OpBuilder b(op);
      op.getXMutable().assign(arith::NegFOp::create(b, op.getLoc(), op.getX()).getResult());
    });
    return true;
  }
};

void registerAll() {
  PassRegistration<BadPass<Crash>>();
  PassRegistration<BadPass<Overflow>>();
  PassRegistration<BadPass<Hang>>();
  PassRegistration<BadPass<Silent>>();
  PassRegistration<BadPass<Throw>>();
  PassRegistration<BadPass<Exit>>();
  PassRegistration<BadPass<GoesOn>>();
  PassRegistration<BadPass<Gradient>>();
  PassRegistration<BadPass<Sum>>();
  PassRegistration<BadPass<Turn>>();
}
} // namespace

extern "C" __attribute__((visibility("default"))) PassPluginLibraryInfo mlirGetPassPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "BadPasses", "1", registerAll};
}
