// A function of numbers, vectors and matrices, its expansion and its derivatives, run by the
// interpreter.
#ifndef NB_TEST_DERIVATIVES_FORMULA_H
#define NB_TEST_DERIVATIVES_FORMULA_H

#include "test/Dialect/derivatives/StraightLine.h"

#include "lib/Interpreter/Interpreter.h"

#include "mlir/IR/OwningOpRef.h"

namespace mlir::nb::test {

/// The elements of all arguments, or of all results, one after the other.
using Numbers = std::vector<double>;

/// The scalar product.
inline double inner(const Numbers &x, const Numbers &y) {
  double sum = 0;
  for (size_t i = 0; i < x.size(); ++i)
    sum += x[i] * y[i];
  return sum;
}

DialectRegistry registryOfFormulas();

class Formula {
public:
  /// `text` is one function; fails the test when something is missing.
  explicit Formula(const std::string &text);
  bool ready() const { return complete; }

  size_t numInputs() const { return inputs; }
  Numbers value(const Numbers &x) const { return run(*plain, x); }
  Numbers expansion(const Numbers &x) const { return run(*expanded, x); }
  Numbers tangent(const Numbers &x, const Numbers &t) const { return run(*first, x, t); }
  /// The derivative of the tangent with respect to x along s.
  Numbers secondTangent(const Numbers &x, const Numbers &t, const Numbers &s) const {
    return run(*second, x, t, s);
  }
  Numbers adjoint(const Numbers &x, const Numbers &g) const { return run(*reverse, x, g); }

private:
  struct Engine {
    Engine(SmallVector<Type> arguments, Interpreter interpreter)
        : arguments(std::move(arguments)), interpreter(std::move(interpreter)) {}
    SmallVector<Type> arguments;
    Interpreter interpreter;
  };
  std::unique_ptr<Engine> prepare(func::FuncOp function);
  template <typename... More>
  static Numbers run(const Engine &engine, Numbers numbers, const More &...more) {
    (numbers.insert(numbers.end(), more.begin(), more.end()), ...);
    return runOn(engine, numbers);
  }
  static Numbers runOn(const Engine &engine, const Numbers &numbers);

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  std::unique_ptr<Engine> plain, expanded, first, second, reverse;
  size_t inputs = 0;
  bool complete = false;
};

} // namespace mlir::nb::test

#endif
