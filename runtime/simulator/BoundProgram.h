// A program bound to an experiment.
#ifndef NANOBRAGG_SIMULATOR_BOUNDPROGRAM_H
#define NANOBRAGG_SIMULATOR_BOUNDPROGRAM_H

#include "lib/Program/Derivative.h"
#include "nanobragg/Simulator.h"
#include "runtime/simulator/Program.h"

#include <span>
#include <string_view>

namespace nanobragg {

/// The program of an image or of its derivatives with the numbers of an experiment, which must
/// outlive it. Numbers changed in the experiment are seen by the next run, and so one bound program
/// serves a parameter scan.
class BoundProgram {
public:
  /// Throws std::invalid_argument naming a parameter that the experiment does not provide.
  BoundProgram(Program program, const Experiment &experiment);

  bool interpreted() const { return program.interpreted(); }
  bool isOnGpu() const { return program.isOnGpu(); }
  const nb_kernel_descriptor &descriptor() const { return program.descriptor(); }
  ImageShape shape() const;

  /// A parameter that experiments do not have: the image cotangent of a gradient program (panels x
  /// slow x fast doubles), the tangents of a forward one (as many doubles as the parameter has).
  /// The numbers are read when the program runs; they stay the caller's. Throws
  /// std::invalid_argument when there is no such parameter or the count is not what it has.
  void bind(std::string_view parameter, std::span<const double> numbers);

  /// Photons per pixel into `image`, which the caller owns and which has shape().pixels() elements
  /// of the program's image type; throws std::invalid_argument otherwise and std::bad_alloc when
  /// the workspace does not fit in memory. Other outputs stay here. Exceptions of the progress
  /// callback end the run and are passed on.
  RunResult run(std::span<float> image, const RunOptions &options = {});
  RunResult run(std::span<double> image, const RunOptions &options = {});
  /// The same with all outputs here.
  RunResult run(const RunOptions &options = {});
  /// An image on one GPU stays there, as the result's `image`: no memory of the host is taken.
  RunResult runAndKeep(RunOptions options);

  /// An output of the last run by name, e.g. "gradient.cell_a", in the layout of its kind; valid
  /// until the next run. Throws std::invalid_argument when there is none, when it is an image that
  /// went to memory of the caller, or an image of the other type.
  std::span<const double> output(std::string_view name) const { return memory.numbers(name); }

  /// How one pixel comes about; of an interpreted program.
  std::string trace(const PixelIndex &pixel) {
    return program.trace(parameters.arguments(), pixel);
  }

  /// For what takes the argument array itself.
  const void *const *arguments() { return parameters.arguments(); }

private:
  RunResult run(void *image, std::int64_t pixels, nb_image_type type, const RunOptions &options);
  RunResult runInto(void *image, const RunOptions &options);
  RunResult runProgram(const RunOptions &options);
  std::vector<std::int64_t> sizes() const;

  Program program;
  const Experiment &experiment;
  BoundParameters parameters;
  OutputMemory memory;
};

/// Binds the tangents of all parameters, zero where the direction says nothing; they are the result
/// and have to live until the program has run. `number` is the direction's, see numberOfDirection.
std::vector<std::vector<double>> bindDirection(BoundProgram &program, const Experiment &experiment,
                                               const Derivative &derivative,
                                               std::span<const Direction> direction,
                                               unsigned number = 0);

/// Directions count from one in the names of tangents; one alone has no number, 0.
inline unsigned numberOfDirection(std::size_t direction, std::size_t directions) {
  return directions == 1 ? 0 : unsigned(direction) + 1;
}

} // namespace nanobragg
#endif
