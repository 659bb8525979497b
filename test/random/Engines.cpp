// One experiment on every engine.
#include "test/random/Trial.h"

namespace nanobragg::random_test {
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
                      trial.image(), {1e-5, 1e-7, 1e-9});

  const auto gradientOn = [&](const SimulatorOptions &options) {
    return trial.gradientOf(trial.experiment(), options, trial.weights());
  };
  const auto fused = gradientOn(optionsOf(Engine::Fused));
  const auto compareGradients = [&](const std::string &of, const std::vector<Gradient> &got,
                                    auto... tolerance) {
    for (std::size_t i = 0; i != fused.size(); ++i)
      for (std::size_t k = 0; k != fused[i].values.size(); ++k)
        trial.compareDerivatives(
            "gradient of " + of + " by " + fused[i].parameter + "[" + std::to_string(k) + "]",
            fused[i].parameter, got[i].values[k], fused[i].values[k], tolerance...);
  };
  compareGradients("the interpreter", gradientOn(optionsOf(Engine::Interpreter)));
  // Terms are larger than the loss, by up to the phase pi N h.
  compareGradients("mixed", gradientOn(optionsOf(Engine::Fused, Precision::Mixed)), 1e-5, 1e-4);
}

} // namespace nanobragg::random_test
