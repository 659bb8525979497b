// One random experiment, and what is found wrong with it.
#ifndef NB_TEST_RANDOM_TRIAL_H
#define NB_TEST_RANDOM_TRIAL_H

#include "test/engines/RandomExperiment.h"

#include "nanobragg/Simulator.h"

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace nanobragg::random_test {

/// The difference that images or gradients may have, relative to the value and to the largest one.
struct Tolerance {
  double relative = 1e-9, ofMaximum = 1e-12;
  /// A pixel whose value jumps when the wavelengths change by this fraction says nothing: an edge
  /// (a cutoff, a change of reflection) lies within rounding of a sample.
  double jump = 1e-13;
};

struct Counts {
  std::size_t trials = 0, images = 0, gradients = 0, lit = 0, excluded = 0, failures = 0;
  double worst = 0; ///< largest difference, as a fraction of what was allowed
};

/// An engine, with what may make it differ from the reference.
SimulatorOptions optionsOf(Engine engine, Precision precision = Precision::F64,
                           const std::string &device = "cpu");

/// A random experiment with its reference image. Differences are printed with the seed.
class Trial {
public:
  Trial(std::uint64_t seed, Counts &counts);

  Draws &draws() { return numbers; }
  const Experiment &experiment() const { return original; }
  /// The image of the compiled f64 kernel.
  const std::vector<double> &image() const { return reference; }
  /// Weights of pixels, both signs, for a loss whose gradient is asked for.
  const std::vector<double> &weights() const { return cotangent; }

  std::vector<double> imageOf(const Experiment &changed, const SimulatorOptions &options);
  std::vector<Gradient> gradientOf(const Experiment &changed, const SimulatorOptions &options,
                                   std::span<const double> weights);

  /// `got` should be `expected`.
  void compareImages(const std::string &what, std::span<const double> got,
                     std::span<const double> expected, const Tolerance &tolerance);
  /// `got` should be `expected`: derivatives of the weighted sum of all pixels with respect to a
  /// parameter of that name, to `relative` and to `ofLoss` of the loss over the parameter's size.
  void compareDerivatives(const std::string &what, const std::string &parameter, double got,
                          double expected, double relative = 1e-8, double ofLoss = 1e-11);

private:
  const std::vector<bool> &jumps(const Tolerance &tolerance);
  void fail(const std::string &what, const std::string &how);

  std::uint64_t seed;
  Counts &counts;
  Draws numbers;
  Experiment original;
  std::vector<double> reference, cotangent;
  double sumOfMagnitudes = 0; ///< the magnitudes that the loss adds up
  std::vector<std::pair<double, std::vector<bool>>> jumping; ///< by Tolerance::jump
  std::map<std::string, double> largestOf; ///< number of each parameter, in magnitude
  bool failed = false;
  int printed = 0;
};

/// Interpreter, kernels of the processor in f64 and mixed, and a GPU's program on the processor.
void compareEngines(Trial &trial);

/// Images in f64 and mixed, and gradients, of a device against the processor's.
void compareDevice(Trial &trial, const std::string &device);

/// Checks the same experiment said in other ways: results stay, or change by a known factor.
void checkRelations(Trial &trial);

} // namespace nanobragg::random_test
#endif
