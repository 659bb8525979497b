// Refines crystal and detector against two panels with Adam, the way a mapping pipeline does it.
//
// Every variable starts at zero and is unbounded; inside, it is mapped to a change of a physical
// number that stays plausible: lengths are multiplied by exp(delta), missetting angles move by at
// most 10 degrees, detector angles by 5 degrees, the beam centre by 5 pixels. The loss is a
// chi-square over the trusted pixels of both panels. Nothing is compiled after the first step.
#include <nanobragg/Simulator.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <numbers>
#include <random>
#include <string>
#include <vector>

namespace {

using nanobragg::Simulator;

constexpr double degree = std::numbers::pi / 180;
constexpr double pixelSize = 0.1e-3;

/// How a variable changes a physical number, and the derivative of that.
enum class Mapping { Scale, Add, Tanh };
struct Variable {
  const char *parameter;
  Mapping mapping;
  double range; ///< SI units: of the change; unused by Scale
  double delta = 0;

  double apply(double start) const {
    switch (mapping) {
    case Mapping::Scale:
      return start * std::exp(delta);
    case Mapping::Add:
      return start + range * delta;
    case Mapping::Tanh:
      return start + range * std::tanh(delta);
    }
    return start;
  }
  double slope(double start) const {
    switch (mapping) {
    case Mapping::Scale:
      return start * std::exp(delta);
    case Mapping::Add:
      return range;
    case Mapping::Tanh:
      return range * (1 - std::tanh(delta) * std::tanh(delta));
    }
    return 0;
  }
};

std::vector<Variable> stageA() {
  return {{"cell_a", Mapping::Scale, 0},
          {"cell_b", Mapping::Scale, 0},
          {"cell_c", Mapping::Scale, 0},
          {"cell_alpha", Mapping::Add, degree},
          {"cell_beta", Mapping::Add, degree},
          {"cell_gamma", Mapping::Add, degree},
          {"misset_x", Mapping::Tanh, 10 * degree},
          {"misset_y", Mapping::Tanh, 10 * degree},
          {"misset_z", Mapping::Tanh, 10 * degree},
          {"distance", Mapping::Scale, 0},
          {"detector_rotx", Mapping::Tanh, 5 * degree},
          {"detector_roty", Mapping::Tanh, 5 * degree},
          {"detector_rotz", Mapping::Tanh, 5 * degree},
          {"twotheta", Mapping::Tanh, 5 * degree},
          {"beam_center_fast", Mapping::Tanh, 5 * pixelSize},
          {"beam_center_slow", Mapping::Tanh, 5 * pixelSize},
          {"fluence", Mapping::Scale, 0}};
}

constexpr const char *refined =
    "cell,misset,distance,detector_rotx,detector_roty,detector_rotz,twotheta,beam_center,fluence";

/// A panel: its simulator, the numbers it started with and what was measured on it.
struct Panel {
  Simulator simulator;
  std::vector<double> start;
  nanobragg::Loss loss;
};

std::vector<std::string> flagsOf(const char *distance) {
  return {"-cell", "100", "100", "100", "90", "90", "90", "-default_F", "100", "-N", "5",
          "-lambda", "6.2", "-distance", distance, "-pixel", "0.1", "-detpixels", "64",
          "-roi", "16", "47", "16", "47", "-fluence", "1e30", "-misset", "3", "5", "7"};
}

Panel makePanel(const char *distance, const std::vector<Variable> &variables,
                std::mt19937_64 &random) {
  Simulator simulator = Simulator::fromFlags(flagsOf(distance));
  const std::span<const double> ideal = simulator.value();
  const std::span<const std::uint8_t> trusted = simulator.rendered();
  std::vector<double> data(ideal.begin(), ideal.end()), sigma(ideal.size());
  for (std::size_t i = 0; i != data.size(); ++i) {
    if (trusted[i])
      data[i] = double(std::poisson_distribution<std::int64_t>(ideal[i])(random));
    sigma[i] = std::sqrt(std::max(data[i], 1.0));
  }
  std::vector<double> start;
  for (const Variable &variable : variables)
    start.push_back(simulator.get(variable.parameter)[0]);
  auto loss = nanobragg::Loss::chiSquare(std::move(data), std::move(sigma),
                                         {trusted.begin(), trusted.end()});
  return {std::move(simulator), std::move(start), std::move(loss)};
}

/// Loss per trusted pixel and its derivative by each variable's delta, over all panels.
double evaluate(std::vector<Panel> &panels, const std::vector<Variable> &variables,
                std::vector<double> &gradient) {
  gradient.assign(variables.size(), 0);
  double loss = 0;
  std::int64_t pixels = 0;
  for (Panel &panel : panels) {
    for (std::size_t i = 0; i != variables.size(); ++i)
      panel.simulator.set(variables[i].parameter, variables[i].apply(panel.start[i]));
    const nanobragg::LossGradient found = panel.simulator.gradient(refined, panel.loss);
    loss += found.loss;
    pixels += panel.loss.pixels(panel.simulator.rendered());
    for (const nanobragg::Gradient &g : found.gradient)
      for (std::size_t i = 0; i != variables.size(); ++i)
        if (g.parameter == variables[i].parameter)
          gradient[i] += g.values[0] * variables[i].slope(panel.start[i]);
  }
  for (double &g : gradient)
    g /= double(pixels);
  return loss / double(pixels);
}

int refine() {
  std::vector<Variable> variables = stageA();
  std::mt19937_64 random(3);
  std::vector<Panel> panels;
  for (const char *distance : {"100", "140"})
    panels.push_back(makePanel(distance, variables, random));

  // The data were made with all deltas 0; the refinement starts a little off.
  for (std::size_t i = 0; i != variables.size(); ++i)
    variables[i].delta = (i % 2 ? -1 : 1) * 0.004;

  constexpr int iterations = 50;
  constexpr double rate = 1e-3, decay1 = 0.9, decay2 = 0.99, tiny = 1e-12;
  std::vector<double> gradient, mean(variables.size()), square(variables.size());
  double first = 0, best = 0;
  for (int step = 0; step <= iterations; ++step) {
    const double loss = evaluate(panels, variables, gradient);
    if (step == 0) {
      first = best = loss;
      for (std::size_t i = 0; i != variables.size(); ++i) {
        std::printf("  d loss / d delta(%-16s) = % .6e\n", variables[i].parameter, gradient[i]);
        if (!std::isfinite(gradient[i]) || gradient[i] == 0) {
          std::printf("dead or broken gradient: %s\n", variables[i].parameter);
          return 1;
        }
      }
    }
    best = std::min(best, loss);
    if (step % 10 == 0)
      std::printf("step %2d: chi-square per pixel %.4f\n", step, loss);
    for (std::size_t i = 0; i != variables.size(); ++i) {
      mean[i] = decay1 * mean[i] + (1 - decay1) * gradient[i];
      square[i] = decay2 * square[i] + (1 - decay2) * gradient[i] * gradient[i];
      const double m = mean[i] / (1 - std::pow(decay1, step + 1));
      const double s = square[i] / (1 - std::pow(decay2, step + 1));
      variables[i].delta -= rate * m / (std::sqrt(s) + tiny);
    }
  }
  const bool refined = best < 0.1 * (first - 1) + 1;
  std::printf("chi-square per pixel %.3f -> %.3f: %s\n", first, best,
              refined ? "refined" : "not refined");
  return refined ? 0 : 1;
}

} // namespace

int main() {
  const auto begin = std::chrono::steady_clock::now();
  try {
    const int status = refine();
    std::printf("%.2f s\n",
                std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
    return status;
  } catch (const std::exception &error) {
    std::fprintf(stderr, "refine_panels: %s\n", error.what());
    return 1;
  }
}
