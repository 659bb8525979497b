#include "lib/Interpreter/Interpreter.h"

#include "lib/Interpreter/Map.h"
#include "lib/Interpreter/Observers/CheckFinite.h"
#include "lib/Interpreter/Observers/Trace.h"
#include "lib/Interpreter/Run.h"
#include "lib/Interpreter/StructureFactor.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::nb;

void nb::registerInterpreter(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, NBDialect *) {
    evaluation::attachGeometry(context);
    evaluation::attachDetector(context);
    evaluation::attachCrystal(context);
    evaluation::attachLattice(context);
    evaluation::attachStructureFactor(context);
    evaluation::attachCorrections(context);
    evaluation::attachTable(context);
    evaluation::attachDisorder(context);
    evaluation::attachIteration(context);
    evaluation::attachLookup(context);
    evaluation::attachScatter(context);
    evaluation::attachImage(context);
    evaluation::attachReadPixel(context);
    evaluation::attachPointSpread(context);
    evaluation::attachResponse(context);
    evaluation::attachProbe(context);
  });
  registry.addExtension(
      +[](MLIRContext *context, arith::ArithDialect *) { evaluation::attachArith(context); });
  registry.addExtension(
      +[](MLIRContext *context, math::MathDialect *) { evaluation::attachMath(context); });
  registry.addExtension(
      +[](MLIRContext *context, scf::SCFDialect *) { evaluation::attachControlFlow(context); });
  registry.addExtension(
      +[](MLIRContext *context, func::FuncDialect *) { evaluation::attachFunc(context); });
  registry.addExtension(
      +[](MLIRContext *context, tensor::TensorDialect *) { evaluation::attachTensor(context); });
  registry.addExtension(
      +[](MLIRContext *context, vector::VectorDialect *) { evaluation::attachVector(context); });
}

struct Interpreter::State {
  Plan plan;
};

Interpreter::Interpreter(std::unique_ptr<State> state) : state(std::move(state)) {}
Interpreter::Interpreter(Interpreter &&) = default;
Interpreter::~Interpreter() = default;

FailureOr<Interpreter> Interpreter::prepare(func::FuncOp function) {
  auto state = std::make_unique<State>();
  Plan &plan = state->plan;
  plan.function = function;
  if (!function.getBody().hasOneBlock())
    return function.emitOpError("is not one block of ops, which is all that the interpreter runs");
  for (Value argument : function.getArguments()) {
    auto slot = plan.planner.define(argument, 0);
    if (failed(slot))
      return failure();
    plan.arguments.push_back(*slot);
  }
  plan.planner.calls.push_back(function);
  if (failed(plan.planner.plan(function.getBody().front(), plan.body)))
    return failure();
  for (Value result : function.getBody().front().getTerminator()->getOperands())
    plan.results.push_back(plan.planner.slot(result));
  return Interpreter(std::move(state));
}

/// Puts an argument where its slot is; objects go into tables and tensors of the frame.
static void bindArgument(Frame &frame, Value parameter, Slot slot,
                         const InterpreterArgument &argument,
                         std::vector<std::unique_ptr<Table>> &tables,
                         std::vector<std::unique_ptr<Tensor>> &tensors) {
  Type type = parameter.getType();
  if (auto table = dyn_cast<TableType>(type)) {
    auto bound = std::make_unique<Table>();
    bound->shape.assign(argument.shape.begin(), argument.shape.end());
    bound->reals = static_cast<const double *>(argument.data);
    bound->integers = static_cast<const int64_t *>(argument.data);
    frame.object<const Table>(slot) = bound.get();
    tables.push_back(std::move(bound));
  } else if (auto tensor = dyn_cast<RankedTensorType>(type)) {
    auto bound = std::make_unique<Tensor>();
    bound->element = tensor.getElementType();
    bound->shape.assign(argument.shape.begin(), argument.shape.end());
    bound->data = const_cast<void *>(argument.data); // never written: only images are
    frame.object<const Tensor>(slot) = bound.get();
    tensors.push_back(std::move(bound));
  } else if (slot.kind == Kind::Object) {
    frame.object<const void>(slot) = argument.data;
  } else if (slot.kind == Kind::Integer) {
    *frame.integers(slot) = *static_cast<const int64_t *>(argument.data);
  } else {
    std::copy_n(static_cast<const double *>(argument.data), slot.components, frame.reals(slot));
    if (slot.single)
      evaluation::roundToSingle(frame, slot);
  }
}

static InterpreterResult resultOf(Frame &frame, Type type, Slot slot, const void *image) {
  InterpreterResult result = {type, {}, {}};
  if (isa<RankedTensorType>(type)) {
    const Tensor &tensor = *frame.object<const Tensor>(slot);
    result.shape = tensor.shape;
    if (tensor.data != image)
      for (int64_t i = 0; i < tensor.size(); ++i)
        result.values.push_back(tensor.get(i));
  } else if (isa<TableType>(type)) {
    const Table &table = *frame.object<const Table>(slot);
    result.shape.assign(table.shape.begin(), table.shape.end());
    result.values = table.ownReals;
    if (result.values.empty())
      result.values.assign(table.ownIntegers.begin(), table.ownIntegers.end());
  } else if (isa<HklGridType>(type)) {
    const nb_hkl_grid &grid = *frame.object<const nb_hkl_grid>(slot);
    result.shape = {grid.h_max - grid.h_min + 1, grid.k_max - grid.k_min + 1,
                    grid.l_max - grid.l_min + 1};
    result.values.assign(grid.data, grid.data + evaluation::entriesOf(grid));
  } else if (slot.kind == Kind::Integer) {
    result.values = {double(*frame.integers(slot))};
  } else if (slot.kind == Kind::Real) {
    result.values.assign(frame.reals(slot), frame.reals(slot) + slot.components);
  }
  return result;
}

/// An empty record for each probe of the plan.
static void begin(ProbeRecord &record, const Planner &planner) {
  record.probes.clear();
  for (auto [op, slot] : planner.probes) {
    ProbeStatistics probe;
    probe.name = op.getName().str();
    probe.components.resize(slot.components);
    probe.isLookup = isa_and_nonnull<StructureFactorOp>(op.getValue().getDefiningOp());
    record.probes.push_back(std::move(probe));
  }
}

FailureOr<std::vector<InterpreterResult>>
Interpreter::run(ArrayRef<InterpreterArgument> arguments, const InterpreterOptions &options) const {
  const Plan &plan = state->plan;
  func::FuncOp function = plan.function;
  if (arguments.size() != plan.arguments.size())
    return function.emitError() << "function '" << function.getName() << "' takes "
                                << plan.arguments.size() << " arguments, not " << arguments.size();
  for (auto [type, argument] : llvm::zip_equal(function.getArgumentTypes(), arguments))
    if (auto table = dyn_cast<TableType>(type);
        table && table.getRank() > 1 && argument.shape.size() != table.getRank())
      return function.emitError() << "function '" << function.getName() << "' takes a "
                                  << Type(table) << ", of which the sizes must be known";
  RunState run = {plan, options, nullptr};
  std::unique_ptr<TraceLog> log;
  if (options.trace) {
    log = std::make_unique<TraceLog>(plan, *options.traceOutput);
    run.makeObserver = [&] { return log->observer(); };
  } else if (options.checkFinite) {
    run.makeObserver = [&] { return makeFiniteCheck(plan); };
  }

  Frame frame;
  frame.uniformWords.resize(plan.planner.numUniform);
  frame.varyingWords.resize(plan.planner.numVarying);
  frame.tables.resize(plan.planner.numTables);
  frame.grids.resize(plan.planner.numGrids);
  frame.tensors.resize(plan.planner.numTensors);
  frame.run = &run;
  std::unique_ptr<Observer> observer = run.makeObserver ? run.makeObserver() : nullptr;
  frame.observer = observer.get();
  if (options.probes) {
    begin(*options.probes, plan.planner);
    frame.probes = &options.probes->probes;
  }
  std::vector<std::unique_ptr<Table>> tables;
  std::vector<std::unique_ptr<Tensor>> tensors;
  for (auto [i, parameter] : llvm::enumerate(function.getArguments()))
    bindArgument(frame, parameter, plan.arguments[i], arguments[i], tables, tensors);
  if (log)
    log->writeArguments(frame);
  plan.body.run(frame, everything);
  if (frame.failed())
    return emitError(frame.failedAt->getLoc()) << frame.failure;

  std::vector<InterpreterResult> results;
  for (auto [type, slot] : llvm::zip_equal(function.getResultTypes(), plan.results))
    results.push_back(resultOf(frame, type, slot, options.image));
  return results;
}
