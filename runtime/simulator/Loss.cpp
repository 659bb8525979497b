#include "nanobragg/Loss.h"

#include <array>
#include <cmath>
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
  void add(const ExactSum &sum) {
    add(sum.total);
    lost += sum.lost;
  }
  double value() const { return std::isfinite(total) ? total + lost : total; }

private:
  double total = 0, lost = 0;
};

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
    return std::isfinite(data[i]) && std::isfinite(sigmaOf(i)) && sigmaOf(i) > 0;
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

Loss::Term Loss::termOf(double pixel, std::size_t i) const {
  if (kind == Kind::Linear) {
    const double weight = weights.empty() ? 1 : weights[i];
    return {weight * pixel, weight, 0, 0};
  }
  if (kind != Kind::ChiSquare)
    return countedTerm(pixel, i);
  const double sigma = sigmaOf(i), difference = (pixel - data[i]) / sigma;
  return {difference * difference, 2 * difference / sigma, 2 / (sigma * sigma), 0};
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

double Loss::evaluate(std::span<const double> image, std::span<const std::uint8_t> rendered,
                      std::span<double> cotangent, Slopes *slopes) const {
  checkSize(weights.size(), image.size(), "the array of weights");
  checkSize(data.size(), image.size(), "the data");
  checkSize(mask.size(), image.size(), "the mask");
  checkSize(cotangent.size(), image.size(), "the cotangent");
  // Neighbours go to different sums, so that one addition need not wait for the other.
  constexpr std::size_t atOnce = 4;
  std::array<ExactSum, atOnce> totals;
  ExactSum total, background, readOut;
  const bool ofNoise = slopes && hasBackground();
  for (std::size_t i = 0; i != image.size(); ++i) {
    Term term;
    if (rendered[i] && counts(i)) {
      term = termOf(image[i], i);
      totals[i % atOnce].add(term.value);
      if (ofNoise) {
        background.add(term.slope);
        readOut.add(term.byReadOut);
      }
    }
    if (!cotangent.empty())
      cotangent[i] = term.slope;
  }
  for (const ExactSum &sum : totals)
    total.add(sum);
  if (slopes)
    *slopes = {background.value(), readOut.value()};
  return total.value();
}

} // namespace nanobragg
