// Backgrounds of images.
#include "nanobragg/Background.h"

#include "lib/Images/Background.h"
#include "runtime/python/bindings/PythonSimulator.h"

#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <tuple>
#include <utility>

namespace nanobragg::python {
namespace {

using FloatPixels = nb::ndarray<const float, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Mask = nb::ndarray<const bool, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

std::span<const std::uint8_t> bytesOf(const Mask &mask) {
  return {reinterpret_cast<const std::uint8_t *>(mask.data()), mask.size()};
}

std::tuple<NumpyArray<float>, NumpyArray<float>, NumpyArray<float>>
localBackground(const FloatPixels &photons, const Mask &usable, const Mask &kept, std::size_t half,
                bool counting) {
  const std::array arrays{makeArray<float>({photons.shape(0), photons.shape(1)}),
                          makeArray<float>({photons.shape(0), photons.shape(1)}),
                          makeArray<float>({photons.shape(0), photons.shape(1)})};
  const auto spanOf = [&](std::size_t i) { return std::span(arrays[i].data(), arrays[i].size()); };
  {
    nb::gil_scoped_release release;
    io::localBackground({photons.data(), photons.size()}, bytesOf(usable), bytesOf(kept),
                        photons.shape(1), half, counting, {spanOf(0), spanOf(1), spanOf(2)});
  }
  return {arrays[0], arrays[1], arrays[2]};
}

std::tuple<NumpyArray<double>, NumpyArray<double>, NumpyArray<double>>
ringSums(const FloatPixels &image, const Mask &mask, const FloatPixels &radii, float width) {
  io::RingSums sums = io::ringSums({image.data(), image.size()}, bytesOf(mask),
                                   {radii.data(), radii.size()}, width);
  const Shape rings{sums.number.size()};
  return {takeVector(std::move(sums.number), rings), takeVector(std::move(sums.sum), rings),
          takeVector(std::move(sums.squares), rings)};
}

NumpyArray<float> atRadii(const Doubles &rings, const FloatPixels &radii, float width) {
  NumpyArray<float> found = makeArray<float>({radii.shape(0), radii.shape(1)});
  io::atRadii(spanOf(rings), {radii.data(), radii.size()}, width, {found.data(), found.size()});
  return found;
}

NumpyArray<double> tileSums(const FloatPixels &image, const Mask &mask, std::size_t edge) {
  const auto tiles = [&](std::size_t axis) { return (image.shape(axis) + edge - 1) / edge; };
  NumpyArray<double> found = makeArray<double>({tiles(0), tiles(1)});
  io::tileSums({image.data(), image.size()}, bytesOf(mask), image.shape(1), edge,
               {found.data(), found.size()});
  return found;
}

NumpyArray<bool> dilated(const Mask &mask, std::size_t half) {
  NumpyArray<bool> found = makeArray<bool>({mask.shape(0), mask.shape(1)});
  nb::gil_scoped_release release;
  io::dilate(bytesOf(mask), mask.shape(1), half,
             {reinterpret_cast<std::uint8_t *>(found.data()), found.size()});
  return found;
}

} // namespace

void bindBackground(nb::module_ &module) {
  module.def(
      "extract_background",
      [](PythonSimulator &self, const Doubles &image, std::size_t bins) {
        std::vector<std::tuple<double, double, double, double>> rows;
        const auto points = self.run([&](Simulator &s, const RunOptions &) {
          return extractBackground(s, {image.data(), image.size()}, bins);
        });
        rows.reserve(points.size());
        for (const BackgroundPoint &p : points)
          rows.emplace_back(p.stol, p.factor, p.deviation, double(p.pixels));
        return rows;
      },
      nb::arg("simulator"), nb::arg("image"), nb::arg("bins"));
  module.def(
      "local_background", &localBackground, nb::arg("photons"), nb::arg("usable"), nb::arg("kept"),
      nb::arg("half"), nb::arg("counting"),
      "Mean and variance of the pixels without spots about each pixel, and how many they are.");
  module.def("ring_sums", &ringSums, nb::arg("image"), nb::arg("mask"), nb::arg("radii"),
             nb::arg("width"),
             "For each ring of a width the number, sum and sum of squares of its pixels.");
  module.def("at_radii", &atRadii, nb::arg("rings"), nb::arg("radii"), nb::arg("width"),
             "Interpolates numbers of rings of a width at radii of pixels.");
  module.def("tile_sums", &tileSums, nb::arg("image"), nb::arg("mask"), nb::arg("edge"),
             "Sums over squares of so many pixels a side.");
  module.def("dilated", &dilated, nb::arg("mask"), nb::arg("half"),
             "Whether a pixel of the square about each is set.");
}

} // namespace nanobragg::python
