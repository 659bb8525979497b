// The program that the laboratory's tools try pipelines on.
#ifndef NB_LAB_SUBJECT_H
#define NB_LAB_SUBJECT_H

#include "lib/Compiler/Run/ExperimentValues.h"
#include "lib/Compiler/Run/RunProgram.h"
#include "lib/Experiment/Experiment.h"
#include "lib/Program/CompileRequest.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/Support/MemoryBuffer.h"

#include <memory>
#include <string>
#include <vector>

namespace mlir::nb {

/// A program with a function that makes an image, called "image" here, and values for its
/// arguments.
class Subject {
public:
  /// The program of the experiment, in f64, with its numbers. The experiment has to outlive it.
  /// Options say culling and plugins. Throws std::runtime_error.
  static std::unique_ptr<Subject> ofExperiment(const nanobragg::Experiment &experiment,
                                               const nanobragg::CompileOptions &options);
  /// A program from a file. Arguments have the value that the experiment has for their names, whose
  /// presence and kinds are checked when they are asked for. Throws std::runtime_error.
  static std::unique_ptr<Subject> ofFile(const std::string &file,
                                         const nanobragg::Experiment &experiment,
                                         const nanobragg::CompileOptions &options);
  /// The same of text.
  static std::unique_ptr<Subject> ofProgram(std::unique_ptr<llvm::MemoryBuffer> text,
                                            const nanobragg::Experiment &experiment,
                                            const nanobragg::CompileOptions &options);

  ModuleOp get() const { return *program; }
  /// The function that makes the image; for a lowered program, the experiment's.
  func::FuncOp function() const { return function(meaning ? *meaning : *program); }
  /// Is this a program from a file that is past images and sums? Then the experiment's program
  /// says which results are right.
  bool isLowered() const { return bool(meaning); }
  /// Is it the experiment's own program, and not from a file?
  bool isExperiments() const { return own; }
  func::FuncOp function(ModuleOp of) const;
  const std::string &source() const { return from; }

  /// The values of these arguments. Cotangents and tangents of derivatives are 1.
  /// Throws std::runtime_error naming one for which there is none.
  RunArguments arguments(ArrayRef<std::string> names);
  RunArguments arguments(func::FuncOp function);
  RunArguments arguments(const nb_kernel_descriptor &kernel);

  /// Panels, rows and pixels of a row.
  std::array<int64_t, 3> shape();
  /// Pixels x innermost evaluations, of the whole image.
  double samples() const;

  /// Pixels of each panel that are rendered, inclusive.
  struct Part {
    int64_t firstRow, lastRow, firstColumn, lastColumn;
  };
  /// From here on, images are of some rows, or where one is too many of some pixels of it, about as
  /// many as make these samples; whole where that is less. The programs need the arguments of the
  /// region of interest (roi_slow_min) for that.
  void restrictTo(double samples);
  void restrictTo(const Part &part) { rendered = part; }
  void restrictToAll() { rendered = whole(); }
  const Part &part() const { return rendered; }
  /// The share of all pixels that are rendered.
  double share() const;
  /// Centres the pixels that restrictTo chooses on this one. The default is the middle.
  void lookAt(int64_t slow, int64_t fast) { centre = {slow, fast}; }

  /// The function's scalar arguments that gradients are usually asked with respect to, at most
  /// `most`.
  std::vector<std::string> usualParameters(size_t most);

  MLIRContext context;

private:
  /// Loads plugins.
  Subject(const nanobragg::Experiment &experiment, const nanobragg::CompileOptions &options);

  const nanobragg::Experiment &experiment;
  OwningOpRef<ModuleOp> program, meaning; ///< `meaning` of a lowered program only
  std::string from;
  bool own = false;
  ExperimentValues values;
  std::vector<double> ones;
  Part whole() const;
  Part rendered;
  std::pair<int64_t, int64_t> centre;
};

} // namespace mlir::nb

#endif
