// The words of each enumeration, in the order of its enumerators.
#ifndef NANOBRAGG_EXPERIMENT_WORDS_H
#define NANOBRAGG_EXPERIMENT_WORDS_H

#include "lib/Experiment/Options.h"
#include "lib/Experiment/ProgramVariant.h"

#include <algorithm>
#include <array>
#include <span>

namespace nanobragg {

template <typename Choice>
struct Words;

#define WORDS(Choice, ...)                                                                         \
  template <>                                                                                      \
  struct Words<Choice> {                                                                           \
    static constexpr const char *all[] = {__VA_ARGS__};                                            \
  };

WORDS(bool, "no", "yes")
WORDS(StructureFactors, "constant", "nearest", "tricubic", "channels", "between_channels",
      "anomalous")
WORDS(CellSource, "cell", "matrix", "cell_and_matrix")
WORDS(Rule, "right", "c")
WORDS(Sources, "generated", "listed")
WORDS(Divergence, "uniform", "normal")
WORDS(Bandwidth, "no", "yes", "spectrum")
WORDS(SpectrumBetween, "lines", "linear")
WORDS(Pivot, "beam", "sample")
WORDS(DistanceInput, "distance", "close_distance")
WORDS(Curvature, "flat", "right", "c")
WORDS(SolidAngle, "pixel", "point")
WORDS(Evaluation, "none", "once", "each")
WORDS(Capture, "none", "sum", "last", "each")
WORDS(Water, "none", "right", "c")
WORDS(Mosaicity, "ball", "ellipsoid", "crystal_ball", "none")
WORDS(Averaging, "sampled", "closed", "draws", "quadrature", "reflections", "spots")
WORDS(PointSpread, "none", "gauss", "fiber")
WORDS(ImageType, "f32", "f64")
WORDS(Convention, "mosflm", "denzo", "adxv", "xds", "dials", "custom")

#undef WORDS

template <>
struct Words<CrystalShape> {
  static constexpr auto all = [] {
    std::array<const char *, std::size(crystalShapes)> words{};
    std::ranges::transform(crystalShapes, words.begin(), &CrystalShapeRow::word);
    return words;
  }();
};

template <typename Choice>
inline constexpr std::span<const char *const> wordsOf = Words<Choice>::all;

} // namespace nanobragg
#endif
