// Refines crystal and detector against two panels with Adam.
//
// Every variable starts at zero and is unbounded; StageA.h maps it to a plausible change of a
// physical quantity. The loss is a chi-square over the trusted pixels of both panels, each of
// which has a simulator of its own. Nothing is compiled after the first step.
//
// The variables need not return to their true values: missetting and detector angles, distance and
// cell, and detector_rotz and two-theta (rotations about one axis) compensate each other, some
// completely. The fit has to reach the chi-square of the true values.
//
//   refine_panels [seed]
#include "Adam.h"
#include "StageA.h"

#include <nanobragg/Simulator.h>
#include <nanobragg/nanobragg.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <stdexcept>
#include <string>

namespace {

using nanobragg::Loss;
using nanobragg::Simulator;
using Numbers = std::vector<double>;

struct Panel {
  Simulator simulator;
  std::vector<Variable> variables;
  Numbers start;
  Loss loss = Loss::sum();

  explicit Panel(const std::vector<std::string> &flags)
      : simulator(Simulator::fromFlags(flags)), variables(stageA(simulator.get("pixel_size")[0])) {
    for (const Variable &variable : variables)
      start.push_back(simulator.get(variable.parameter)[0]);
  }
  void apply(const Numbers &deltas) {
    for (std::size_t v = 0; v != variables.size(); ++v)
      simulator.set(variables[v].parameter, variables[v].apply(start[v], deltas[v]));
  }
  Numbers image() {
    const std::span<const double> pixels = simulator.value();
    return {pixels.begin(), pixels.end()};
  }
};

Numbers zeros(const Panel &panel) { return Numbers(panel.variables.size()); }

Numbers truth(const Panel &panel) {
  Numbers deltas;
  for (const Variable &variable : panel.variables)
    deltas.push_back(variable.truth);
  return deltas;
}

/// Loss per trusted pixel of all panels, and its derivative with respect to each delta.
double evaluate(std::vector<Panel> &panels, const Numbers &deltas, Numbers &gradient) {
  double loss = 0;
  std::int64_t pixels = 0;
  gradient.assign(deltas.size(), 0);
  for (Panel &panel : panels) {
    panel.apply(deltas);
    const nanobragg::LossGradient found = panel.simulator.gradient(refined, panel.loss);
    loss += found.loss;
    pixels += panel.loss.pixels(panel.simulator.rendered());
    for (std::size_t v = 0; v != deltas.size(); ++v) {
      const Variable &variable = panel.variables[v];
      const auto by = std::ranges::find(found.gradient, std::string(variable.parameter),
                                        &nanobragg::Gradient::parameter);
      gradient[v] += by->values[0] * variable.slope(panel.start[v], deltas[v]);
    }
  }
  for (double &g : gradient)
    g /= double(pixels);
  return loss / double(pixels);
}

/// Throws if a derivative is zero or not finite, with which a refinement would silently fail.
void requireAlive(const Panel &panel, const Numbers &gradient) {
  for (const nanobragg::DeadGradient &dead : panel.simulator.deadGradients(refined))
    throw std::runtime_error("no gradient with respect to " + dead.parameter + ": " + dead.why);
  for (std::size_t v = 0; v != gradient.size(); ++v)
    if (!std::isfinite(gradient[v]) || gradient[v] == 0)
      throw std::runtime_error(std::string("the gradient with respect to ") +
                               panel.variables[v].parameter + " is " + std::to_string(gradient[v]));
}

/// A tiny image with hardly any photons. Sigma is a fraction of the brightest pixel; with a fixed
/// sigma chi-square and its gradient would vanish.
void smallestCase() {
  std::vector<Panel> panels;
  Panel &panel = panels.emplace_back(std::vector<std::string>{
      "-cell",   "100",        "100", "100",     "90",       "90",        "90",  "-default_F",
      "100",     "-N",         "5",   "-lambda", "6.2",      "-distance", "100", "-pixel",
      "0.1",     "-detpixels", "64",  "-roi",    "16",       "47",        "16",  "47",
      "-misset", "3",          "5",   "7",       "-fluence", "1e12"});
  panel.apply(truth(panel));
  Numbers data = panel.image(), gradient;
  const double brightest = *std::ranges::max_element(data);
  panel.loss = Loss::chiSquare(std::move(data), {0.01 * brightest});
  const double loss = evaluate(panels, zeros(panel), gradient);
  requireAlive(panel, gradient);
  std::printf("smallest case: brightest pixel %.2g photons, chi-square per pixel %.3f, %zu finite "
              "gradients\n",
              brightest, loss, gradient.size());
}

/// |F| of a protein-like crystal, the same for h, k, l and -h, -k, -l.
void giveStructureFactors(Simulator &simulator) {
  constexpr std::int64_t most = 16, side = 2 * most + 1;
  Numbers factors(side * side * side);
  std::mt19937_64 random(1);
  std::exponential_distribution<double> intensity(1);
  for (std::size_t i = 0, last = factors.size() - 1; i <= last / 2; ++i)
    factors[i] = factors[last - i] = 100 * std::sqrt(intensity(random));
  simulator.setStructureFactors({-most, most, -most, most, -most, most, factors.data()});
}

/// One of two panels side by side; the beam passes between them.
Panel makePanel(const char *beamFast, std::mt19937_64 &random) {
  Panel panel(
      {"-cell", "58",        "66",     "75",          "88",  "93",          "98",  "-misset",
       "14",    "-23",       "31",     "-default_F",  "1",   "-N",          "6",   "-lambda",
       "1.2",   "-distance", "110",    "-pixel",      "0.2", "-detpixels",  "160", "-Xbeam",
       "16.1",  "-Ybeam",    beamFast, "-mosaic",     "0.5", "-mosaic_dom", "6",   "-osc",
       "2",     "-phisteps", "4",      "-oversample", "1",   "-fluence",    "3e29"});
  giveStructureFactors(panel.simulator);
  const Numbers untouched = panel.image();
  panel.apply(zeros(panel));
  const Numbers same = panel.image();
  for (std::size_t i = 0; i != same.size(); ++i)
    if (std::abs(same[i] - untouched[i]) > 1e-6 * untouched[i])
      throw std::runtime_error("deltas of zero change the image");

  panel.apply(truth(panel));
  Numbers counts = panel.image(), sigma;
  std::vector<std::uint8_t> trusted;
  double brightest = 0;
  for (double &count : counts) {
    count = count > 0 ? double(std::poisson_distribution<long>(count)(random)) : 0;
    sigma.push_back(std::sqrt(std::max(count, 1.0)));
    const bool deadRow = trusted.size() / 160 == 40, overloaded = count > 5000;
    trusted.push_back(!deadRow && !overloaded);
    if (trusted.back())
      brightest = std::max(brightest, count);
    else
      count = 65535;
  }
  std::printf("panel: brightest trusted pixel %.0f, %ld of %zu pixels not trusted\n", brightest,
              long(std::ranges::count(trusted, 0)), trusted.size());
  panel.loss = Loss::chiSquare(std::move(counts), std::move(sigma), std::move(trusted));
  return panel;
}

std::uint64_t kernelsMade() {
  nb_counters counters;
  nb_get_counters(&counters);
  return counters.compiles + counters.loads;
}

/// Adam restarts halfway: while spots are displaced the best fluence is too low, and Adam's
/// averages of past gradients would keep it too low.
bool refines(unsigned seed) {
  std::mt19937_64 random(seed);
  std::vector<Panel> panels;
  for (const char *beamFast : {"33.5", "-1.5"})
    panels.push_back(makePanel(beamFast, random));
  Numbers deltas = zeros(panels[0]), rates, gradient, unused;
  for (const Variable &variable : panels[0].variables)
    rates.push_back(variable.rate);

  double loss = evaluate(panels, deltas, gradient);
  requireAlive(panels[0], gradient);
  const std::uint64_t kernels = kernelsMade();
  std::printf("step  0: chi-square per trusted pixel %8.4f\n", loss);
  for (int step = 0; step != 50;) {
    Adam adam(25, rates);
    for (int i = 0; i != 25; ++i) {
      adam.step(deltas, gradient);
      loss = evaluate(panels, deltas, gradient);
      if (++step % 10 == 0)
        std::printf("step %2d: chi-square per trusted pixel %8.4f\n", step, loss);
    }
  }
  const double best = evaluate(panels, truth(panels[0]), unused);
  std::printf("with the true numbers:               %8.4f\n", best);
  for (std::size_t v = 0; v != deltas.size(); ++v)
    std::printf("%-16s delta %8.4f, true %8.4f\n", panels[0].variables[v].parameter, deltas[v],
                panels[0].variables[v].truth);
  const std::uint64_t later = kernelsMade() - kernels;
  std::printf("kernels: %d, of them after the first step: %d\n", int(kernelsMade()), int(later));
  return later == 0 && loss < 1.05 * best;
}

} // namespace

int main(int argc, char **argv) {
  try {
    const auto begin = std::chrono::steady_clock::now();
    smallestCase();
    const bool good = refines(argc > 1 ? std::atoi(argv[1]) : 1);
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
    std::printf("%s in %.2f s\n", good ? "refined" : "not refined", seconds.count());
    return good ? 0 : 1;
  } catch (const std::exception &error) {
    std::fprintf(stderr, "refine_panels: %s\n", error.what());
    return 1;
  }
}
