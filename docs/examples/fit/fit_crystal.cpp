// Recovers the cell and the orientation of a crystal from one noisy image.
//
// The image is simulated with known numbers and gets counting noise. The fit starts with cell edges
// and angles that are 1 % off and an orientation that is 0.3 degrees off, and minimizes the
// chi-square by Levenberg and Marquardt's method (Ceres Solver) with derivative images from
// nanobragg. At high resolution a spot has moved by more than its width, which no gradient sees, so
// that the fit goes from low resolution to high.
//
//   fit_crystal [loss.svg]
#include "LossPlot.h"

#include <nanobragg/Simulator.h>

#include <ceres/ceres.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <numbers>
#include <numeric>
#include <random>

namespace {

using nanobragg::Simulator;

constexpr double degree = std::numbers::pi / 180;
constexpr int numParameters = 9;

/// What is fitted. The solver's variables are of order one: changes of the edges relative to their
/// start, of all angles in units of `scale` radians.
struct Parameter {
  const char *name;
  bool relative; ///< an edge; otherwise an angle
};
constexpr std::array<Parameter, numParameters> parameters{{{"cell_a", true},
                                                           {"cell_b", true},
                                                           {"cell_c", true},
                                                           {"cell_alpha", false},
                                                           {"cell_beta", false},
                                                           {"cell_gamma", false},
                                                           {"misset_x", false},
                                                           {"misset_y", false},
                                                           {"misset_z", false}}};
constexpr double scale = 0.01;
constexpr const char *groups = "cell,misset";

const std::vector<std::string> experiment{
    "-cell", "61", "74", "87", "84", "97", "102", "-misset", "14", "-23", "31",
    "-default_F", "120", "-N", "5", "-lambda", "1.1", "-distance", "110", "-detpixels", "320",
    "-pixel", "0.3", "-mosaic", "0.6", "-mosaic_dom", "8", "-osc", "3", "-phisteps", "6",
    "-oversample", "1", "-fluence", "1e30"};

/// One residual per pixel that takes part: (simulated - counted) / sigma.
class Pixels : public ceres::CostFunction {
public:
  Pixels(Simulator &simulator, const std::array<double, numParameters> &start,
         const std::vector<double> &counts, std::vector<std::size_t> used)
      : simulator(simulator), start(start), counts(counts), used(std::move(used)) {
    mutable_parameter_block_sizes()->push_back(numParameters);
    set_num_residuals(int(this->used.size()));
  }

  bool Evaluate(double const *const *variables, double *residuals,
                double **jacobians) const override {
    for (int p = 0; p != numParameters; ++p)
      simulator.set(parameters[p].name, number(p, variables[0][p]));
    if (!jacobians || !jacobians[0]) {
      const std::span<const double> image = simulator.value();
      fill(image, residuals);
      return true;
    }
    fill(simulator.value(), residuals);
    const std::vector<nanobragg::DerivativeImage> slopes = simulator.jacobian(groups);
    for (int p = 0; p != numParameters; ++p) {
      const auto slope = std::ranges::find(slopes, parameters[p].name,
                                           &nanobragg::DerivativeImage::parameter);
      const double perVariable = parameters[p].relative ? scale * start[p] : scale;
      for (std::size_t i = 0; i != used.size(); ++i)
        jacobians[0][i * numParameters + p] =
            slope->pixels[used[i]] * perVariable / sigma(used[i]);
    }
    return true;
  }

  double number(int p, double variable) const {
    return parameters[p].relative ? start[p] * (1 + scale * variable)
                                  : start[p] + scale * variable;
  }

private:
  /// Of the counts, with a floor for pixels that counted nothing.
  double sigma(std::size_t pixel) const { return std::sqrt(std::max(counts[pixel], 1.0)); }

  void fill(std::span<const double> image, double *residuals) const {
    for (std::size_t i = 0; i != used.size(); ++i)
      residuals[i] = (image[used[i]] - counts[used[i]]) / sigma(used[i]);
  }

  Simulator &simulator;
  const std::array<double, numParameters> &start;
  const std::vector<double> &counts;
  std::vector<std::size_t> used;
};

/// Pixels within a circle about the image's centre, as a fraction of half its width.
std::vector<std::size_t> within(const std::array<std::int64_t, 3> &shape, double fraction) {
  std::vector<std::size_t> pixels;
  const double half = double(shape[2]) / 2;
  for (std::int64_t slow = 0; slow != shape[1]; ++slow)
    for (std::int64_t fast = 0; fast != shape[2]; ++fast)
      if (std::hypot(double(slow) - half, double(fast) - half) <= fraction * half)
        pixels.push_back(std::size_t(slow * shape[2] + fast));
  return pixels;
}

/// Notes the loss after every step.
class Course : public ceres::IterationCallback {
public:
  Course(LossCurve &curve, std::size_t pixels) : curve(curve), pixels(pixels) {}
  ceres::CallbackReturnType operator()(const ceres::IterationSummary &summary) override {
    if (summary.step_is_successful || summary.iteration == 0)
      curve.losses.push_back(2 * summary.cost / double(pixels));
    return ceres::SOLVER_CONTINUE;
  }

private:
  LossCurve &curve;
  std::size_t pixels;
};

/// How far off the numbers are: edges in percent, angles in degrees, the worst of each.
struct Error {
  double edges = 0, angles = 0, orientation = 0;
};
Error errorOf(const Simulator &simulator, const std::array<double, numParameters> &truth) {
  Error error;
  for (int p = 0; p != numParameters; ++p) {
    const double off = std::abs(simulator.get(parameters[p].name)[0] - truth[p]);
    double &worst = p < 3 ? error.edges : p < 6 ? error.angles : error.orientation;
    worst = std::max(worst, p < 3 ? 100 * off / truth[p] : off / degree);
  }
  return error;
}

int fit(const char *plot) {
  Simulator simulator = Simulator::fromFlags(experiment);
  std::array<double, numParameters> truth{}, start{};
  for (int p = 0; p != numParameters; ++p)
    truth[p] = simulator.get(parameters[p].name)[0];

  std::mt19937_64 random(20);
  const std::span<const double> ideal = simulator.value();
  std::vector<double> counts(ideal.size());
  for (std::size_t i = 0; i != ideal.size(); ++i)
    counts[i] = ideal[i] > 0 ? double(std::poisson_distribution<std::int64_t>(ideal[i])(random)) : 0;
  std::printf("image: %zu pixels, %.3g photons, brightest %.0f\n", counts.size(),
              std::accumulate(counts.begin(), counts.end(), 0.0), *std::ranges::max_element(counts));

  static constexpr double offsets[numParameters] = {0.01, -0.01, 0.01, 0.01, -0.01, 0.01,
                                                    0.3,  -0.3,  0.3};
  for (int p = 0; p != numParameters; ++p) {
    start[p] = p < 6 ? truth[p] * (1 + offsets[p]) : truth[p] + offsets[p] * degree;
    simulator.set(parameters[p].name, start[p]);
  }
  const Error before = errorOf(simulator, truth);
  std::printf("start: edges off by %.3f %%, angles by %.3f, orientation by %.3f degrees\n",
              before.edges, before.angles, before.orientation);

  std::array<double, numParameters> variables{};
  std::vector<LossCurve> curves;
  for (double fraction : {0.25, 0.5, 1.5}) {
    std::vector<std::size_t> used = within(simulator.shape(), fraction);
    const std::size_t pixels = used.size();
    LossCurve &curve = curves.emplace_back();
    curve.name = std::to_string(pixels) + " pixels";
    ceres::Problem problem;
    problem.AddResidualBlock(new Pixels(simulator, start, counts, std::move(used)), nullptr,
                             variables.data());
    Course course(curve, pixels);
    ceres::Solver::Options options;
    options.linear_solver_type = ceres::DENSE_NORMAL_CHOLESKY;
    options.max_num_iterations = 15;
    options.function_tolerance = 1e-5;
    options.logging_type = ceres::SILENT;
    options.callbacks.push_back(&course);
    ceres::Solver::Summary summary;
    ceres::Solve(options, &problem, &summary);
    // The numbers of the best step, which need not be the last that was tried.
    for (int p = 0; p != numParameters; ++p)
      simulator.set(parameters[p].name, parameters[p].relative
                                            ? start[p] * (1 + scale * variables[p])
                                            : start[p] + scale * variables[p]);
    const Error error = errorOf(simulator, truth);
    std::printf("%7zu pixels: %2zu steps, chi-square per pixel %9.3f -> %7.3f; edges off by %.4f %%, "
                "angles by %.4f, orientation by %.4f degrees\n",
                pixels, curve.losses.size() - 1, curve.losses.front(), curve.losses.back(),
                error.edges, error.angles, error.orientation);
  }
  if (plot)
    plotLosses(plot, curves);

  const Error after = errorOf(simulator, truth);
  const bool recovered = after.edges < 0.02 && after.angles < 0.02 && after.orientation < 0.01;
  std::printf(recovered ? "recovered\n" : "not recovered\n");
  return recovered ? 0 : 1;
}

} // namespace

int main(int argc, char **argv) {
  const auto begin = std::chrono::steady_clock::now();
  try {
    const int status = fit(argc > 1 ? argv[1] : nullptr);
    std::printf("%.2f s\n",
                std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
    return status;
  } catch (const std::exception &error) {
    std::fprintf(stderr, "fit_crystal: %s\n", error.what());
    return 1;
  }
}
