// Images of a program with a stage that needs the neighbours of a pixel.
//
// A kernel computes each pixel by itself. So there are two programs: that of the photons, and that
// of all stages behind, which is given the light that reaches each pixel. Both are programs like
// any other, with derivatives of their own. The step between them is a linear map of images. The
// chain rule is all that is left to do here (docs/rationale/detector-response.md).
#ifndef NANOBRAGG_SIMULATOR_RESPONSESOURCE_H
#define NANOBRAGG_SIMULATOR_RESPONSESOURCE_H

#include "lib/Response/PointSpread.h"
#include "runtime/simulator/ProgramSource.h"
#include "runtime/simulator/SpreadList.h"

#include <array>
#include <optional>

namespace nanobragg {

class ResponseSource final : public ImageSource {
public:
  ResponseSource(const Experiment &experiment, const ListedPixels &listed,
                 const SimulatorOptions &options);

  const ProgramSource &whole() const override { return all; }
  const ProgramSource &deciding() const override { return before->deciding(); }
  std::string averages() const override { return before->averages(); }
  BoundProgram &program(ImageType) override { return before->program(ImageType::F64); }
  double samples() const override { return before->samples(); }
  void set(const Parameter &parameter, std::span<const double> values) override;
  void setStructureFactors(const std::shared_ptr<const HklGrid> &grid) override;
  RunResult render(CallersImage image, const RunOptions &run, const Instruments &look) override;
  std::span<const double> photons() override;
  std::string trace(const PixelIndex &pixel, ImageType pixels) const override;
  EngineComparison compareEngines(const ComparisonOptions &options) override;
  std::vector<Gradient> reverse(const Derivative &derivative, const Cotangent &cotangent,
                                std::span<const Direction> direction,
                                const RunOptions &run) override;
  void forward(const Derivative &derivative, Directions directions, Images images,
               const RunOptions &run) override;

private:
  static constexpr std::array numbers = {"psf_fwhm", "pixel_size"};

  /// The numbers that the map depends on: the width in pixels, and its derivatives with respect to
  /// the numbers.
  struct Width {
    double value;
    std::array<double, 2> slope;
    std::array<std::array<double, 2>, 2> curvature;
  };
  /// How a direction changes width and light.
  struct Change {
    std::vector<Direction> behind; ///< with the light
    std::array<double, 2> numbers{};
    double width = 0;
  };

  /// Whether the program of the experiment itself, with all stages, makes the same image. Not with
  /// panels of several sizes: the program has light from beyond the edges of the small ones. Nor
  /// with a list of pixels: what is beside each other there is not so on the detector. Nor with a
  /// quadrature, which is of the photons.
  bool isInProgram() const;
  /// Whether derivatives are of that program, with the interpreter.
  bool derivesWhole() const;
  Width width() const;
  Pixels spread(std::span<const double> photons, int order) const;
  Pixels collect(std::span<const double> light, int order) const; ///< the transpose
  PointSpreadFunction function(int order) const;
  /// Gives the last program the light of the photons.
  void light();
  /// The part of a direction that changes photons.
  std::vector<Direction> ofPhotons(std::span<const Direction> direction) const;
  /// `photons`: how they change; empty: not at all.
  Change changeAlong(std::span<const Direction> direction, std::span<const double> photons);
  /// The names among these that the photons depend on.
  Names namesBefore(const Names &parameters) const;
  /// The light, and those that the last program alone takes.
  Names namesBehind(const Names &parameters) const;

  ProgramSource all; ///< the program of all stages, for the interpreter
  std::optional<SpreadList> list;
  /// The program of the photons alone: no stages behind, a region or list with all light for the
  /// experiment's, and a mask of the pixels that exist.
  std::unique_ptr<ImageSource> before;
  ProgramSource behind;
  Pixels made; ///< photons; empty where the numbers have changed
};

} // namespace nanobragg
#endif
