// Runs nb programs op by op.
//
// The reference semantics of nb programs, in f64. Runs any function of nb, arith, math, scf and
// func ops, before or after any of the nb-level passes:
//
//   auto program = Interpreter::prepare(function);             // once per program
//   auto results = program->run(arguments, options);           // any number of times
//
// Errors are diagnostics at the op they are about, with a note at the function.
#ifndef NB_INTERPRETER_INTERPRETER_H
#define NB_INTERPRETER_INTERPRETER_H

#include "lib/Interpreter/Observers/Probes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace mlir::nb {

/// Makes the ops of all dialects that have an interpretation evaluable in contexts of `registry`.
void registerInterpreter(DialectRegistry &registry);

/// One argument of a function, laid out as nanobragg/KernelABI.h says; nothing is copied:
///   f64, f32            one double
///   index, i1, iN       one int64_t
///   !nb.vec3, !nb.mat3  3 or 9 doubles, row-major
///   !nb.table<..>       dense doubles (float elements) or int64_t (index, i1)
///   !nb.hkl_grid        one nb_hkl_grid
///   tensor              dense elements of the tensor's own type (f64, f32, i8)
struct InterpreterArgument {
  const void *data = nullptr;
  /// Entries along each dimension of a table or tensor. A table of rank 1 and the mask of an image
  /// may leave it out; reads from such a table are not checked.
  SmallVector<int64_t> shape;
};

struct InterpreterResult {
  Type type;
  SmallVector<int64_t> shape; ///< extents of tables, grids and tensors; empty for all others
  /// Dense; vectors and matrices as 3 or 9 numbers. Empty for an image that went to
  /// InterpreterOptions::image.
  std::vector<double> values;
};

struct Pixel {
  int64_t panel = 0, slow = 0, fast = 0;
};

struct InterpreterOptions {
  int threads = 0; ///< 0: as many as the machine offers; results do not depend on it
  /// Makes the first op that yields NaN or infinity an error.
  bool checkFinite = false;
  /// Evaluate this pixel only and write every named value to `traceOutput`; the image is not made.
  std::optional<Pixel> trace;
  raw_ostream *traceOutput = nullptr;
  /// Receives what the program's nb.probe ops saw.
  ProbeRecord *probes = nullptr;
  /// Caller's memory for the image of the program's first nb.image, of its element type.
  void *image = nullptr;
  /// Called with the finished fraction of the pixels, never decreasing, one call at a time.
  std::function<void(double)> progress;
  /// Asked between tiles; once it says yes, run() ends early.
  std::function<bool()> cancelled;
};

class Interpreter {
public:
  /// Resolves every op of the function to its evaluation. The function must stay as it is for as
  /// long as the interpreter is used. Fails with a diagnostic at the first op that has none.
  static FailureOr<Interpreter> prepare(func::FuncOp function);

  /// One argument per function argument. Fails with a diagnostic; a cancelled run succeeds, with
  /// an incomplete image.
  FailureOr<std::vector<InterpreterResult>> run(ArrayRef<InterpreterArgument> arguments,
                                                const InterpreterOptions &options = {}) const;

  Interpreter(Interpreter &&);
  ~Interpreter();

private:
  struct State;
  explicit Interpreter(std::unique_ptr<State> state);
  std::unique_ptr<State> state;
};

} // namespace mlir::nb

#endif
