// A kernel run as nb-sim runs it, by one thread.
#ifndef NB_LAB_LABRUN_H
#define NB_LAB_LABRUN_H

#include "lib/Compiler/Lab/Subject.h"
#include "runtime/processor/KernelRunner.h"

namespace mlir::nb {

/// A kernel with memory for its results. Where a kernel leaves samples out, the runtime looks for
/// samples with light, as in every run.
class LabRun {
public:
  /// Both have to outlive it.
  LabRun(const nb_kernel_descriptor &kernel, Subject &subject);

  /// Pixels that `subject` renders now. The seconds are the processor's, without the tables: what
  /// others do on the machine counts less in them than in the seconds of a clock.
  nanobragg::RunResult run() const { return run(/*exact=*/false); }
  /// The same of an average in closed form, with the reflections that --cull=exact leaves; false
  /// where it is none.
  bool runExact() const;
  /// The outputs, in the kernel's order, images of floats as doubles too.
  std::vector<std::vector<double>> results() const;

private:
  nanobragg::RunResult run(bool exact) const;

  const nb_kernel_descriptor &kernel;
  Subject &subject;
  std::vector<const void *> arguments;
  nanobragg::ImageShape shape;
  nanobragg::OutputMemory memory;
};

/// Instructions of the kernel's code for each sample that it is asked for, of some of those that
/// `subject` renders, stepped through; nothing on a processor that cannot count, and where a few
/// pixels have so many samples that it would take too long.
std::optional<double> countInstructions(const nb_kernel_descriptor &kernel, Subject &subject);

} // namespace mlir::nb

#endif
