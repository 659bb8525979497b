// Backgrounds of images.
#include "nanobragg/Background.h"

#include "lib/Images/LocalBackground.h"
#include "runtime/python/bindings/PythonSimulator.h"

#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <tuple>

namespace nanobragg::python {
namespace {

using Image = nb::ndarray<const float, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Mask = nb::ndarray<const bool, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

std::span<const std::uint8_t> bytesOf(const Mask &mask) {
  return {reinterpret_cast<const std::uint8_t *>(mask.data()), mask.size()};
}

std::tuple<NumpyArray<float>, NumpyArray<float>, NumpyArray<float>>
localBackground(const Image &photons, const Mask &usable, const Mask &kept, std::size_t half,
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
  module.def("dilated", &dilated, nb::arg("mask"), nb::arg("half"),
             "Whether a pixel of the square about each is set.");
}

} // namespace nanobragg::python
