#include "tools/nb-gradcheck/FiniteDifferences.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace nanobragg {
namespace {

/// Steps by which the sensitivity is found, of the scale: the first that changes the image by more
/// than rounding does. A number at zero has no known scale of its own: a wavelength's offset
/// has the scale of any length.
constexpr double pilotSteps[] = {1e-13, 1e-10, 1e-8, 1e-6, 1e-4, 1e-2};
constexpr double visibleChange = 1e-10;
constexpr double closeSteps = 1e-9; // times the scale: curvature is 1e-18, and roundings are others
/// The product of step and sensitivity: Richardson's error is about its sixth power with three
/// steps, and rounding is a hundred times below what it is at the last one.
constexpr double reachFirst = 1e-2, reachSecond = 3e-2, reachWithJumps = 1e-3;
/// A smooth pixel's differences at steps h, h/2 and h/4 are apart by four to one. The remainder
/// is at most so much of its rate of change, and the rounding of the pixel, in ulp of it.
constexpr double jumpThreshold = 1e-7, pixelRounding = 256;

/// One power of the step less in the error of `coarse`, in its place.
std::vector<double> refined(const std::vector<double> &fine, std::vector<double> coarse,
                            double denominator) {
  for (std::size_t i = 0; i != fine.size(); ++i)
    coarse[i] = fine[i] + (fine[i] - coarse[i]) / denominator;
  return coarse;
}

/// Makes an image of differences the best one; how far it is from `neighbour` is its error.
void takePixels(const std::vector<double> &pixels, const std::vector<double> &neighbour,
                Estimate &best) {
  best.pixels = pixels;
  best.pixelError = 0;
  for (std::size_t i = 0; i != pixels.size(); ++i)
    if (best.used.empty() || best.used[i])
      best.pixelError = std::max(best.pixelError, std::fabs(pixels[i] - neighbour[i]));
}

double absoluteSum(std::span<const double> values) {
  double sum = 0;
  for (double value : values)
    sum += std::fabs(value);
  return sum;
}

} // namespace

FiniteDifferences::FiniteDifferences(Simulator &simulator, std::vector<double> weights,
                                     const Options &options)
    : simulator(simulator), weights(std::move(weights)), loss(Loss::linear(this->weights)),
      options(options) {}

const std::vector<double> &FiniteDifferences::atStart() {
  if (start.empty())
    start = image();
  return start;
}

std::vector<double> FiniteDifferences::image() {
  ++images;
  const std::span<const double> pixels = simulator.value();
  return {pixels.begin(), pixels.end()};
}

/// The sum of the sizes of all terms of the loss.
double FiniteDifferences::sizeOfTerms() {
  double sum = 0;
  for (std::size_t i = 0; i != atStart().size(); ++i)
    sum += std::fabs(weights[i] * start[i]);
  return sum;
}

/// How far apart roundings make the losses of images that are closer than anything else can show:
/// what differs is random from pixel to pixel, or the same in all.
double FiniteDifferences::findRounding(const Variation &variation) {
  atStart();
  double forth = closeSteps * variation.scale, back = -forth;
  const std::vector<double> ahead = moved(variation, forth), behind = moved(variation, back);
  double sum = 0, squares = 0;
  for (std::size_t i = 0; i != ahead.size(); ++i) {
    const double bend = weights[i] * (ahead[i] - 2 * start[i] + behind[i]);
    sum += bend;
    squares += bend * bend;
  }
  return std::isfinite(squares) ? std::fabs(sum) + 3 * std::sqrt(squares) : 0;
}

/// The image at distance t, which becomes the distance that could be represented.
std::vector<double> FiniteDifferences::moved(const Variation &variation, double &t) {
  t = variation.move(t);
  std::vector<double> pixels = image();
  variation.move(0);
  return pixels;
}

double FiniteDifferences::weigh(std::span<const double> pixels,
                                std::span<const std::uint8_t> used) const {
  return loss.evaluate(pixels, used.empty() ? simulator.rendered() : used, {});
}

/// The inverse of the length that the step has to be small against: how the pixels' slopes change,
/// or where jumps would spoil that, the pixels themselves. 0: not at all.
double FiniteDifferences::findSensitivity(const Variation &variation) {
  const double total = absoluteSum(atStart());
  double rate = 0;
  for (double step : pilotSteps) {
    double t = step * variation.scale, back = -t;
    std::vector<double> change = moved(variation, t), bend(change.size());
    const std::vector<double> behind =
        options.jumps ? std::vector<double>() : moved(variation, back);
    for (std::size_t i = 0; i != change.size(); ++i) {
      bend[i] = options.jumps ? 0 : change[i] - 2 * start[i] + behind[i];
      change[i] -= start[i];
    }
    const double visible = visibleChange * total, slope = absoluteSum(change);
    const double seen = options.jumps ? slope : absoluteSum(bend);
    if (t != 0 && total > 0 && slope > 0)
      rate = options.jumps ? slope / (total * std::fabs(t)) : seen / (slope * std::fabs(t));
    if (seen > visible)
      break;
  }
  return rate;
}

double FiniteDifferences::sensitivity(const Variation &variation) {
  const auto [found, isNew] = sensitivities.try_emplace(variation.name);
  if (isNew)
    found->second = findSensitivity(variation);
  return found->second;
}

double FiniteDifferences::roundingOf(const Variation &variation) {
  const auto [found, isNew] = roundings.try_emplace(variation.name);
  if (isNew)
    found->second = findRounding(variation);
  return found->second;
}

double FiniteDifferences::firstStep(const Variation &variation, double reach) {
  if (options.step > 0)
    return options.step * variation.scale;
  const double rate = sensitivity(variation);
  return rate > 0 ? std::min(reach / rate, 1e-2 * variation.scale) : 1e-6 * variation.scale;
}

Estimate FiniteDifferences::first(const Variation &variation) {
  const double step = firstStep(variation, options.jumps ? reachWithJumps : reachFirst);
  return extrapolate(
      [&](double fraction) {
        double forth = step * fraction, back = -step * fraction;
        std::vector<double> difference = moved(variation, forth);
        const std::vector<double> behind = moved(variation, back);
        for (std::size_t i = 0; i != difference.size(); ++i)
          difference[i] = (difference[i] - behind[i]) / (forth - back);
        return difference;
      },
      step, 1 / step, 1, roundingOf(variation));
}

Estimate FiniteDifferences::second(const Variation &a, const Variation &b) {
  const double reach = options.jumps ? 3 * reachWithJumps : reachSecond;
  const double stepA = firstStep(a, reach), stepB = firstStep(b, reach);
  const auto corner = [&](double ta, double tb) {
    a.move(ta);
    b.move(tb);
    std::vector<double> pixels = image();
    b.move(0);
    a.move(0);
    return pixels;
  };
  const auto same = [&](double fraction) {
    atStart();
    double forth = stepA * fraction, back = -stepA * fraction;
    std::vector<double> bend = moved(a, forth);
    const std::vector<double> behind = moved(a, back);
    for (std::size_t i = 0; i != bend.size(); ++i)
      bend[i] = 2 * ((bend[i] - start[i]) / forth - (behind[i] - start[i]) / back) / (forth - back);
    return bend;
  };
  const auto mixed = [&](double fraction) {
    const double ta = a.move(stepA * fraction);
    a.move(0);
    const double tb = b.move(stepB * fraction);
    b.move(0);
    std::vector<double> bend = corner(ta, tb);
    for (const auto &[sa, sb] : {std::pair(-1, -1), std::pair(1, -1), std::pair(-1, 1)}) {
      const std::vector<double> other = corner(sa * ta, sb * tb);
      for (std::size_t i = 0; i != bend.size(); ++i)
        bend[i] += sa * sb * other[i];
    }
    for (double &pixel : bend)
      pixel /= 4 * ta * tb;
    return bend;
  };
  const double sharpness = 1 / (stepA * stepB);
  const double rounding = std::max(roundingOf(a), a.name == b.name ? 0 : roundingOf(b));
  return a.name == b.name ? extrapolate(same, stepA, sharpness, 2, rounding)
                          : extrapolate(mixed, stepA, sharpness, 2, rounding);
}

/// Leaves out pixels whose differences at three steps, each half of the one before, do not converge
/// as those of a smooth one. An edge anywhere within the largest step shows: it counts in the
/// coarse differences alone, or the more the finer they are.
void FiniteDifferences::leaveOutJumps(std::span<const double> coarse,
                                      std::span<const double> middle, std::span<const double> fine,
                                      double sharpness, Estimate &estimate) {
  atStart();
  estimate.used.assign(simulator.rendered().begin(), simulator.rendered().end());
  for (std::size_t i = 0; i != fine.size(); ++i) {
    const double size = std::fabs(start[i]) * sharpness;
    const double rate = std::fabs(fine[i]) + size * reachWithJumps;
    const double allowed =
        jumpThreshold * rate + pixelRounding * std::numeric_limits<double>::epsilon() * size;
    const double rest = (middle[i] - fine[i]) - (coarse[i] - middle[i]) / 4;
    if (estimate.used[i] && std::fabs(rest) > allowed) {
      estimate.used[i] = 0;
      ++estimate.leftOut;
    }
  }
  if (estimate.leftOut == 0)
    estimate.used.clear();
}

/// Ridders' table: row k begins with the difference at step 2^-k and removes one more power of the
/// squared step per column. The entry that differs least from its neighbours is taken.
Estimate FiniteDifferences::extrapolate(const Stencil &stencil, double step, double sharpness,
                                        int order, double seen) {
  Estimate best;
  best.step = step;
  // No value is of the largest step alone; with half of two steps the product is a quarter.
  const double rounding = 4 * sharpness * std::numeric_limits<double>::epsilon();
  best.rounding = rounding * sizeOfTerms();
  for (double pixel : start)
    best.pixelRounding = std::max(best.pixelRounding, rounding * std::fabs(pixel));
  best.error = std::numeric_limits<double>::infinity();
  double bestStep = 1;
  std::vector<double> above;                 // the row before
  std::vector<std::vector<double>> aboveAll; // the same of every pixel, where that is wanted
  std::vector<std::vector<double>> ahead;    // rows that were needed to find jumps
  if (options.jumps) {
    for (int k = 0; k != 3; ++k)
      ahead.push_back(stencil(std::ldexp(1.0, -k)));
    leaveOutJumps(ahead[0], ahead[1], ahead[2], sharpness, best);
  }
  for (int k = 0; k != std::max(options.steps, 2); ++k) {
    std::vector<double> pixels = std::size_t(k) < ahead.size() ? std::move(ahead[std::size_t(k)])
                                                               : stencil(std::ldexp(1.0, -k));
    std::vector<double> row = {weigh(pixels, best.used)};
    std::vector<std::vector<double>> rowAll;
    if (options.pixels)
      rowAll.push_back(std::move(pixels));
    for (std::size_t j = 1; j <= std::size_t(k); ++j) {
      const double denominator = std::pow(4.0, double(j)) - 1;
      const double coarser = above[j - 1];
      row.push_back(row[j - 1] + (row[j - 1] - coarser) / denominator);
      if (options.pixels)
        rowAll.push_back(refined(rowAll[j - 1], std::move(aboveAll[j - 1]), denominator));
      const double error = std::max(std::fabs(row[j] - row[j - 1]), std::fabs(row[j] - coarser));
      if (error < best.error) {
        best.error = error;
        best.value = row[j];
        bestStep = std::ldexp(1.0, -k);
        if (options.pixels)
          takePixels(rowAll[j], rowAll[j - 1], best);
      }
    }
    const bool roundingTookOver = k > 1 && std::fabs(row.back() - above.back()) > 2 * best.error;
    above = std::move(row);
    aboveAll = std::move(rowAll);
    if (roundingTookOver || best.error <= options.tolerance * std::fabs(best.value))
      break;
  }
  best.rounding = std::max(best.rounding, seen * sharpness / std::pow(bestStep, order));
  return best;
}

} // namespace nanobragg
