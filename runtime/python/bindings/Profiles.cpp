// Profiles of spots on the pixels of an image.
#include "lib/Spots/PixelParts.h"
#include "runtime/python/bindings/PythonSimulator.h"

#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>
#include <vector>

namespace nanobragg::python {
namespace {

using Numbers = nb::ndarray<const std::int32_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

/// spots: rows of fast, slow, and the covariance as NormalSpot has it.
std::tuple<NumpyArray<std::int32_t>, NumpyArray<std::int32_t>, NumpyArray<double>>
spotProfiles(const Doubles &spots, const Indices &half, const Numbers &numbers, double least) {
  std::vector<std::int32_t> pixel, of;
  std::vector<double> part, square;
  const auto slows = std::ptrdiff_t(numbers.shape(0)), fasts = std::ptrdiff_t(numbers.shape(1));
  for (std::size_t i = 0; i != half.size(); ++i) {
    const double *row = spots.data() + 5 * i;
    const auto reach = std::ptrdiff_t(half.data()[i]), edge = 2 * reach + 1;
    square.resize(std::size_t(edge * edge));
    pixelParts({row[0], row[1], row[2], row[3], row[4]}, std::size_t(reach), square);
    const auto slow = std::ptrdiff_t(std::floor(row[1])) - reach,
               fast = std::ptrdiff_t(std::floor(row[0])) - reach;
    for (std::ptrdiff_t s = std::max<std::ptrdiff_t>(-slow, 0); s < std::min(edge, slows - slow);
         ++s)
      for (std::ptrdiff_t f = std::max<std::ptrdiff_t>(-fast, 0); f < std::min(edge, fasts - fast);
           ++f) {
        const std::int32_t number = numbers.data()[(slow + s) * fasts + fast + f];
        const double light = square[std::size_t(s * edge + f)];
        if (number < 0 || light <= least)
          continue;
        pixel.push_back(number);
        of.push_back(std::int32_t(i));
        part.push_back(light);
      }
  }
  const Shape found{pixel.size()};
  return {takeVector(std::move(pixel), found), takeVector(std::move(of), found),
          takeVector(std::move(part), found)};
}

} // namespace

void bindProfiles(nb::module_ &module) {
  module.def("spot_profiles", &spotProfiles, nb::arg("spots"), nb::arg("half"), nb::arg("numbers"),
             nb::arg("least"),
             "Numbers of pixels, rows of spots, and the parts of their light there above `least`.");
}

} // namespace nanobragg::python
