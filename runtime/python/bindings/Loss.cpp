// One number from an image.
#include "nanobragg/Loss.h"
#include "runtime/python/bindings/PythonSimulator.h"

#include <nanobind/stl/optional.h>

namespace nanobragg::python {
namespace {

std::vector<double> copyOf(const Doubles &array) {
  return {array.data(), array.data() + array.size()};
}

} // namespace

void bindLoss(nb::module_ &module) {
  nb::class_<Loss>(module, "Loss",
                   "A number from an image, a sum over its pixels. Pixels outside the region of "
                   "interest or masked contribute nothing.")
      .def_static("sum", &Loss::sum, "The sum of all photons.")
      .def_static(
          "linear", [](const Doubles &weights) { return Loss::linear(copyOf(weights)); },
          nb::arg("weights"),
          "sum(weights * image); weights in the image's shape. Any loss to first order, when they "
          "are its derivatives with respect to the pixels.")
      .def_static(
          "_chi_square",
          [](const Doubles &data, const Doubles &sigma, std::optional<Bytes> mask) {
            return Loss::chiSquare(
                copyOf(data), copyOf(sigma),
                mask ? std::vector<std::uint8_t>(mask->data(), mask->data() + mask->size())
                     : std::vector<std::uint8_t>());
          },
          nb::arg("data"), nb::arg("sigma"), nb::arg("mask").none())
      .def_static(
          "_likelihood",
          [](bool gaussian, const Doubles &data, const Doubles &background, double readOut,
             const Doubles &gain, std::optional<Bytes> mask) {
            Loss::Noise noise = {copyOf(background), readOut, copyOf(gain)};
            auto pixels = mask
                              ? std::vector<std::uint8_t>(mask->data(), mask->data() + mask->size())
                              : std::vector<std::uint8_t>();
            return gaussian ? Loss::gaussian(copyOf(data), std::move(noise), std::move(pixels))
                            : Loss::poisson(copyOf(data), std::move(noise), std::move(pixels));
          },
          nb::arg("gaussian"), nb::arg("data"), nb::arg("background"), nb::arg("readout_noise"),
          nb::arg("gain"), nb::arg("mask").none())
      .def_prop_ro("has_background", &Loss::hasBackground)
      .def_prop_ro("has_readout_noise", &Loss::hasReadOut);
}

} // namespace nanobragg::python
