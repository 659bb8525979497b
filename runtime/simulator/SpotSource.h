// Images from a table of reflections: each is one Gaussian of two variables on the detector.
#ifndef NANOBRAGG_SIMULATOR_SPOTSOURCE_H
#define NANOBRAGG_SIMULATOR_SPOTSOURCE_H

#include "runtime/simulator/ProgramSource.h"
#include "runtime/simulator/ReflectionSource.h"

namespace nanobragg {

/// The table is made by one program (ReflectionSource), and the image of its spots by another; a
/// derivative goes through both. Where the table says that this is not within the tolerance, each
/// pixel is averaged instead: docs/reflections.md.
class SpotSource final : public ImageSource {
public:
  /// The reason for which averages of the experiment are not made this way; empty: they may be. A
  /// continuous spectrum is always, or it throws std::invalid_argument.
  static std::string refusal(const Experiment &experiment, const SimulatorOptions &options);
  SpotSource(const Experiment &experiment, const ListedPixels &listed,
             const SimulatorOptions &options);

  const ProgramSource &whole() const override { return all; }
  const ProgramSource &deciding() const override { return picture; }
  std::string averages() const override;
  BoundProgram &program(ImageType pixels) override;
  double samples() const override { return picture.samples(); }
  void set(const Parameter &parameter, std::span<const double> values) override;
  void setStructureFactors(const std::shared_ptr<const HklGrid> &grid) override;
  RunResult render(CallersImage image, const RunOptions &run, const Instruments &look) override;
  std::span<const double> value(const RunOptions &run) override;
  std::optional<DeviceMemory> imageOnDevice(ImageType pixels, const RunOptions &run) override;
  std::string trace(const PixelIndex &pixel, ImageType pixels) const override;
  EngineComparison compareEngines(const ComparisonOptions &options) override;
  std::vector<Gradient> reverse(const Derivative &derivative, const Cotangent &cotangent,
                                std::span<const Direction> direction,
                                const RunOptions &run) override;
  void forward(const Derivative &derivative, Directions directions, Images images,
               const RunOptions &run) override;

private:
  /// Makes the table of the numbers as they are, unless it is there.
  void tabulate(const RunOptions &run);
  /// Makes the rows of the table the picture's spots.
  void take(const ReflectionTable &rows);
  ProgramSource &imaging(const RunOptions &run);
  bool hasSpectrum() const { return all.experiment.variant.bandwidth == Bandwidth::Spectrum; }
  /// The derivatives of the spots along each direction, as directions of the picture.
  std::vector<std::vector<Direction>> ofSpots(const Names &parameters, Directions directions,
                                              const RunOptions &run);
  Names namesBeside(const Names &parameters) const;

  ProgramSource all; ///< with averages of each pixel
  ReflectionSource table;
  ProgramSource picture; ///< adds up the spots of the last table
  std::size_t spots = 0; ///< rows of that table; the picture's may have more, without light
  bool isTabulated = false, isWithinTolerance = false;
  bool areTooMany = false; ///< the spots, for a table
  /// The picture's and its spots', in parts of a spot's peak.
  double error = 0;
  std::vector<double> errors;
};

} // namespace nanobragg
#endif
