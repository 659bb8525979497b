#include "tools/nb-gradcheck/Check.h"

#include "lib/Experiment/Experiment.h"
#include "lib/Program/DeadGradients.h"
#include "lib/Program/ParameterGroups.h"
#include "runtime/processor/Stopwatch.h"

#include <algorithm>
#include <cmath>

namespace nanobragg {
namespace {

/// Can an image jump, or bend abruptly, when a sample crosses an edge? Causes are lookups, tables,
/// cutoffs, diffuse scattering and all shapes but the first, which go by the nearest reflection
/// alone.
bool jumps(const ProgramVariant &s) {
  return s.structureFactors != StructureFactors::Constant || s.dmin || s.diffuse || s.background ||
         rowOf(s.shape).profile != SpotProfile::Grating;
}

double dot(const std::vector<Gradient> &gradient, const CheckedDirection &direction) {
  double sum = 0;
  for (const Direction &change : direction.numbers)
    for (const Gradient &g : gradient)
      if (g.parameter == change.parameter)
        for (std::size_t i = 0; i != g.values.size(); ++i)
          sum += change.values[i] == 0 ? 0 : change.values[i] * g.values[i];
  return sum;
}

class Checker {
public:
  Checker(Simulator &analytic, Simulator &reference, const std::string &parameters,
          const CheckOptions &options)
      : analytic(analytic), reference(reference), parameters(parameters), options(options),
        names(resolveParameters(parameters, reference.experiment().variant)), weights(weightsOf()),
        differences(reference, weights, differenceOptions()) {}

  CheckResult run() {
    const std::vector<CheckedDirection> directions =
        options.together ? std::vector{randomDirection(reference, names, options.seed)}
                         : directionsOf(reference, names, options.elements, options.seed);
    result.loss = analytic.loss(Loss::linear(weights));
    if (options.order == 2)
      secondOrder(directions);
    else if (options.mode == CheckMode::Reverse)
      reverse(directions);
    else
      forward(directions);
    result.images = differences.evaluations();
    judge();
    return std::move(result);
  }

private:
  std::vector<double> weightsOf() const {
    if (options.randomLoss)
      return randomNumbers(reference.pixels(), *options.randomLoss);
    return std::vector<double>(reference.pixels(), 1.0);
  }

  FiniteDifferences::Options differenceOptions() const {
    FiniteDifferences::Options o;
    o.tolerance = 0.02 * options.rtol;
    o.step = options.step;
    o.pixels = options.order == 1 && options.mode == CheckMode::Forward;
    o.jumps = jumps(reference.experiment().variant) || sizeIsFractional();
    return o;
  }

  /// With a number of cells that is not whole the image jumps halfway between reflections.
  bool sizeIsFractional() const {
    for (const double n : reference.experiment().crystal.ncells)
      if (n != std::floor(n))
        return true;
    // Moved together with something else it is not whole either.
    if (options.order == 1 && !options.together)
      return false;
    const ParameterGroup &ncells = *findGroup("ncells");
    return std::any_of(names.begin(), names.end(), [&](const std::string &name) {
      return std::ranges::count(ncells.members, name) != 0;
    });
  }

  std::vector<double> weightsWithout(const Estimate &estimate) const {
    std::vector<double> rest = weights;
    for (std::size_t i = 0; i != estimate.used.size(); ++i)
      if (!estimate.used[i])
        rest[i] = 0;
    return rest;
  }

  Estimate first(const CheckedDirection &direction) {
    const TimeAdded watch(result.differenceSeconds);
    return differences.first(variationOf(reference, direction));
  }

  /// A parameter that the image does not depend on gives roundings, in second differences most.
  static bool isRounding(double value, const Estimate &estimate) {
    return std::max(std::fabs(value), std::fabs(estimate.value)) <= estimate.rounding;
  }

  CheckedDerivative &add(const std::string &name, const std::string &unit, double scale,
                         double value, const Estimate &estimate) {
    CheckedDerivative d;
    d.name = name;
    d.unit = unit;
    d.analytic = value;
    d.difference = estimate.value;
    d.differenceError = estimate.error + estimate.rounding;
    if (isRounding(value, estimate)) {
      d.difference = value;
      d.differenceError = 0;
    }
    d.step = estimate.step;
    d.leftOut = estimate.leftOut;
    const double size = std::max(std::fabs(value), std::fabs(d.difference));
    d.relativeError = size > 0 ? std::fabs(value - d.difference) / size : 0;
    d.scaled = size * scale;
    scales.push_back(scale);
    return result.derivatives.emplace_back(std::move(d));
  }

  void reverse(const std::vector<CheckedDirection> &directions) {
    const std::vector<Gradient> all = gradient(weights);
    for (const CheckedDirection &direction : directions) {
      const Estimate estimate = first(direction);
      const double value =
          dot(estimate.leftOut > 0 ? gradient(weightsWithout(estimate)) : all, direction);
      add(direction.name, direction.unit, direction.scale, value, estimate);
    }
  }

  std::vector<Gradient> gradient(const std::vector<double> &cotangent) {
    const TimeAdded watch(result.analyticSeconds);
    return analytic.gradient(parameters, cotangent);
  }

  void forward(const std::vector<CheckedDirection> &directions) {
    differentiateScalars();
    for (const CheckedDirection &direction : directions) {
      const Estimate estimate = first(direction);
      const std::vector<double> tangent = tangentOf(direction);
      const std::span<const std::uint8_t> used =
          estimate.leftOut > 0 ? std::span<const std::uint8_t>(estimate.used) : analytic.rendered();
      CheckedDerivative &d = add(direction.name, direction.unit, direction.scale,
                                 Loss::linear(weights).evaluate(tangent, used, {}), estimate);
      if (isRounding(d.analytic, estimate))
        continue;
      double largest = 0, worst = 0;
      for (std::size_t i = 0; i != tangent.size(); ++i) {
        if (!used[i])
          continue;
        largest = std::max(largest, std::fabs(estimate.pixels[i]));
        worst = std::max(worst, std::fabs(tangent[i] - estimate.pixels[i]));
      }
      d.worstPixel = largest > 0 ? worst / largest : worst;
      d.pixelError = largest > 0 ? (estimate.pixelError + estimate.pixelRounding) / largest : 0;
    }
  }

  /// One program has the derivatives with respect to all parameters that are single numbers.
  void differentiateScalars() {
    std::string scalars;
    for (const std::string &name : names)
      if (findParameter(name)->kind() == NB_PARAMETER_F64 && !options.together)
        scalars += (scalars.empty() ? "" : ",") + name;
    const TimeAdded watch(result.analyticSeconds);
    if (!scalars.empty())
      jacobian = analytic.jacobian(scalars);
  }

  std::vector<double> tangentOf(const CheckedDirection &direction) {
    for (const DerivativeImage &image : jacobian)
      if (image.parameter == direction.name)
        return image.pixels;
    const TimeAdded watch(result.analyticSeconds);
    return analytic.jvp(parameters, direction.numbers);
  }

  void secondOrder(const std::vector<CheckedDirection> &directions) {
    for (std::size_t j = 0; j != directions.size(); ++j) {
      const std::vector<Gradient> column = product(directions[j], weights);
      for (std::size_t i = 0; i <= j; ++i) {
        const Estimate estimate = second(directions[i], directions[j]);
        const double value =
            dot(estimate.leftOut > 0 ? product(directions[j], weightsWithout(estimate)) : column,
                directions[i]);
        add(directions[i].name + ", " + directions[j].name,
            directions[i].unit + " " + directions[j].unit,
            directions[i].scale * directions[j].scale, value, estimate);
      }
    }
  }

  Estimate second(const CheckedDirection &a, const CheckedDirection &b) {
    const TimeAdded watch(result.differenceSeconds);
    return differences.second(variationOf(reference, a), variationOf(reference, b));
  }

  std::vector<Gradient> product(const CheckedDirection &direction,
                                const std::vector<double> &cotangent) {
    const TimeAdded watch(result.analyticSeconds);
    return analytic.hvp(parameters, direction.numbers, cotangent);
  }

  void judge() {
    double largest = 0;
    for (const CheckedDerivative &d : result.derivatives)
      if (std::isfinite(d.scaled))
        largest = std::max(largest, d.scaled);
    const std::vector<DeadGradient> known = deadGradients(reference.experiment(), names);
    for (std::size_t i = 0; i != result.derivatives.size(); ++i) {
      CheckedDerivative &d = result.derivatives[i];
      d.verdict = verdictOn(d, largest / scales[i]);
      if (d.verdict == Verdict::Dead)
        for (const DeadGradient &dead : known)
          if (d.name.find(dead.parameter) != d.name.npos)
            d.why = dead.why;
    }
  }

  /// `large` is what a large derivative with respect to this parameter would be.
  Verdict verdictOn(const CheckedDerivative &d, double large) const {
    if (d.analytic == 0 && d.difference == 0)
      return Verdict::Dead;
    if (!std::isfinite(d.analytic) || !std::isfinite(d.difference))
      return Verdict::Failed;
    const double size = std::max(std::fabs(d.analytic), std::fabs(d.difference));
    if (d.differenceError > 1e-2 * size && d.differenceError > 1e-6 * large)
      return Verdict::Undecided;
    const double tolerance = options.rtol * size + options.atol * large + d.differenceError;
    const bool pixelsAgree = d.worstPixel <= options.rtol + d.pixelError;
    return std::fabs(d.analytic - d.difference) <= tolerance && pixelsAgree ? Verdict::Passed
                                                                            : Verdict::Failed;
  }

  Simulator &analytic, &reference;
  const std::string &parameters;
  const CheckOptions &options;
  std::vector<std::string> names;
  std::vector<double> weights;
  FiniteDifferences differences;
  std::vector<DerivativeImage> jacobian;
  std::vector<double> scales;
  CheckResult result;
};

} // namespace

bool CheckResult::passed() const {
  bool something = false;
  for (const CheckedDerivative &d : derivatives) {
    if (d.verdict == Verdict::Failed || d.verdict == Verdict::Undecided)
      return false;
    something |= d.verdict == Verdict::Passed;
  }
  return something && loss != 0;
}

CheckResult check(Simulator &analytic, Simulator &reference, const std::string &parameters,
                  const CheckOptions &options) {
  return Checker(analytic, reference, parameters, options).run();
}

} // namespace nanobragg
