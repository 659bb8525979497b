// Averages by draws, of each pixel as many as it asks for.
#ifndef NANOBRAGG_SIMULATOR_QUADRATURE_H
#define NANOBRAGG_SIMULATOR_QUADRATURE_H

#include "lib/Experiment/PixelList.h"
#include "runtime/simulator/DerivativeSource.h"

#include <memory>

namespace nanobragg {

/// All pixels have a few draws, and as many again. Where the two differ by more than the tolerance,
/// in parts of the brightest pixel near by, there are as many again as there are, and so on. Two
/// that agree by chance count as half of what differed before, and pixels of one spot go on
/// together. Pixels that a spot lights have enough draws to see it; which these are, the closed
/// form of a Gaussian crystal with wider spots tells. Derivatives have the draws of the last image.
class Quadrature : public DerivativeSource {
public:
  /// `experiment`, for the pixels in the list if there is one, has as many draws as see a spot.
  Quadrature(const Experiment &experiment, const ListedPixels &listed,
             const SimulatorOptions &options);
  ~Quadrature() override;

  /// It has few draws of all pixels.
  Simulator &first() { return few; }
  void set(std::string_view name, std::span<const double> values);
  void setStructureFactors(const nb_hkl_grid &grid);

  /// Those of the last image, or of one with few draws.
  double samples() const;

  template <typename T>
  RunResult render(std::span<T> image, const RunOptions &run);

  std::vector<Gradient> gradient(const Names &parameters,
                                 std::span<const double> cotangent) override;
  std::vector<DerivativeImage> jacobian(const Names &parameters) override;
  void jvps(const Names &parameters, Directions directions, Images images) override;
  std::vector<Gradient> hvp(const Names &parameters, std::span<const Direction> direction,
                            std::span<const double> cotangent) override;

private:
  using Pixels = std::vector<double>;
  using Places = std::vector<std::size_t>;

  /// Pixels of the caller that have as many draws.
  struct Group {
    Places pixels;
    std::int64_t draws = 0;
    std::unique_ptr<Simulator> simulator; ///< made when it is needed
  };
  class Cells;

  /// 1 for pixels that a spot may light.
  std::vector<std::uint8_t> litPixels(Cells &spots);

  std::unique_ptr<Simulator> simulatorOf(const Places &pixels, std::int64_t first,
                                         std::int64_t draws) const;
  Simulator &simulatorOf(Group &group) const;
  RunResult renderPixels(std::span<double> image, const RunOptions &run);
  PixelIndex pixelAt(std::size_t pixel) const;
  std::size_t placeOf(std::size_t pixel) const; ///< in the program's image
  void add(std::vector<Gradient> &to, const Group &group, std::vector<Gradient> more) const;
  std::vector<Direction> directionIn(const Group &group, std::span<const Direction> of) const;
  template <typename Each>
  void forEachGroup(Each each);

  const ListedPixels listed;
  const SimulatorOptions options;
  const std::int64_t seeing; ///< as many draws see a spot
  Simulator few, again;      ///< with few draws, and as many more
  std::vector<Group> groups; ///< of the last image; none where numbers have changed
  double samplesOfImage = 0;
};

} // namespace nanobragg
#endif
