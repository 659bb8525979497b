// Images with point spread.
//
// A kernel computes each pixel by itself, and so none spreads light. Since spreading is linear,
// what a kernel makes of photons is enough: the image is G K I with I the photons, K the spread and
// G the gains; the cotangent of the photons is K' G g, which the photons' own program takes from
// there; and by the width and the gain derivatives are sums over pixels
// (docs/rationale/detector-response.md).
#ifndef NANOBRAGG_SIMULATOR_SPREADIMAGE_H
#define NANOBRAGG_SIMULATOR_SPREADIMAGE_H

#include "nanobragg/Simulator.h"

#include "lib/Experiment/Experiment.h"
#include "lib/Experiment/PixelList.h"
#include "lib/Response/PointSpread.h"
#include "runtime/simulator/SpreadList.h"

#include <optional>

namespace nanobragg {

class SpreadImage {
public:
  /// `experiment` and `listed`, which is that of options.pixels, outlive this. The experiment's
  /// numbers may change, and those of photons are to be given to photonSimulator() too.
  SpreadImage(const Experiment &experiment, const ListedPixels &listed,
              const SimulatorOptions &options);

  /// Of the photons alone: no gains, a region or list with all light that reaches the experiment's,
  /// and a mask of the pixels that exist.
  Simulator &photonSimulator() { return simulator; }
  static bool isOfPhotons(std::string_view parameter);

  /// 1 for each pixel that is in the image or list.
  void setRendered(std::span<const std::uint8_t> pixels) { rendered = pixels; }

  /// Whether the program of the experiment itself, with its nb.point_spread, makes the same image.
  /// Not with panels of several sizes: the program has light from beyond the edges of the small
  /// ones. Nor with a list of pixels: what is beside each other there is not so on the detector.
  static bool isInProgram(const Experiment &experiment);

  /// With instruments the interpreter makes the photons.
  RunResult render(std::span<double> image, const RunOptions &run,
                   const Instruments *look = nullptr);
  RunResult render(std::span<float> image, const RunOptions &run,
                   const Instruments *look = nullptr);
  /// Of the last image or derivative.
  std::span<const double> photons();
  /// The last image was made elsewhere: its photons are rendered when they are asked for.
  void forgetPhotons() { light.clear(); }

  using Names = std::vector<std::string>;
  std::vector<Gradient> gradient(const Names &parameters, std::span<const double> cotangent);
  std::vector<DerivativeImage> jacobian(const Names &parameters);
  std::vector<double> jvp(const Names &parameters, std::span<const Direction> direction);
  std::vector<Gradient> hvp(const Names &parameters, std::span<const Direction> direction,
                            std::span<const double> cotangent);

private:
  using Pixels = std::vector<double>;
  /// Changes of what the response depends on.
  struct Change {
    double gain = 0, fwhm = 0, pixelSize = 0;
  };

  double width() const;
  Change changeOf(std::span<const Direction> direction) const;
  double changeOfWidth(const Change &change) const;
  PointSpreadFunction function(int order) const;
  std::size_t pixels() const; ///< of the image or list
  /// From photons to pixels.
  Pixels spread(std::span<const double> light, int order) const;
  /// The transpose.
  Pixels collect(std::span<const double> pixels, int order) const;
  Pixels gained(std::span<const double> image, double gain) const;
  void renderPhotons(const RunOptions &run = {});
  Pixels respond(std::span<const double> light, int order, double gain) const;

  const Experiment &experiment;
  const ListedPixels &listed;
  int threads;
  std::optional<SpreadList> list;
  Simulator simulator;
  std::span<const std::uint8_t> rendered;
  Pixels light;
};

} // namespace nanobragg
#endif
