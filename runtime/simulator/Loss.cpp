#include "nanobragg/Loss.h"

#include "lib/Parallel/Vectorized.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <limits>
#include <numbers>
#include <stdexcept>
#include <string>

namespace nanobragg {
namespace {

/// Neumaier's: what the sum loses is kept beside it.
class ExactSum {
public:
  void add(double term) {
    const double next = total + term;
    lost += std::fabs(total) >= std::fabs(term) ? (total - next) + term : (term - next) + total;
    total = next;
  }
  double value() const { return std::isfinite(total) ? total + lost : total; }

private:
  double total = 0, lost = 0;
};

/// Several such sums side by side, so that no addition waits for another.
class ExactSums {
public:
  static constexpr std::size_t lanes = 8;

  void add(const double *terms) {
    for (std::size_t i = 0; i != lanes; ++i) {
      const double term = terms[i], total = totals[i], next = total + term;
      const double ofTotal = (total - next) + term, ofTerm = (term - next) + total;
      lost[i] += std::fabs(total) >= std::fabs(term) ? ofTotal : ofTerm;
      totals[i] = next;
    }
  }
  double value() const {
    ExactSum sum;
    for (double total : totals)
      sum.add(total);
    if (std::isfinite(sum.value()))
      for (double small : lost)
        sum.add(small);
    return sum.value();
  }

private:
  std::array<double, lanes> totals{}, lost{};
};

using Limits = std::numeric_limits<double>;

/// Without a branch, unlike the library's.
bool isFinite(double x) { return std::fabs(x) <= Limits::max(); }

/// Is this a standard deviation, of which there is an inverse?
bool isSigma(double sigma) { return int(sigma >= Limits::min()) & int(sigma <= Limits::max()); }

void checkSize(std::size_t size, std::size_t pixels, const char *what) {
  if (size != 0 && size != pixels)
    throw std::invalid_argument(std::string(what) + " of the loss has " + std::to_string(size) +
                                " pixels and the image " + std::to_string(pixels));
}

} // namespace

Loss Loss::sum() { return {}; }

std::uint64_t Loss::nextSerial() {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

Loss Loss::linear(std::vector<double> weights) {
  Loss loss;
  loss.weights = std::move(weights);
  return loss;
}

Loss Loss::chiSquare(std::vector<double> data, std::vector<double> sigma,
                     std::vector<std::uint8_t> mask) {
  if (sigma.size() != 1 && sigma.size() != data.size())
    throw std::invalid_argument("the loss has " + std::to_string(sigma.size()) +
                                " standard deviations for " + std::to_string(data.size()) +
                                " pixels; give one, or one for each");
  Loss loss;
  loss.kind = Kind::ChiSquare;
  loss.data = std::move(data);
  loss.sigma = std::move(sigma);
  loss.mask = std::move(mask);
  return loss;
}

Loss Loss::ofCounts(Kind kind, std::vector<double> data, Noise noise,
                    std::vector<std::uint8_t> mask) {
  const auto check = [&](const std::vector<double> &numbers, const char *what) {
    if (numbers.size() != 1 && numbers.size() != data.size())
      throw std::invalid_argument("the loss has " + std::to_string(numbers.size()) + " " + what +
                                  " for " + std::to_string(data.size()) +
                                  " pixels; give one, or one for each");
  };
  check(noise.background, "backgrounds");
  check(noise.gain, "gains");
  if (!(noise.readOut >= 0) || !std::isfinite(noise.readOut))
    throw std::invalid_argument("the read-out noise of the loss is " +
                                std::to_string(noise.readOut) + "; it is finite and not below 0");
  Loss loss;
  loss.kind = kind;
  loss.data = std::move(data);
  loss.noise = std::move(noise);
  loss.mask = std::move(mask);
  return loss;
}

Loss Loss::poisson(std::vector<double> data, Noise noise, std::vector<std::uint8_t> mask) {
  return ofCounts(Kind::Poisson, std::move(data), std::move(noise), std::move(mask));
}

Loss Loss::gaussian(std::vector<double> data, Noise noise, std::vector<std::uint8_t> mask) {
  return ofCounts(Kind::Gaussian, std::move(data), std::move(noise), std::move(mask));
}

bool Loss::counts(std::size_t i) const {
  if (!mask.empty() && !mask[i])
    return false;
  switch (kind) {
  case Kind::Linear:
    return true;
  case Kind::ChiSquare:
    return isFinite(data[i]) && isSigma(sigmaOf(i));
  case Kind::Poisson:
  case Kind::Gaussian:
    return std::isfinite(data[i]) && at(noise.gain, i) > 0 && std::isfinite(at(noise.gain, i)) &&
           (kind == Kind::Gaussian || data[i] >= 0);
  }
  throw std::logic_error("the loss is of no known kind");
}

Loss::Term Loss::countedTerm(double pixel, std::size_t i) const {
  const double gain = at(noise.gain, i);
  const double m = (pixel + at(noise.background, i)) / gain, n = data[i] / gain;
  if (kind == Kind::Poisson) {
    if (n == 0)
      return {m, 1 / gain, 0, 0};
    int sign = 0;
    return {m - n * std::log(m) + lgamma_r(n + 1, &sign), (1 - n / m) / gain,
            n / (m * m) / (gain * gain), 0};
  }
  const double r = noise.readOut / gain, v = m + r * r, u = n - m;
  if (!(v > 0))
    return {};
  const double value = (std::log(2 * std::numbers::pi * v) + u * u / v) / 2;
  const double slope = (1 - 2 * u - u * u / v) / (2 * v);
  const double curvature = 1 / v + (2 * u - 0.5) / (v * v) + u * u / (v * v * v);
  return {value, slope / gain, curvature / (gain * gain), (1 - u * u / v) / v * r / gain};
}

Loss::Term Loss::linearTerm(double pixel, double weight) { return {weight * pixel, weight, 0, 0}; }

Loss::Term Loss::chiSquareTerm(double pixel, double datum, double inverseSigma) {
  const double difference = (pixel - datum) * inverseSigma;
  return {difference * difference, 2 * difference * inverseSigma, 2 * inverseSigma * inverseSigma,
          0};
}

Loss::Term Loss::termOf(double pixel, std::size_t i) const {
  switch (kind) {
  case Kind::Linear:
    return linearTerm(pixel, weights.empty() ? 1 : weights[i]);
  case Kind::ChiSquare:
    return chiSquareTerm(pixel, data[i], 1 / sigmaOf(i));
  case Kind::Poisson:
  case Kind::Gaussian:
    return countedTerm(pixel, i);
  }
  throw std::logic_error("the loss is of no known kind");
}

double Loss::curvature(std::span<const double> image, std::size_t i) const {
  return counts(i) ? termOf(image[i], i).curvature : 0;
}

std::int64_t Loss::pixels(std::span<const std::uint8_t> rendered) const {
  std::int64_t count = 0;
  for (std::size_t i = 0; i != rendered.size(); ++i)
    count += rendered[i] && counts(i);
  return count;
}

namespace {
/// So many pixels are added up first, and then what they add up to.
constexpr std::size_t partSize = 64 * ExactSums::lanes;

NB_INLINE bool isDark(const double *pixels, std::size_t count) {
  bool any = false;
  for (std::size_t k = 0; k != count; ++k)
    any |= pixels[k] != 0;
  return !any;
}
} // namespace

/// One simple loop after the other over a few pixels, for vectors.
template <bool isNoisy, typename Contribute>
NB_INLINE Loss::Part Loss::addUpPart(const double *pixels, const std::uint8_t *isRendered,
                                     double *cotangent, std::size_t first, std::size_t count,
                                     Contribute contribute) const {
  std::array<double, partSize> values, slopes, byReadOut;
  for (std::size_t k = 0; k != count; ++k) {
    const auto [counts, term] = contribute(pixels[k], first + k, isRendered[k] != 0);
    const bool in = int(counts) & (isRendered[k] != 0);
    values[k] = in ? term.value : 0;
    slopes[k] = in ? term.slope : 0;
    if constexpr (isNoisy)
      byReadOut[k] = in ? term.byReadOut : 0;
  }
  if (!mask.empty())
    for (std::size_t k = 0; k != count; ++k) {
      values[k] = mask[first + k] ? values[k] : 0;
      slopes[k] = mask[first + k] ? slopes[k] : 0;
    }
  Part part;
  if constexpr (isNoisy) {
    ExactSum background, readOut;
    for (std::size_t k = 0; k != count; ++k) {
      background.add(slopes[k]);
      readOut.add(byReadOut[k]);
    }
    part.slopes = {background.value(), readOut.value()};
  }
  if (cotangent)
    std::copy_n(slopes.begin(), count, cotangent);
  std::fill(values.begin() + std::ptrdiff_t(count), values.end(), 0);
  ExactSums sums;
  for (std::size_t k = 0; k < count; k += ExactSums::lanes)
    sums.add(&values[k]);
  part.value = sums.value();
  return part;
}

template <bool isNoisy, typename Contribute>
NB_INLINE double Loss::addUp(const Pixels &pixels, Slopes *slopes, Memory *memory,
                             Contribute contribute) const {
  const auto [image, rendered, cotangent] = pixels;
  const std::size_t parts = (image.size() + partSize - 1) / partSize;
  if (memory && (memory->loss != serial || memory->isDark.size() != parts)) {
    memory->loss = serial;
    memory->isDark.assign(parts, 0);
    memory->ofDark.resize(parts);
  }
  ExactSum value, background, readOut;
  for (std::size_t i = 0; i != parts; ++i) {
    const std::size_t first = i * partSize, count = std::min(partSize, image.size() - first);
    const bool dark = memory && isDark(&image[first], count);
    Part part;
    if (dark && memory->isDark[i])
      part = memory->ofDark[i];
    else
      part = addUpPart<isNoisy>(&image[first], &rendered[first],
                                cotangent.empty() ? nullptr : &cotangent[first], first, count,
                                contribute);
    if (memory) {
      memory->isDark[i] = dark;
      memory->ofDark[i] = part;
    }
    value.add(part.value);
    background.add(part.slopes.background);
    readOut.add(part.slopes.readOut);
  }
  if (slopes)
    *slopes = {background.value(), readOut.value()};
  return value.value();
}

NB_VECTORIZED double Loss::evaluate(std::span<const double> image,
                                    std::span<const std::uint8_t> rendered,
                                    std::span<double> cotangent, Slopes *slopes,
                                    Memory *memory) const {
  checkSize(weights.size(), image.size(), "the array of weights");
  checkSize(data.size(), image.size(), "the data");
  checkSize(mask.size(), image.size(), "the mask");
  checkSize(cotangent.size(), image.size(), "the cotangent");
  const Pixels pixels{image, rendered, cotangent};
  // Losses that are quick to compute are computed for the pixels that do not count, too: no
  // branches.
  const auto chiSquare = [this](double pixel, std::size_t i, bool counts, double inverseSigma) {
    const bool in = int(counts) & int(isFinite(data[i]));
    return Contribution{in, chiSquareTerm(pixel, data[i], inverseSigma)};
  };
  if (kind == Kind::Linear && weights.empty())
    return addUp<false>(pixels, slopes, memory, [](double pixel, std::size_t, bool) {
      return Contribution{true, linearTerm(pixel, 1)};
    });
  if (kind == Kind::Linear)
    return addUp<false>(pixels, slopes, memory, [this](double pixel, std::size_t i, bool) {
      return Contribution{true, linearTerm(pixel, weights[i])};
    });
  if (kind == Kind::ChiSquare && sigma.size() == 1)
    return addUp<false>(
        pixels, slopes, memory,
        [&, is = isSigma(sigma[0]), inverse = 1 / sigma[0]](double pixel, std::size_t i, bool) {
          return chiSquare(pixel, i, is, inverse);
        });
  if (kind == Kind::ChiSquare)
    return addUp<false>(pixels, slopes, memory, [&](double pixel, std::size_t i, bool) {
      return chiSquare(pixel, i, isSigma(sigma[i]), 1 / sigma[i]);
    });
  return addUp<true>(pixels, slopes, memory, [&](double pixel, std::size_t i, bool isRendered) {
    if (!isRendered || !counts(i))
      return Contribution{};
    return Contribution{true, countedTerm(pixel, i)};
  });
}

} // namespace nanobragg
