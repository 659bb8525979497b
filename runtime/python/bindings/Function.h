// An image as a function of some numbers.
#ifndef NANOBRAGG_PYTHON_FUNCTION_H
#define NANOBRAGG_PYTHON_FUNCTION_H

#include "lib/Program/Parameters.h"
#include "runtime/python/bindings/PythonSimulator.h"

#include <string>
#include <vector>

namespace nanobragg::python {

/// Who calls: Python, which holds the GIL and whose Ctrl-C ends runs, or a thread of XLA, which
/// does not.
enum class Caller { Python, Xla };

/// The image of an experiment as a function of a flat vector: the numbers of the named parameters
/// one after another, in the order of the names. All other numbers are those that the simulator had
/// when the function was made. Every call sets all numbers that it depends on, so calls from
/// several threads do not disturb each other; they wait for each other. Errors are exceptions.
class Function {
public:
  Function(const PythonSimulator &of, const std::vector<std::string> &names);

  /// Photons per pixel.
  void image(std::span<const double> theta, std::span<double> out, Caller caller = Caller::Python);
  /// The derivative of sum(cotangent * image).
  void vjp(std::span<const double> theta, std::span<const double> cotangent, std::span<double> out,
           Caller caller = Caller::Python);
  /// The derivative of the image along v.
  void jvp(std::span<const double> theta, std::span<const double> v, std::span<double> out,
           Caller caller = Caller::Python);
  /// jvp along several directions one after another in `vs`, images one after another.
  void jvps(std::span<const double> theta, std::span<const double> vs, std::span<double> out);
  /// The derivative of vjp along v.
  void hvp(std::span<const double> theta, std::span<const double> v,
           std::span<const double> cotangent, std::span<double> out,
           Caller caller = Caller::Python);
  /// `shots` images; small ones in several threads.
  void images(std::span<const double> thetas, std::span<double> out, std::size_t shots);

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
  };

  void set(Simulator &simulator, std::span<const double> theta) const;
  void checkPixels(std::size_t size) const;
  std::vector<Direction> direction(std::span<const double> v) const;
  void flatten(const std::vector<Gradient> &gradients, std::span<double> out) const;

  std::vector<Part> parts;
  std::string wrt;
};

} // namespace nanobragg::python
#endif
