// Images of a program with a stage that needs the neighbours of a pixel.
//
// A kernel computes each pixel by itself. So there are two programs: that of the photons, and that
// of all stages behind, which is given the light that reaches each pixel. Both are programs like
// any other, with derivatives of their own. What is between them is a linear map of images, and the
// chain rule is all that is left to do here (docs/rationale/detector-response.md).
#ifndef NANOBRAGG_SIMULATOR_RESPONSECHAIN_H
#define NANOBRAGG_SIMULATOR_RESPONSECHAIN_H

#include "lib/Experiment/Experiment.h"
#include "lib/Experiment/PixelList.h"
#include "lib/Response/PointSpread.h"
#include "runtime/simulator/DerivativeSource.h"
#include "runtime/simulator/SpreadList.h"

#include <array>
#include <optional>

namespace nanobragg {

class ResponseChain : public DerivativeSource {
public:
  /// `experiment` and `listed`, which is that of options.pixels, outlive this. The experiment's
  /// numbers may change, and are to be given to set() too.
  ResponseChain(const Experiment &experiment, const ListedPixels &listed,
                const SimulatorOptions &options);

  /// It computes the photons alone: no stages behind, a region or list with all light that reaches
  /// the experiment's, and a mask of the pixels that exist.
  Simulator &photonSimulator() { return before; }
  void set(std::string_view name, std::span<const double> values);
  void setStructureFactors(const nb_hkl_grid &grid);

  /// Whether the program of the experiment itself, with all stages, makes the same image. Not with
  /// panels of several sizes: the program has light from beyond the edges of the small ones. Nor
  /// with a list of pixels: what is beside each other there is not so on the detector. Nor with a
  /// quadrature, which is of the photons.
  static bool isInProgram(const Experiment &experiment);

  /// With instruments the interpreter makes the photons.
  template <typename T>
  RunResult render(std::span<T> image, const RunOptions &run, const Instruments *look = nullptr);
  /// The photons of the numbers as they are.
  std::span<const double> photons();

  std::vector<Gradient> gradient(const Names &parameters,
                                 std::span<const double> cotangent) override;
  std::vector<DerivativeImage> jacobian(const Names &parameters) override;
  void jvps(const Names &parameters, Directions directions, Images images) override;
  std::vector<Gradient> hvp(const Names &parameters, std::span<const Direction> direction,
                            std::span<const double> cotangent) override;

private:
  using Pixels = std::vector<double>;
  static constexpr std::array numbers = {"psf_fwhm", "pixel_size"};

  /// What the map depends on: the width in pixels, and its derivatives by the numbers.
  struct Width {
    double value;
    std::array<double, 2> slope;
    std::array<std::array<double, 2>, 2> curvature;
  };
  /// How a direction changes photons, width and light.
  struct Change {
    std::vector<Direction> ofPhotons, behind; ///< the second with the light
    Pixels photons;                           ///< empty: not at all
    std::array<double, 2> numbers;
    double width;
  };

  Width width() const;
  Pixels spread(std::span<const double> photons, int order) const;
  Pixels collect(std::span<const double> light, int order) const; ///< the transpose
  PointSpreadFunction function(int order) const;
  /// Gives the last program the light of the photons.
  void light();
  Change changeAlong(const Names &parameters, std::span<const Direction> direction);
  Change changeWith(std::span<const Direction> direction, Pixels photons);
  /// The change of the image, from that of its light and of what is behind it.
  Pixels tangent(const Names &parameters, const Change &change);
  /// The light, and those that the last program alone takes, with commas between.
  std::string namesBehind(const Names &parameters) const;
  bool hasNumbers(const Names &parameters) const;
  void addByNumbers(std::vector<Gradient> &gradients, const std::array<double, 2> &more) const;

  const Experiment &experiment;
  const ListedPixels &listed;
  int threads;
  std::optional<SpreadList> list;
  Simulator before, behind;
  Pixels made; ///< photons; empty where the numbers have changed
};

} // namespace nanobragg
#endif
