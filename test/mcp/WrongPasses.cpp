// Passes that are wrong, each in one place: seeds_test.py looks for them through the server.

#include "dialect/NB.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Tools/Plugins/PassPlugin.h"

using namespace mlir;

namespace {
/// The ops of one kind whose result has this name.
template <typename Op, typename Act>
void each(func::FuncOp function, StringRef name, Act act) {
  SmallVector<Op> found;
  function.walk([&](Op op) {
    if (auto loc = dyn_cast<NameLoc>(op->getLoc()); loc && loc.getName() == name)
      found.push_back(op);
  });
  for (Op op : found) {
    OpBuilder b(op);
    act(op, b);
  }
}

void replace(Operation *op, Value value) {
  op->getResult(0).replaceAllUsesWith(value);
  op->erase();
}

Value number(OpBuilder &b, Location loc, double value) {
  return arith::ConstantOp::create(b, loc, b.getF64FloatAttr(value));
}

Value rounded(OpBuilder &b, Location loc, Value value) {
  Value low = arith::TruncFOp::create(b, loc, b.getF32Type(), value);
  return arith::ExtFOp::create(b, loc, b.getF64Type(), low);
}

BlockArgument argument(func::FuncOp function, StringRef name) {
  for (BlockArgument argument : function.getArguments())
    if (auto of = function.getArgAttrOfType<StringAttr>(argument.getArgNumber(), "nb.name");
        of && of.getValue() == name)
      return argument;
  return {};
}

struct Seed {
  const char *name, *fault;
  void (*act)(func::FuncOp function);
};

constexpr Seed seeds[] = {
    {"seed-constant", "a constant has another value",
     [](func::FuncOp f) {
       each<arith::AddFOp>(f, "relative_lambda", [](arith::AddFOp op, OpBuilder &b) {
         op->setOperand(0, number(b, op.getLoc(), 1.0001));
       });
     }},
    {"seed-dropped-term", "a sum loses a term",
     [](func::FuncOp f) {
       each<arith::AddFOp>(f, "phi",
                           [](arith::AddFOp op, OpBuilder &) { replace(op, op.getLhs()); });
     }},
    {"seed-operand-order", "a product of matrices has its factors the other way round",
     [](func::FuncOp f) {
       each<nb::MultiplyOp>(f, "reciprocal_basis", [](nb::MultiplyOp op, OpBuilder &) {
         op->setOperands({op->getOperand(1), op->getOperand(0)});
       });
     }},
    {"seed-sign", "a difference becomes a sum",
     [](func::FuncOp f) {
       each<nb::SubOp>(f, "pix0_vector", [](nb::SubOp op, OpBuilder &b) {
         replace(op, nb::AddOp::create(b, op.getLoc(), op.getLhs(), op.getRhs()));
       });
     }},
    {"seed-off-by-one", "a loop leaves out its last round",
     [](func::FuncOp f) {
       each<nb::SumOp>(f, "I", [&](nb::SumOp op, OpBuilder &b) {
         Value count = argument(f, "phi_steps"),
               one = arith::ConstantIndexOp::create(b, op.getLoc(), 1);
         op->replaceUsesOfWith(count, arith::SubIOp::create(b, op.getLoc(), count, one));
       });
     }},
    {"seed-predicate", "a select takes the other branch",
     [](func::FuncOp f) {
       each<arith::CmpFOp>(f, "edge_on", [](arith::CmpFOp op, OpBuilder &) {
         op.setPredicate(arith::CmpFPredicate::ONE);
       });
     }},
    {"seed-f32", "a value is rounded to f32 on its way",
     [](func::FuncOp f) {
       each<arith::MulFOp>(f, "lambda", [](arith::MulFOp op, OpBuilder &b) {
         b.setInsertionPointAfter(op);
         Value value = rounded(b, op.getLoc(), op);
         op.getResult().replaceAllUsesExcept(value,
                                             value.getDefiningOp()->getOperand(0).getDefiningOp());
       });
     }},
    {"seed-hoist", "a value that changes in a loop is that of its first round",
     [](func::FuncOp f) {
       each<nb::LookupOp>(f, "mosaic_angle", [](nb::LookupOp op, OpBuilder &b) {
         op.getIndicesMutable().assign(
             arith::ConstantIndexOp::create(b, op.getLoc(), 0).getResult());
       });
     }},
    {"seed-derivative", "the derivative of a square lacks its factor of 2",
     [](func::FuncOp f) {
       each<arith::AddFOp>(f, "adj_I_sample",
                           [](arith::AddFOp op, OpBuilder &) { replace(op, op.getLhs()); });
     }},
    {"seed-start", "a sum begins at 1",
     [](func::FuncOp f) {
       each<nb::SumOp>(f, "weights", [](nb::SumOp op, OpBuilder &b) {
         b.setInsertionPointAfter(op);
         auto sum =
             arith::AddFOp::create(b, op.getLoc(), op.getResult(0), number(b, op.getLoc(), 1));
         op.getResult(0).replaceAllUsesExcept(sum, sum);
       });
     }},
    {"seed-fast-math", "a quotient is a product with a reciprocal of f32",
     [](func::FuncOp f) {
       each<arith::DivFOp>(f, "pixel", [](arith::DivFOp op, OpBuilder &b) {
         Value one = number(b, op.getLoc(), 1);
         Value reciprocal = arith::DivFOp::create(b, op.getLoc(), one, op.getRhs());
         replace(op, arith::MulFOp::create(b, op.getLoc(), op.getLhs(),
                                           rounded(b, op.getLoc(), reciprocal)));
       });
     }},
    {"seed-table", "a value comes from another table",
     [](func::FuncOp f) {
       each<nb::LookupOp>(f, "shift", [&](nb::LookupOp op, OpBuilder &) {
         op->setOperand(0, argument(f, "source_weight"));
       });
     }},
    {"seed-merge", "ops that differ in an attribute are taken for the same",
     [](func::FuncOp f) {
       each<nb::RowOp>(f, "b_star", [&](nb::RowOp op, OpBuilder &) {
         op->setAttr("index", Builder(op).getI64IntegerAttr(0));
       });
     }},
    {"seed-indices", "slow and fast are exchanged",
     [](func::FuncOp f) {
       f.walk([](nb::PixelPositionOp op) {
         SmallVector<Value> operands(op->getOperands());
         std::swap(operands[4], operands[5]);
         op->setOperands(operands);
       });
     }},
    {"seed-adjoint", "the adjoint of a product lacks a transposition",
     [](func::FuncOp f) {
       each<nb::TransposeOp>(f, "adj_rotated_direct", [](nb::TransposeOp op, OpBuilder &) {
         replace(op, op->getOperand(0));
       });
     }},
};

struct Wrong : PassWrapper<Wrong, OperationPass<func::FuncOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(Wrong)
  explicit Wrong(const Seed &seed) : seed(&seed) {}
  StringRef getArgument() const override { return seed->name; }
  StringRef getDescription() const override { return seed->fault; }
  void runOnOperation() override { seed->act(getOperation()); }
  const Seed *seed;
};

void registerAll() {
  for (const Seed &seed : seeds)
    registerPass([&seed] { return std::make_unique<Wrong>(seed); });
}
} // namespace

extern "C" __attribute__((visibility("default"))) PassPluginLibraryInfo mlirGetPassPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "WrongPasses", "1", registerAll};
}
