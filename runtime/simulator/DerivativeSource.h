// What computes the derivatives of an image.
#ifndef NANOBRAGG_SIMULATOR_DERIVATIVESOURCE_H
#define NANOBRAGG_SIMULATOR_DERIVATIVESOURCE_H

#include "nanobragg/Simulator.h"

namespace nanobragg {

/// The methods of Simulator of these names, with all parameters by their own names.
class DerivativeSource {
public:
  using Names = std::vector<std::string>;
  using Directions = std::span<const std::vector<Direction>>;
  using Images = std::span<const std::span<double>>;

  virtual ~DerivativeSource() = default;
  virtual std::vector<Gradient> gradient(const Names &parameters,
                                         std::span<const double> cotangent) = 0;
  virtual std::vector<DerivativeImage> jacobian(const Names &parameters) = 0;
  virtual void jvps(const Names &parameters, Directions directions, Images images) = 0;
  virtual std::vector<Gradient> hvp(const Names &parameters, std::span<const Direction> direction,
                                    std::span<const double> cotangent) = 0;
};

} // namespace nanobragg
#endif
