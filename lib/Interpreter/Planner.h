// From ops to steps.
//
// Resolves a function once, so that running it costs one indirect call per op and tile.
#ifndef NB_INTERPRETER_PLANNER_H
#define NB_INTERPRETER_PLANNER_H

#include "lib/Interpreter/Frame.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/FunctionExtras.h"

#include <map>

namespace mlir::nb {

/// A set of loop dimensions, one bit each. The dimensions of a value decide whether it varies over
/// pixels and when it has to be evaluated again.
using Dimensions = uint32_t;
constexpr Dimensions bitOf(Dimension d) { return Dimensions(1) << unsigned(d); }
constexpr Dimensions pixelDimensions = bitOf(Dimension::slow) | bitOf(Dimension::fast);
/// Two bits beside the dimensions: evaluated when its body is entered, as every step is; evaluated
/// each time, as a step that someone watches.
constexpr Dimensions onEntry = Dimensions(1) << 31, always = Dimensions(1) << 30;
constexpr Dimensions everything = ~Dimensions(0);
constexpr Dimensions properDimensions = always - 1;

struct Step {
  Operation *op = nullptr;
  llvm::unique_function<void(Frame &) const> run;
  Dimensions dims = 0;
  SmallVector<Slot, 1> results;
};

/// A block as steps. `changed` says which induction variables have new values since the last
/// time; a step that depends on none of them keeps its results.
struct Body {
  std::vector<Step> steps;
  void run(Frame &frame, Dimensions changed) const;
};

/// An induction variable that a trace or an error names.
struct LoopIndex {
  Dimension dimension;
  Slot slot, count;
};

struct PlannedValue {
  Slot slot;
  Dimensions dims = 0;
};

class Planner {
public:
  /// Adds a step for every op of the block, whose arguments are defined already. The terminator is
  /// left to the caller.
  LogicalResult plan(Block &block, Body &body);

  const PlannedValue &operator[](Value value) const { return values.find(value)->second; }
  Slot slot(Value value) const { return (*this)[value].slot; }
  /// All dimensions that these values depend on.
  Dimensions dimsOf(ValueRange values) const;
  /// The same for all that the op's regions use from outside.
  Dimensions dimsOfRegions(Operation *op) const;

  /// Gives the value a place; fails with a diagnostic for a type without values.
  FailureOr<Slot> define(Value value, Dimensions dims);
  /// Makes the value a second name of a known one; a copy, since the table may move.
  void alias(Value value, PlannedValue known) { values[value] = known; }
  /// A place that belongs to no value.
  Slot scratch(Kind kind, unsigned components, bool varying);

  /// A place for an intermediate result that ops of one body share which have the same operands
  /// and so are evaluated together; true for the first of them, which has to fill it.
  std::pair<Slot, bool> shared(Operation *op, ArrayRef<unsigned> what);

  /// Adds a step whose results were defined; evaluated again when `dims` change.
  void step(Operation *op, Dimensions dims, llvm::unique_function<void(Frame &) const> run);

  /// Is a value of these dimensions one per pixel?
  bool varies(Dimensions dims) const { return insideImage && (dims & pixelDimensions); }
  /// Fails with a diagnostic at `op` when the value differs between pixels.
  LogicalResult requireUniform(Operation *op, Value value, StringRef what);

  bool insideImage = false;
  uint32_t numUniform = 0, numVarying = 0;
  unsigned numTables = 0, numGrids = 0, numTensors = 0;
  std::vector<std::pair<ProbeOp, Slot>> probes;
  SmallVector<LoopIndex> loops; ///< around the op that is being planned, outermost first
  /// The loops around every step that a trace or an error may ask about.
  llvm::DenseMap<Operation *, SmallVector<LoopIndex>> loopsOf;
  SmallVector<Operation *> calls; ///< functions being planned, to find recursion

private:
  llvm::DenseMap<Value, PlannedValue> values;
  std::map<std::vector<uint32_t>, Slot> sharedSlots;
  /// A function's block becomes a body each time that it is called.
  uint32_t numBodies = 0, currentBody = 0;
  Body *current = nullptr;
};

/// The place that a value of this type needs; fails without a diagnostic for other types.
FailureOr<Slot> slotFor(Type type, bool varying);

} // namespace mlir::nb

#include "lib/Interpreter/EvaluableOp.h.inc"

#endif
