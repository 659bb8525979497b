// A background table from an image.
#ifndef NANOBRAGG_BACKGROUND_H
#define NANOBRAGG_BACKGROUND_H

#include "nanobragg/Simulator.h"

#include <span>
#include <vector>

namespace nanobragg {

/// A point of a table of amorphous scattering.
struct BackgroundPoint {
  double stol = 0;      ///< sin(theta)/lambda, 1/A; mean of the pixels
  double factor = 0;    ///< electrons per molecule
  double deviation = 0; ///< standard deviation of a pixel's factor, electrons
  std::size_t pixels = 0;
};

/// The scattering of the first material of the simulator's experiment (-stol) with which the image
/// of the experiment is `photons`: docs/background.md. `photons` has an element for each pixel;
/// pixels that are not rendered, not finite or beyond the table are ignored. `bins` is the
/// number of parts of equal width into which the range of the pixels is divided; a part without
/// pixels has no point. Throws std::invalid_argument if the experiment has no background or the
/// image another size.
NB_CPP_API std::vector<BackgroundPoint> extractBackground(const Simulator &simulator,
                                                          std::span<const double> photons,
                                                          std::size_t bins = 100);

} // namespace nanobragg
#endif
