// Recovers the cell and the orientation of a crystal from one noisy image.
//
// The image is simulated with known numbers and gets counting noise. The fit starts with cell edges
// and angles that are 1 % off and an orientation that is 0.3 degrees off about each axis, and
// minimizes the chi-square by Levenberg and Marquardt's method (Ceres Solver) with derivative
// images from nanobragg. Far from the beam spots are displaced by more than their width, where
// gradients do not help, so the fit begins with the middle of the image.
//
//   fit_crystal [loss.svg [seed]]
#include "LossPlot.h"

#include <nanobragg/Simulator.h>

#include <ceres/ceres.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <numbers>
#include <numeric>
#include <random>

namespace {

using nanobragg::Simulator;

const std::vector<std::string> experiment{
    "-cell",   "61",        "74",      "87",          "84",          "97",         "102",
    "-misset", "14",        "-23",     "31",          "-default_F",  "120",        "-N",
    "8",       "-lambda",   "1.1",     "-distance",   "110",         "-detpixels", "320",
    "-pixel",  "0.3",       "-mosaic", "0.6",         "-mosaic_dom", "8",          "-osc",
    "3",       "-phisteps", "6",       "-oversample", "1",           "-fluence",   "1e29"};

/// The fitted parameters, in the order of the derivative images. The solver works in angstroms
/// and degrees.
struct Parameter {
  const char *name, *unitName;
  double unit;  ///< SI
  double limit; ///< the largest error of a recovered parameter
};
constexpr double angstrom = 1e-10, degree = std::numbers::pi / 180;
constexpr std::array parameters{
    Parameter{"cell_a", "A", angstrom, 0.005},    Parameter{"cell_b", "A", angstrom, 0.005},
    Parameter{"cell_c", "A", angstrom, 0.005},    Parameter{"cell_alpha", "deg", degree, 0.005},
    Parameter{"cell_beta", "deg", degree, 0.005}, Parameter{"cell_gamma", "deg", degree, 0.005},
    Parameter{"misset_x", "deg", degree, 0.005},  Parameter{"misset_y", "deg", degree, 0.005},
    Parameter{"misset_z", "deg", degree, 0.005}};
constexpr int count = parameters.size();
using Numbers = std::array<double, count>;

void apply(Simulator &simulator, const double *numbers) {
  for (int p = 0; p != count; ++p)
    simulator.set(parameters[p].name, numbers[p] * parameters[p].unit);
}

struct Data {
  std::vector<double> counts;
  /// Standard deviation of the counts, with a minimum for pixels without counts.
  double sigma(std::size_t pixel) const { return std::sqrt(std::max(counts[pixel], 1.0)); }
};

/// One residual for each of the pixels that are used: (simulated - counted) / sigma.
class Residuals : public ceres::CostFunction {
public:
  Residuals(Simulator &simulator, const Data &data, const std::vector<std::size_t> &used)
      : simulator(simulator), data(data), used(used) {
    mutable_parameter_block_sizes()->push_back(count);
    set_num_residuals(int(used.size()));
  }

  bool Evaluate(double const *const *numbers, double *residuals,
                double **jacobians) const override {
    apply(simulator, numbers[0]);
    const std::span<const double> image = simulator.value();
    for (std::size_t i = 0; i != used.size(); ++i)
      residuals[i] = (image[used[i]] - data.counts[used[i]]) / data.sigma(used[i]);
    if (!jacobians || !jacobians[0])
      return true;
    const std::vector<nanobragg::DerivativeImage> slopes = simulator.jacobian("cell,misset");
    for (std::size_t i = 0; i != used.size(); ++i)
      for (int p = 0; p != count; ++p)
        jacobians[0][i * count + p] =
            slopes[p].pixels[used[i]] * parameters[p].unit / data.sigma(used[i]);
    return true;
  }

private:
  Simulator &simulator;
  const Data &data;
  const std::vector<std::size_t> &used;
};

/// Records the loss after every step.
class Course : public ceres::IterationCallback {
public:
  Course(LossCurve &curve, std::size_t pixels) : curve(curve), pixels(pixels) {}
  ceres::CallbackReturnType operator()(const ceres::IterationSummary &step) override {
    if (step.step_is_successful || step.iteration == 0)
      curve.losses.push_back(2 * step.cost / double(pixels));
    return ceres::SOLVER_CONTINUE;
  }

private:
  LossCurve &curve;
  std::size_t pixels;
};

/// Pixels within a circle about the image's centre, whose radius is a fraction of half its width.
std::vector<std::size_t> within(double fraction, const Simulator &simulator) {
  const auto [panels, rows, columns] = simulator.shape();
  std::vector<std::size_t> pixels;
  for (std::size_t i = 0; i != simulator.pixels(); ++i) {
    const double slow = double(i / columns) - rows / 2.0,
                 fast = double(i % columns) - columns / 2.0;
    if (std::hypot(slow, fast) <= fraction * columns / 2.0)
      pixels.push_back(i);
  }
  return pixels;
}

/// Refines the numbers against the pixels in the circle; returns their standard deviations.
Numbers fit(Simulator &simulator, const Data &data, double fraction, Numbers &numbers,
            LossCurve &curve) {
  const std::vector<std::size_t> used = within(fraction, simulator);
  ceres::Problem problem;
  problem.AddResidualBlock(new Residuals(simulator, data, used), nullptr, numbers.data());
  Course course(curve, used.size());
  ceres::Solver::Options options;
  options.linear_solver_type = ceres::DENSE_NORMAL_CHOLESKY;
  options.max_num_iterations = 20;
  options.function_tolerance = 1e-5;
  options.logging_type = ceres::SILENT;
  options.callbacks.push_back(&course);
  ceres::Solver::Summary summary;
  ceres::Solve(options, &problem, &summary);
  curve.name = std::to_string(used.size()) + " pixels";
  std::printf("%7zu pixels: %2zu steps, chi-square per pixel %8.3f -> %.3f\n", used.size(),
              curve.losses.size() - 1, curve.losses.front(), curve.losses.back());

  ceres::Covariance covariance({});
  std::array<double, count * count> matrix{};
  if (covariance.Compute({numbers.data()}, &problem))
    covariance.GetCovarianceBlock(numbers.data(), numbers.data(), matrix.data());
  Numbers deviations;
  for (int p = 0; p != count; ++p)
    deviations[p] = std::sqrt(matrix[p * count + p]);
  return deviations;
}

bool recovers(const char *plot, unsigned seed) {
  Simulator simulator = Simulator::fromFlags(experiment);
  std::mt19937_64 random(seed);
  Data data;
  for (double photons : simulator.value())
    data.counts.push_back(photons > 0 ? double(std::poisson_distribution<long>(photons)(random))
                                      : 0);
  std::printf("image: %zu pixels, %.0f photons, brightest %.0f\n", data.counts.size(),
              std::accumulate(data.counts.begin(), data.counts.end(), 0.0),
              *std::ranges::max_element(data.counts));

  Numbers truth, start;
  for (int p = 0; p != count; ++p) {
    truth[p] = simulator.get(parameters[p].name)[0] / parameters[p].unit;
    const double sign = random() % 2 ? 1 : -1;
    start[p] = truth[p] + sign * (p < 6 ? 0.01 * truth[p] : 0.3);
  }
  Numbers numbers = start, deviations;
  std::vector<LossCurve> curves;
  for (double fraction : {0.2, 0.4, 0.7, 1.5})
    deviations = fit(simulator, data, fraction, numbers, curves.emplace_back());
  if (plot)
    plotLosses(plot, curves);

  std::printf("%-15s %9s %9s %10s %9s %9s\n", "", "true", "start", "found", "error", "std.dev.");
  bool recovered = true;
  for (int p = 0; p != count; ++p) {
    const double error = numbers[p] - truth[p];
    std::printf("%-10s %-4s %9.4f %9.4f %10.5f %9.5f %9.5f\n", parameters[p].name,
                parameters[p].unitName, truth[p], start[p], numbers[p], error, deviations[p]);
    recovered &= std::abs(error) <= parameters[p].limit;
  }
  return recovered;
}

} // namespace

int main(int argc, char **argv) {
  try {
    const auto begin = std::chrono::steady_clock::now();
    const bool recovered =
        recovers(argc > 1 ? argv[1] : nullptr, argc > 2 ? std::atoi(argv[2]) : 1);
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
    std::printf("%s in %.2f s\n", recovered ? "recovered" : "not recovered", seconds.count());
    return recovered ? 0 : 1;
  } catch (const std::exception &error) {
    std::fprintf(stderr, "fit_crystal: %s\n", error.what());
    return 1;
  }
}
