#include "nanobragg/Loss.h"

#include "lib/Parallel/Vectorized.h"

#include <algorithm>
#include <array>
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
  default:
    return std::isfinite(data[i]) && at(noise.gain, i) > 0 && std::isfinite(at(noise.gain, i)) &&
           (kind == Kind::Gaussian || data[i] >= 0);
  }
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
  default:
    return countedTerm(pixel, i);
  }
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

template <typename Contribute>
NB_INLINE double Loss::addUp(std::span<const double> image, std::span<const std::uint8_t> rendered,
                             std::span<double> cotangent, Contribute contribute) const {
  // One simple loop after the other over a few pixels, for vectors.
  constexpr std::size_t block = 64 * ExactSums::lanes;
  std::array<double, block> values, slopes;
  ExactSums sums;
  for (std::size_t first = 0; first < image.size(); first += block) {
    const std::size_t count = std::min(block, image.size() - first);
    const double *pixels = &image[first];
    const std::uint8_t *isRendered = &rendered[first];
    for (std::size_t k = 0; k != count; ++k) {
      const auto [counts, term] = contribute(pixels[k], first + k);
      const bool in = int(counts) & (isRendered[k] != 0);
      values[k] = in ? term.value : 0;
      slopes[k] = in ? term.slope : 0;
    }
    if (!mask.empty())
      for (std::size_t k = 0; k != count; ++k) {
        values[k] = mask[first + k] ? values[k] : 0;
        slopes[k] = mask[first + k] ? slopes[k] : 0;
      }
    std::fill(values.begin() + std::ptrdiff_t(count), values.end(), 0);
    for (std::size_t k = 0; k < count; k += ExactSums::lanes)
      sums.add(&values[k]);
    if (!cotangent.empty())
      std::copy_n(slopes.begin(), count, cotangent.begin() + std::ptrdiff_t(first));
  }
  return sums.value();
}

NB_VECTORIZED double Loss::evaluate(std::span<const double> image,
                                    std::span<const std::uint8_t> rendered,
                                    std::span<double> cotangent, Slopes *slopes) const {
  checkSize(weights.size(), image.size(), "the array of weights");
  checkSize(data.size(), image.size(), "the data");
  checkSize(mask.size(), image.size(), "the mask");
  checkSize(cotangent.size(), image.size(), "the cotangent");
  ExactSum background, readOut;
  // Losses that are quick to compute are computed for the pixels that do not count, too: no
  // branches.
  const auto chiSquare = [this](double pixel, std::size_t i, bool counts, double inverseSigma) {
    const bool in = int(counts) & int(isFinite(data[i]));
    return Contribution{in, chiSquareTerm(pixel, data[i], inverseSigma)};
  };
  double value = 0;
  if (kind == Kind::Linear && weights.empty())
    value = addUp(image, rendered, cotangent, [](double pixel, std::size_t) {
      return Contribution{true, linearTerm(pixel, 1)};
    });
  else if (kind == Kind::Linear)
    value = addUp(image, rendered, cotangent, [this](double pixel, std::size_t i) {
      return Contribution{true, linearTerm(pixel, weights[i])};
    });
  else if (kind == Kind::ChiSquare && sigma.size() == 1)
    value = addUp(image, rendered, cotangent,
                  [&, is = isSigma(sigma[0]), inverse = 1 / sigma[0]](double pixel, std::size_t i) {
                    return chiSquare(pixel, i, is, inverse);
                  });
  else if (kind == Kind::ChiSquare)
    value = addUp(image, rendered, cotangent, [&](double pixel, std::size_t i) {
      return chiSquare(pixel, i, isSigma(sigma[i]), 1 / sigma[i]);
    });
  else
    value = addUp(image, rendered, cotangent, [&](double pixel, std::size_t i) {
      if (!rendered[i] || !counts(i))
        return Contribution{};
      const Term term = countedTerm(pixel, i);
      background.add(term.slope);
      readOut.add(term.byReadOut);
      return Contribution{true, term};
    });
  if (slopes)
    *slopes = {background.value(), readOut.value()};
  return value;
}

} // namespace nanobragg
