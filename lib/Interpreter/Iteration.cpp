#include "lib/Interpreter/Map.h"
#include "lib/Interpreter/Summand.h"

using namespace mlir;
using namespace mlir::nb;
using namespace mlir::nb::evaluation;

namespace {
/// A body over all combinations of its induction variables, the last one fastest.
struct Loop {
  Body body;
  SmallVector<LoopIndex> indices;
  SmallVector<Slot> yields;

  /// Calls `visit(ordinal)` after each evaluation of the body, until it returns false.
  template <typename Visit>
  void run(Frame &frame, Visit visit) const {
    int64_t total = 1;
    for (const LoopIndex &index : indices) {
      total *= std::max<int64_t>(*frame.integers(index.count), 0);
      *frame.integers(index.slot) = 0;
    }
    Dimensions changed = everything;
    for (int64_t ordinal = 0; ordinal < total; ++ordinal) {
      body.run(frame, changed);
      if (frame.failed() || !visit(ordinal))
        return;
      changed = advance(frame);
    }
  }

private:
  /// The dimensions whose induction variables have new values.
  Dimensions advance(Frame &frame) const {
    Dimensions changed = always;
    for (const LoopIndex &index : llvm::reverse(indices)) {
      int64_t count = *frame.integers(index.count);
      int64_t &value = *frame.integers(index.slot);
      if (count > 1)
        changed |= bitOf(index.dimension);
      if (++value < count)
        break;
      value = 0;
    }
    return changed;
  }
};

/// Plans induction variables and body of a sum, a search or a table.
FailureOr<std::shared_ptr<Loop>> planLoop(LoopOp op, Planner &planner) {
  auto loop = std::make_shared<Loop>();
  size_t outside = planner.loops.size();
  for (auto [i, variable] : llvm::enumerate(op.getInductionVars())) {
    Value count = op.getCounts()[i];
    if (failed(planner.requireUniform(op, count, "the number of iterations")))
      return failure();
    Dimension dimension = op.getDimension(i);
    auto slot = planner.define(variable, bitOf(dimension) | planner[count].dims);
    if (failed(slot))
      return failure();
    loop->indices.push_back({dimension, *slot, planner.slot(count)});
  }
  planner.loops.append(loop->indices);
  LogicalResult planned = planner.plan(*op.getBodyBlock(), loop->body);
  planner.loops.truncate(outside);
  if (failed(planned))
    return failure();
  for (Value value : op.getBodyBlock()->getTerminator()->getOperands())
    loop->yields.push_back(planner.slot(value));
  return loop;
}

/// The dimensions that a loop's results depend on: all that its body does, except its own.
Dimensions dimsAfter(LoopOp op, Planner &planner, Dimensions yielded) {
  Dimensions own = 0;
  for (unsigned i = 0; i < op.getInductionVars().size(); ++i)
    own |= bitOf(op.getDimension(i));
  Dimensions captured = planner.dimsOfRegions(op) | planner.dimsOf(op.getCounts());
  return ((yielded | captured) & ~own) | (captured & own);
}

void zero(Frame &frame, Slot slot) {
  for (int64_t c = 0; c < slot.components; ++c)
    std::fill_n(frame.reals(slot) + c * (slot.varying ? laneStride : 1), frame.lanesOf(slot), 0.0);
}

LogicalResult planSum(SumOp op, Planner &planner) {
  auto loop = planLoop(op, planner);
  if (failed(loop))
    return failure();
  Dimensions dims = dimsAfter(op, planner, planner.dimsOf(op.getYield().getValues()));
  struct Sum {
    Slot sum, term;
  };
  SmallVector<Sum> sums;
  SmallVector<Summand> objects;
  for (auto [sum, term] : llvm::zip_equal(op.getSums(), op.getYield().getValues())) {
    if (isa<TableType, HklGridType>(sum.getType())) {
      auto object = Summand::plan(op, term, sum, dims, planner);
      if (failed(object))
        return failure();
      objects.push_back(*object);
      continue;
    }
    auto slot = planner.define(sum, dims);
    if (failed(slot))
      return failure();
    sums.push_back({*slot, planner.slot(term)});
  }
  planner.step(op, dims, [loop = *loop, sums, objects](Frame &frame) {
    for (auto [sum, term] : sums)
      zero(frame, sum);
    SmallVector<double *> numbers;
    for (const Summand &object : objects)
      numbers.push_back(object.clear(frame));
    loop->run(frame, [&](int64_t) {
      for (auto [sum, term] : sums) {
        for (int64_t c = 0; c < sum.components; ++c) {
          double *total = frame.reals(sum) + c * (sum.varying ? laneStride : 1);
          const double *add = frame.reals(term) + c * (term.varying ? laneStride : 1);
          for (int64_t lane = 0, lanes = frame.lanesOf(sum); lane < lanes; ++lane)
            total[lane] += add[term.varying ? lane : 0];
        }
        if (sum.single)
          roundToSingle(frame, sum);
      }
      for (auto [object, sum] : llvm::zip_equal(objects, numbers))
        object.add(frame, sum);
      return !frame.failed();
    });
  });
  return success();
}

LogicalResult planFirst(FirstOp op, Planner &planner) {
  auto loop = planLoop(op, planner);
  if (failed(loop))
    return failure();
  Dimensions dims = dimsAfter(op, planner, planner.dimsOf(op.getYield().getValues()));
  SmallVector<Slot> results;
  for (Value value : op.getResults()) {
    auto slot = planner.define(value, dims);
    if (failed(slot))
      return failure();
    results.push_back(*slot);
  }
  Slot found = planner.scratch(Kind::Integer, 1, results.front().varying);
  planner.step(op, dims, [loop = *loop, found, results](Frame &frame) {
    int64_t lanes = frame.lanesOf(found);
    for (Slot out : results)
      zero(frame, out);
    std::fill_n(frame.integers(found), lanes, 0);
    Slot condition = loop->yields[0];
    ArrayRef<Slot> values = ArrayRef(loop->yields).drop_front();
    loop->run(frame, [&](int64_t) {
      for (int64_t lane = 0; lane < lanes; ++lane) {
        bool here = frame.integers(condition)[condition.varying ? lane : 0];
        if (!here || frame.integers(found)[lane])
          continue;
        frame.integers(found)[lane] = 1;
        for (auto [out, value] : llvm::zip_equal(results, values))
          for (int64_t c = 0; c < out.components; ++c)
            frame.reals(out)[c * (out.varying ? laneStride : 1) + lane] = frame.reals(
                value)[c * (value.varying ? laneStride : 1) + (value.varying ? lane : 0)];
      }
      return true;
    });
  });
  return success();
}

/// Appends the yielded value to the entries of the table.
template <typename T>
void append(std::vector<T> &entries, const T *value, Slot slot, int64_t stride) {
  for (int64_t c = 0; c < slot.components; ++c) {
    const T *component = value + c * (slot.varying ? laneStride : 1);
    entries.insert(entries.end(), component, component + (slot.varying ? stride : 1));
  }
}

LogicalResult planTabulate(TabulateOp op, Planner &planner) {
  auto loop = planLoop(op, planner);
  if (failed(loop))
    return failure();
  Dimensions dims = dimsAfter(op, planner, planner.dimsOf(op.getYield().getValues()));
  SmallVector<Slot> slots;
  for (Value table : op.getTables()) {
    auto slot = planner.define(table, dims);
    if (failed(slot))
      return failure();
    slots.push_back(*slot);
  }
  unsigned firstTable = planner.numTables;
  planner.numTables += slots.size();
  planner.step(op, dims, [loop = *loop, slots, firstTable](Frame &frame) {
    for (auto [i, slot] : llvm::enumerate(slots)) {
      auto &table = frame.tables[firstTable + i];
      if (!table)
        table = std::make_unique<Table>();
      table->ownReals.clear();
      table->ownIntegers.clear();
      table->shape.clear();
      table->stride = loop->yields[i].varying ? laneStride : 1;
      for (const LoopIndex &index : loop->indices)
        table->shape.push_back(*frame.integers(index.count));
      frame.object<const Table>(slot) = table.get();
    }
    loop->run(frame, [&](int64_t) {
      for (auto [i, value] : llvm::enumerate(loop->yields)) {
        Table &table = *frame.tables[firstTable + i];
        if (value.kind == Kind::Real)
          append<double>(table.ownReals, frame.reals(value), value, table.stride);
        else
          append<int64_t>(table.ownIntegers, frame.integers(value), value, table.stride);
      }
      return true;
    });
    for (unsigned i = 0; i < slots.size(); ++i) {
      Table &table = *frame.tables[firstTable + i];
      table.reals = table.ownReals.data();
      table.integers = table.ownIntegers.data();
    }
  });
  return success();
}
} // namespace

void evaluation::attachIteration(MLIRContext *context) {
  evaluateBy<SumOp, planSum>(context);
  evaluateBy<FirstOp, planFirst>(context);
  evaluateBy<TabulateOp, planTabulate>(context);
}
