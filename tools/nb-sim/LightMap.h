// What the light of each pixel is of: --write-map.
#ifndef NANOBRAGG_NBSIM_LIGHTMAP_H
#define NANOBRAGG_NBSIM_LIGHTMAP_H

#include "lib/Experiment/Defaults.h"
#include "lib/IO/DialsExperiment.h"
#include "lib/IO/OutputFile.h"

#include "tools/shared/RunSetup.h"

#include <functional>
#include <vector>

namespace nanobragg {

/// Five images, one behind another: h, k and l (fractions, at the pixel's centre; rounded they are
/// the reflection), the mean wavelength of the Bragg light in A, and the partiality: the mean of
/// the squared lattice factor over its peak, from 0 to 1.
class LightMap {
public:
  /// The image of an experiment, photons per pixel.
  using Render = std::function<std::vector<float>(const Experiment &)>;

  /// Takes a crystal's light, where no crystal before was brighter. `model`: simulatedExperiment()
  /// of it, without a scan. `weight`: by which its photons are multiplied. Renders two to four
  /// images.
  void add(const CompleteExperiment &complete, const io::DialsExperiment &model, double weight,
           const Render &render);

  /// As an array of NumPy, of shape (5, slow, fast), with several panels (5, panel, slow, fast).
  void write(io::OutputFile &out) const;

private:
  std::vector<std::size_t> shape;
  std::vector<float> values;
  std::vector<float> brightest; ///< photons of the crystal whose values a pixel has
};

/// The image of another experiment, with the run's kernels and threads.
std::vector<float> renderedOnce(const Experiment &experiment, const RunSetup &setup,
                                KernelProvider &kernels);

} // namespace nanobragg
#endif
