#include "lib/Interpreter/Planner.h"

#include "lib/Interpreter/Observers/Observer.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::nb;

#include "lib/Interpreter/EvaluableOp.cpp.inc"

void Body::run(Frame &frame, Dimensions changed) const {
  for (const Step &step : steps) {
    if (!(step.dims & changed))
      continue;
    step.run(frame);
    if (frame.failed())
      return;
    if (frame.observer)
      frame.observer->evaluated(step, frame);
  }
}

FailureOr<Slot> nb::slotFor(Type type, bool varying) {
  Slot slot;
  slot.varying = varying;
  if (isa<TableType, HklGridType, RankedTensorType>(type)) {
    slot.kind = Kind::Object;
    slot.varying = false;
    return slot;
  }
  if (isa<Vec3Type>(type))
    slot.components = 3;
  if (isa<Mat3Type>(type))
    slot.components = 9;
  Type element = elementTypeOf(type);
  // Lanes are the pixels of a tile.
  if (auto vector = dyn_cast<VectorType>(element))
    element = vector.getElementType();
  if (element.isF64() || element.isF32()) {
    slot.single = element.isF32();
    return slot;
  }
  if (element.isIntOrIndex() && slot.components == 1) {
    slot.kind = Kind::Integer;
    return slot;
  }
  return failure();
}

Slot Planner::scratch(Kind kind, unsigned components, bool varying) {
  Slot slot;
  slot.kind = kind;
  slot.components = components;
  slot.varying = varying;
  slot.offset = varying ? numVarying : numUniform;
  (varying ? numVarying : numUniform) += components * (varying ? laneStride : 1);
  return slot;
}

std::pair<Slot, bool> Planner::shared(Operation *op, ArrayRef<unsigned> what) {
  std::vector<uint32_t> key = {currentBody};
  for (Value operand : op->getOperands()) {
    key.push_back(slot(operand).offset);
    key.push_back(slot(operand).varying);
  }
  key.insert(key.end(), what.begin(), what.end());
  auto [known, isNew] = sharedSlots.try_emplace(std::move(key));
  if (isNew)
    known->second = scratch(Kind::Real, 1, varies(dimsOf(op->getOperands())));
  return {known->second, isNew};
}

FailureOr<Slot> Planner::define(Value value, Dimensions dims) {
  auto slot = slotFor(value.getType(), varies(dims));
  if (failed(slot))
    return emitError(value.getLoc())
           << "the interpreter has no values of type " << value.getType()
           << "; take f64, f32, integers, vectors, matrices, tables or images";
  bool single = slot->single;
  *slot = scratch(slot->kind, slot->components, slot->varying);
  slot->single = single;
  values[value] = {*slot, dims & properDimensions};
  return *slot;
}

Dimensions Planner::dimsOf(ValueRange operands) const {
  Dimensions dims = 0;
  for (Value operand : operands)
    dims |= (*this)[operand].dims;
  return dims;
}

Dimensions Planner::dimsOfRegions(Operation *op) const {
  Dimensions dims = 0;
  for (Region &region : op->getRegions())
    region.walk([&](Operation *inner) {
      if (isa<ProbeOp>(inner))
        dims |= always;
      for (Value operand : inner->getOperands())
        if (auto known = values.find(operand);
            known != values.end() && !region.isAncestor(operand.getParentRegion()))
          dims |= known->second.dims;
    });
  return dims;
}

void Planner::step(Operation *op, Dimensions dims, llvm::unique_function<void(Frame &) const> run) {
  Step step;
  step.op = op;
  step.run = std::move(run);
  step.dims = dims | onEntry;
  for (Value result : op->getResults())
    step.results.push_back(slot(result));
  loopsOf[op] = loops;
  current->steps.push_back(std::move(step));
}

LogicalResult Planner::plan(Block &block, Body &body) {
  Body *outer = std::exchange(current, &body);
  uint32_t outerBody = currentBody, thisBody = ++numBodies;
  LogicalResult result = success();
  for (Operation &op : block.without_terminator()) {
    auto evaluable = dyn_cast<EvaluableOp>(op);
    if (!evaluable) {
      InFlightDiagnostic error = op.emitOpError("has no evaluation");
      if (auto function = op.getParentOfType<func::FuncOp>())
        error.attachNote(function.getLoc())
            << "the interpreter was asked to run function '" << function.getName() << "'";
      result = failure();
      break;
    }
    current = &body;
    currentBody = thisBody;
    if (failed(evaluable.plan(*this))) {
      result = failure();
      break;
    }
  }
  current = outer;
  currentBody = outerBody;
  return result;
}

LogicalResult Planner::requireUniform(Operation *op, Value value, StringRef what) {
  if (!(*this)[value].slot.varying)
    return success();
  return op->emitOpError() << what << " differs between pixels, which the interpreter cannot run";
}
