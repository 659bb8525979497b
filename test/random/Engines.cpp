// One experiment on every engine.
#include "test/random/Trial.h"

namespace nanobragg::random_test {
namespace {

const Tolerance ofMixed{1e-5, 1e-7, 1e-9};

void compareGradients(Trial &trial, const std::string &of, const std::vector<Gradient> &expected,
                      const SimulatorOptions &options, auto... tolerance) {
  const auto got = trial.gradientOf(trial.experiment(), options, trial.weights());
  for (std::size_t i = 0; i != expected.size(); ++i)
    for (std::size_t k = 0; k != expected[i].values.size(); ++k)
      trial.compareDerivatives(
          "gradient of " + of + " by " + expected[i].parameter + "[" + std::to_string(k) + "]",
          expected[i].parameter, got[i].values[k], expected[i].values[k], tolerance...);
}

std::vector<Gradient> fusedGradient(Trial &trial) {
  return trial.gradientOf(trial.experiment(), optionsOf(Engine::Fused), trial.weights());
}

} // namespace

void compareEngines(Trial &trial) {
  const auto on = [&](const SimulatorOptions &options) {
    return trial.imageOf(trial.experiment(), options);
  };
  trial.compareImages("interpreter against f64 kernel", on(optionsOf(Engine::Interpreter)),
                      trial.image(), {});
  trial.compareImages("gpu-on-cpu against f64 kernel",
                      on(optionsOf(Engine::Fused, Precision::F64, "gpu-on-cpu")), trial.image(),
                      {});
  // docs/precision.md says what mixed may be off; its fractions are rounded at 2^-32 turns.
  trial.compareImages("mixed against f64 kernel", on(optionsOf(Engine::Fused, Precision::Mixed)),
                      trial.image(), ofMixed);

  const auto fused = fusedGradient(trial);
  compareGradients(trial, "the interpreter", fused, optionsOf(Engine::Interpreter));
  // Terms are larger than the loss, by up to the phase pi N h.
  compareGradients(trial, "mixed", fused, optionsOf(Engine::Fused, Precision::Mixed), 1e-5, 1e-4);
}

void compareDevice(Trial &trial, const std::string &device) {
  const SimulatorOptions f64 = optionsOf(Engine::Fused, Precision::F64, device);
  trial.compareImages(device + " against f64 kernel", trial.imageOf(trial.experiment(), f64),
                      trial.image(), {});
  trial.compareImages(
      "mixed on " + device + " against f64 kernel",
      trial.imageOf(trial.experiment(), optionsOf(Engine::Fused, Precision::Mixed, device)),
      trial.image(), ofMixed);
  compareGradients(trial, device, fusedGradient(trial), f64);
}

} // namespace nanobragg::random_test
