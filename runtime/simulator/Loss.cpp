#include "nanobragg/Loss.h"

#include <cmath>
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
  double value() const { return total + lost; }

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
  loss.data = std::move(data);
  loss.sigma = std::move(sigma);
  loss.mask = std::move(mask);
  return loss;
}

bool Loss::counts(std::size_t i) const {
  if (!mask.empty() && !mask[i])
    return false;
  if (data.empty())
    return true;
  return std::isfinite(data[i]) && std::isfinite(sigmaOf(i)) && sigmaOf(i) > 0;
}

double Loss::curvature(std::size_t i) const {
  return data.empty() || !counts(i) ? 0 : 2 / (sigmaOf(i) * sigmaOf(i));
}

std::int64_t Loss::pixels(std::span<const std::uint8_t> rendered) const {
  std::int64_t count = 0;
  for (std::size_t i = 0; i != rendered.size(); ++i)
    count += rendered[i] && counts(i);
  return count;
}

double Loss::evaluate(std::span<const double> image, std::span<const std::uint8_t> rendered,
                      std::span<double> cotangent) const {
  checkSize(weights.size(), image.size(), "the array of weights");
  checkSize(data.size(), image.size(), "the data");
  checkSize(mask.size(), image.size(), "the mask");
  checkSize(cotangent.size(), image.size(), "the cotangent");
  ExactSum total;
  for (std::size_t i = 0; i != image.size(); ++i) {
    double term = 0, slope = 0;
    if (rendered[i] && counts(i)) {
      slope = weights.empty() ? 1 : weights[i];
      term = slope * image[i];
      if (!data.empty()) {
        const double difference = (image[i] - data[i]) / sigmaOf(i);
        term = difference * difference;
        slope = 2 * difference / sigmaOf(i);
      }
      total.add(term);
    }
    if (!cotangent.empty())
      cotangent[i] = slope;
  }
  return total.value();
}

} // namespace nanobragg
