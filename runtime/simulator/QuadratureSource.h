// Averages by draws, of each pixel as many as it asks for.
#ifndef NANOBRAGG_SIMULATOR_QUADRATURESOURCE_H
#define NANOBRAGG_SIMULATOR_QUADRATURESOURCE_H

#include "runtime/simulator/ProgramSource.h"

namespace nanobragg {

/// All pixels have a few draws, and as many again. Where the two differ by more than the tolerance,
/// in parts of the brightest pixel near by, there are as many again as there are, and so on. Two
/// that agree by chance count as half of what differed before, and pixels of one spot go on
/// together. Pixels that a spot lights have enough draws to see it; which these are, the closed
/// form of a Gaussian crystal with wider spots tells. Derivatives have the draws of the last image.
class QuadratureSource final : public ImageSource {
public:
  /// `experiment` has as many draws as see a spot.
  QuadratureSource(const Experiment &experiment, const ListedPixels &listed,
                   const SimulatorOptions &options);
  ~QuadratureSource() override;

  const ProgramSource &whole() const override { return all; }
  const ProgramSource &deciding() const override { return few; }
  BoundProgram &program(ImageType) override { return few.program(ImageType::F64); }
  /// The samples of the last image, or of one with few draws.
  double samples() const override;
  void set(const Parameter &parameter, std::span<const double> values) override;
  void setStructureFactors(const std::shared_ptr<const HklGrid> &grid) override;
  RunResult render(CallersImage image, const RunOptions &run, const Instruments &look) override;
  std::vector<Gradient> reverse(const Derivative &derivative, const Cotangent &cotangent,
                                std::span<const Direction> direction,
                                const RunOptions &run) override;
  void forward(const Derivative &derivative, Directions directions, Images images,
               const RunOptions &run) override;

private:
  using Places = std::vector<std::size_t>;

  /// Pixels of the caller that have as many draws.
  struct Group {
    Places pixels;
    std::int64_t draws = 0;
    std::unique_ptr<ProgramSource> source; ///< made when it is needed
  };
  class Cells;

  /// 1 for pixels that a spot may light.
  std::vector<std::uint8_t> litPixels(Cells &spots);

  std::unique_ptr<ProgramSource> sourceOf(const Places &pixels, std::int64_t first,
                                          std::int64_t draws) const;
  RunResult renderPixels(std::span<double> image, const RunOptions &run);
  PixelIndex pixelAt(std::size_t pixel) const;
  std::size_t placeOf(std::size_t pixel) const; ///< in the program's image
  void add(std::vector<Gradient> &to, const Group &group, std::vector<Gradient> more) const;
  std::vector<Direction> directionIn(const Group &group, std::span<const Direction> of) const;
  template <typename Each>
  void forEachGroup(Each each);

  ProgramSource all;         ///< with as many draws as see a spot; for the interpreter
  ProgramSource few, again;  ///< with few draws, and as many more
  std::vector<Group> groups; ///< of the last image; none where numbers have changed
  double samplesOfImage = 0;
};

} // namespace nanobragg
#endif
