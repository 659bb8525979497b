// An image as a function of some numbers.
#ifndef NANOBRAGG_PYTHON_FUNCTION_H
#define NANOBRAGG_PYTHON_FUNCTION_H

#include "lib/Program/Parameters.h"
#include "runtime/python/bindings/PythonSimulator.h"

#include <optional>
#include <string>
#include <vector>

namespace nanobragg::python {

/// Who calls: Python, which holds the GIL and whose Ctrl-C ends runs, or a thread of XLA, which
/// does not.
enum class Caller { Python, Xla };

/// The image of an experiment, or a table of its reflections, as a function of a flat vector: the
/// numbers of the named parameters one after another, in the order of the names. All other numbers
/// are those that the simulator had when the function was made. Every call sets all numbers that it
/// depends on, so calls from several threads do not disturb each other; they wait for each other.
/// Errors are exceptions.
///
/// The "image" of a table is its columns one after another, in users' units (reflectionColumns),
/// and then the panels.
///
/// Each method computes `shots` results, written to `out` one after another. Its other arguments
/// have as many rows, or one that all shots share. Shots of small images run in several threads.
class Function {
public:
  /// `wrt`: the names by whose numbers derivatives are taken; derivatives with respect to the
  /// others are 0. `rows`: of the table; none: the image.
  Function(const PythonSimulator &of, const std::vector<std::string> &names,
           const std::vector<std::string> &wrt,
           std::optional<std::vector<AskedReflection>> rows = {});

  /// Photons per pixel.
  void image(std::size_t shots, std::span<const double> thetas, std::span<double> out,
             Caller caller = Caller::Python);
  /// The derivative of sum(cotangent * image). Where all shots have the same theta and are more
  /// than its numbers, it comes from derivatives of the image with respect to these.
  void vjp(std::size_t shots, std::span<const double> thetas, std::span<const double> cotangents,
           std::span<double> out, Caller caller = Caller::Python);
  /// The derivative of the image along v. Several directions of one theta take one sweep.
  void jvp(std::size_t shots, std::span<const double> thetas, std::span<const double> vs,
           std::span<double> out, Caller caller = Caller::Python);
  /// The derivative of vjp along v. Tables have none: throws std::runtime_error.
  void hvp(std::size_t shots, std::span<const double> thetas, std::span<const double> vs,
           std::span<const double> cotangents, std::span<double> out,
           Caller caller = Caller::Python);
  /// Losses and their derivatives.
  void gradient(std::size_t shots, std::span<const double> thetas, const Loss &loss,
                std::span<double> losses, std::span<double> out);
  std::vector<ReflectionTable> tables(std::size_t shots, std::span<const double> thetas,
                                      const ReflectionLimits &limits);

  Shape shape() const;
  std::size_t length = 0; ///< the vector's
  PythonSimulator core;

private:
  /// PythonSimulator::run, or without Python.
  template <typename Work>
  void run(Caller caller, Work work) {
    if (caller == Caller::Python) {
      core.run(work);
      return;
    }
    const std::lock_guard lock(core.mutex);
    work(core.simulator, RunOptions{});
  }

  struct Part {
    const Parameter *parameter;
    std::size_t begin, size;
    bool differentiated;
  };

  /// Calls `work(simulator, shot, run options)` with the numbers of each shot set.
  template <typename Work>
  void forEach(Caller caller, std::size_t shots, std::span<const double> thetas, Work work);
  void set(Simulator &simulator, std::span<const double> theta) const;
  std::size_t pixels() const;
  /// With the simulator's numbers.
  void value(Simulator &simulator, std::span<double> out, const RunOptions &run) const;
  std::vector<Gradient> reverse(Simulator &simulator, std::span<const double> cotangent) const;
  void forward(Simulator &simulator, const std::string &names,
               std::span<const std::vector<Direction>> directions,
               std::span<const std::span<double>> images) const;
  /// Throws std::invalid_argument unless there are one or `shots` rows of `size` numbers.
  static void checkRows(std::span<const double> numbers, std::size_t shots, std::size_t size,
                        const char *what);
  bool movesAlong(const Part &part, std::span<const double> vs) const;
  std::vector<Direction> direction(std::span<const Part> along, std::span<const double> v) const;
  void flatten(const std::vector<Gradient> &gradients, std::span<double> out) const;
  void sweep(Simulator &simulator, std::size_t directions, std::span<const double> vs,
             std::span<double> out) const;

  std::vector<Part> parts;
  std::string wrt;
  const std::optional<ReflectionLimits> table;
  std::vector<std::optional<Simulator>> others; ///< one for each thread beside the first
};

} // namespace nanobragg::python
#endif
