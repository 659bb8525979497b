// The map of where each pixel's light is from: --write-map.
#ifndef NANOBRAGG_NBSIM_LIGHTMAP_H
#define NANOBRAGG_NBSIM_LIGHTMAP_H

#include "lib/Choose/Defaults.h"
#include "lib/Files/OutputFile.h"

#include "tools/shared/RunSetup.h"

#include <vector>

namespace nanobragg {

/// Five images, one behind another: h, k and l (fractions, at the pixel's centre; rounded they are
/// the reflection), the mean wavelength of the Bragg light in A, and the partiality: the mean of
/// the squared lattice factor over its peak, from 0 to 1.
class LightMap {
public:
  /// Takes a crystal's light, where no crystal before was brighter. `line`: the image's command
  /// line. `weight`: by which the crystal's photons are multiplied. With the run's kernels and
  /// threads it renders the crystal's light, its lattice factors, their peaks (of one domain) and,
  /// with several wavelengths, weighted light; with a continuous spectrum, light and a table.
  void add(const CompleteExperiment &complete, const CommandLine &line, double weight,
           const RunSetup &setup, KernelProvider &kernels);

  /// As an array of NumPy, of shape (5, slow, fast), with several panels (5, panel, slow, fast).
  void write(io::OutputFile &out) const;

private:
  std::vector<std::size_t> shape;
  std::vector<float> values;
  std::vector<float> brightest; ///< photons of the crystal whose values a pixel has
};

} // namespace nanobragg
#endif
