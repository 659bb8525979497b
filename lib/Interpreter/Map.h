// A formula over all pixels of a tile.
//
// Each op is a function of the operands of one pixel, written as its formula. `map` runs it over a
// tile. The operand types of the function say how operands are read: double, int64_t, bool, Vec3,
// Mat3; its result type says how the result is stored.
#ifndef NB_INTERPRETER_MAP_H
#define NB_INTERPRETER_MAP_H

#include "lib/Interpreter/Algebra.h"
#include "lib/Interpreter/Planner.h"

#include <tuple>
#include <type_traits>
#include <utility>

namespace mlir::nb::evaluation {

template <typename T>
T load(const double *words, int64_t stride, int64_t lane) {
  auto component = [&](int64_t c) { return words[c * stride + lane]; };
  if constexpr (std::is_same_v<T, double>)
    return words[lane];
  else if constexpr (std::is_integral_v<T>)
    return T(reinterpret_cast<const int64_t *>(words)[lane]);
  else if constexpr (std::is_same_v<T, Vec3>)
    return {component(0), component(1), component(2)};
  else
    return {{{component(0), component(1), component(2)},
             {component(3), component(4), component(5)},
             {component(6), component(7), component(8)}}};
}

template <typename T>
void store(double *words, int64_t stride, int64_t lane, const T &value) {
  if constexpr (std::is_same_v<T, double>) {
    words[lane] = value;
  } else if constexpr (std::is_integral_v<T>) {
    reinterpret_cast<int64_t *>(words)[lane] = value;
  } else if constexpr (std::is_same_v<T, Vec3>) {
    words[lane] = value.x;
    words[stride + lane] = value.y;
    words[2 * stride + lane] = value.z;
  } else {
    for (int c = 0; c < 9; ++c)
      words[c * stride + lane] = value.at[c / 3][c % 3];
  }
}

/// An operand: read once when uniform, from its lane otherwise.
template <typename T, bool varying>
struct Operand {
  T value;
  Operand(const double *words) : value(load<T>(words, 1, 0)) {}
  const T &operator[](int64_t) const { return value; }
};
template <typename T>
struct Operand<T, true> {
  const double *words;
  Operand(const double *words) : words(words) {}
  T operator[](int64_t lane) const { return load<T>(words, laneStride, lane); }
};
/// An operand of an op with many, of which it is not worth to have code for every combination.
template <typename T>
struct AnyOperand {
  const double *words;
  int64_t stride, step;
  AnyOperand(const double *words, bool varying)
      : words(words), stride(varying ? laneStride : 1), step(varying) {}
  T operator[](int64_t lane) const { return load<T>(words, stride, lane * step); }
};

void roundToSingle(Frame &frame, Slot slot);

template <typename F, typename Result, typename... Args>
class Mapped {
public:
  static constexpr size_t arity = sizeof...(Args);

  Mapped(F formula, Slot result, std::array<Slot, arity> operands)
      : formula(std::move(formula)), result(result), operands(operands) {}

  void operator()(Frame &frame) const {
    if (!result.varying)
      store<Result>(frame.reals(result), 1, 0,
                    uniformResult(frame, std::index_sequence_for<Args...>()));
    else if constexpr (arity <= 3)
      specialize<>(frame);
    else
      general(frame, std::index_sequence_for<Args...>());
    if (result.single)
      roundToSingle(frame, result);
  }

private:
  template <size_t... I>
  Result uniformResult(Frame &frame, std::index_sequence<I...>) const {
    return formula(load<Args>(frame.reals(operands[I]), 1, 0)...);
  }

  /// Finds the code for this combination of uniform and varying operands.
  template <bool... varying>
  void specialize(Frame &frame) const {
    if constexpr (sizeof...(varying) == arity) {
      [&]<size_t... I>(std::index_sequence<I...>) {
        loop(frame, Operand<Args, varying>(frame.reals(operands[I]))...);
      }(std::index_sequence_for<Args...>());
    } else if (operands[sizeof...(varying)].varying) {
      specialize<varying..., true>(frame);
    } else {
      specialize<varying..., false>(frame);
    }
  }

  template <size_t... I>
  void general(Frame &frame, std::index_sequence<I...>) const {
    loop(frame, AnyOperand<Args>(frame.reals(operands[I]), operands[I].varying)...);
  }

  template <typename... Operands>
  void loop(Frame &frame, Operands... operand) const {
    double *out = frame.reals(result);
    for (int64_t lane = 0, lanes = frame.lanes; lane < lanes; ++lane)
      store<Result>(out, laneStride, lane, formula(operand[lane]...));
  }

  F formula;
  Slot result;
  std::array<Slot, arity> operands;
};

template <typename F, typename Result, typename... Args>
LogicalResult mapAs(Planner &planner, Operation *op, F formula, Result (F::*)(Args...) const) {
  constexpr size_t arity = sizeof...(Args);
  assert(op->getNumOperands() == arity && op->getNumResults() == 1);
  std::array<Slot, arity> operands;
  for (size_t i = 0; i < arity; ++i)
    operands[i] = planner.slot(op->getOperand(i));
  Dimensions dims = planner.dimsOf(op->getOperands());
  auto result = planner.define(op->getResult(0), dims);
  if (failed(result))
    return failure();
  planner.step(op, dims,
               Mapped<F, Result, std::decay_t<Args>...>(std::move(formula), *result, operands));
  return success();
}

/// Evaluates the op by `formula`, a lambda that takes one value per operand.
template <typename F>
LogicalResult map(Planner &planner, Operation *op, F formula) {
  return mapAs(planner, op, std::move(formula), &F::operator());
}

/// An evaluation that is a function of op and planner.
template <typename Op, LogicalResult (*planOp)(Op, Planner &)>
struct Planned : EvaluableOp::ExternalModel<Planned<Op, planOp>, Op> {
  LogicalResult plan(Operation *op, Planner &planner) const {
    return planOp(cast<Op>(op), planner);
  }
};

/// An evaluation that is a formula and nothing else.
template <typename Op, auto formula>
struct Formula : EvaluableOp::ExternalModel<Formula<Op, formula>, Op> {
  LogicalResult plan(Operation *op, Planner &planner) const { return of(planner, op, formula); }

private:
  template <typename Result, typename... Args>
  static LogicalResult of(Planner &planner, Operation *op, Result (*)(Args...)) {
    return map(planner, op, [](Args... args) -> Result { return formula(args...); });
  }
};

template <typename Op, auto formula>
void evaluate(MLIRContext *context) {
  Op::template attachInterface<Formula<Op, formula>>(*context);
}
template <typename Op, LogicalResult (*planOp)(Op, Planner &)>
void evaluateBy(MLIRContext *context) {
  Op::template attachInterface<Planned<Op, planOp>>(*context);
}

// One per family of ops; called when the dialect is loaded.
void attachGeometry(MLIRContext *context);
void attachDetector(MLIRContext *context);
void attachCrystal(MLIRContext *context);
void attachLattice(MLIRContext *context);
void attachStructureFactor(MLIRContext *context);
void attachCorrections(MLIRContext *context);
void attachTable(MLIRContext *context);
void attachDisorder(MLIRContext *context);
void attachIteration(MLIRContext *context);
void attachLookup(MLIRContext *context);
void attachScatter(MLIRContext *context);
void attachImage(MLIRContext *context);
void attachReadPixel(MLIRContext *context);
void attachPointSpread(MLIRContext *context);
void attachResponse(MLIRContext *context);
void attachProbe(MLIRContext *context);
void attachArith(MLIRContext *context);
void attachMath(MLIRContext *context);
void attachControlFlow(MLIRContext *context);
void attachFunc(MLIRContext *context);
void attachTensor(MLIRContext *context);
void attachVector(MLIRContext *context);

} // namespace mlir::nb::evaluation

#endif
