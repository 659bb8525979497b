// The response of a detector to photons: light that spreads, counts.
#include "lib/Experiment/PointSpreadWidth.h"
#include "lib/Noise/NoiseImage.h"
#include "lib/Noise/SimtbxNoise.h"
#include "lib/Noise/SimtbxSpread.h"
#include "lib/Response/PointSpread.h"
#include "runtime/python/bindings/PythonSimulator.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <vector>

namespace nanobragg::python {
namespace {

PointSpread kindOf(const std::string &name) {
  return name == "gauss"   ? PointSpread::Gauss
         : name == "fiber" ? PointSpread::Fiber
                           : PointSpread::None;
}

std::int64_t radiusOf(PointSpread kind, double width, std::int64_t radius) {
  if (kind == PointSpread::None || radius > 0)
    return radius;
  return defaultPointSpreadRadius(kind, width);
}

Shape shapeOf(const Doubles &image) { return {image.shape(0), image.shape(1), image.shape(2)}; }

NumpyArray<double> pointSpread(const Doubles &image, const std::string &kind, double width,
                               std::int64_t radius, int threads) {
  NumpyArray<double> result = makeArray<double>(shapeOf(image));
  const PointSpread spread = kindOf(kind);
  nb::gil_scoped_release released;
  PointSpreadFunction(spread, width, radiusOf(spread, width, radius), 0,
                      std::int64_t(std::max(image.shape(1), image.shape(2))))
      .apply(spanOf(image), std::int64_t(image.shape(1)), std::int64_t(image.shape(2)),
             {result.data(), result.size()}, threads);
  return result;
}

/// The numbers were checked in Python, where they have names.
NoiseModel modelOf(const nb::dict &how) {
  const auto number = [&](const char *name) { return nb::cast<double>(how[name]); };
  const auto whole = [&](const char *name) { return nb::cast<std::int64_t>(how[name]); };
  const auto word = [&](const char *name) { return nb::cast<std::string>(how[name]); };
  NoiseModel model;
  model.order = word("order") == "simtbx"    ? DetectorOrder::Simtbx
                : word("order") == "noisify" ? DetectorOrder::Noisify
                                             : DetectorOrder::Detector;
  model.flicker = number("flicker");
  model.calibration = number("calibration");
  model.calibrationSeed = -whole("calibration_seed"); // as -calib_seed
  model.readOut = number("readout_noise");
  model.deadPixels = number("dead_pixels");
  model.hotPixels = number("hot_pixels");
  model.shot = whole("shot");
  model.bits = int(whole("bits"));
  model.overload = nb::cast<std::optional<double>>(how["overload"]);
  model.pointSpread = kindOf(word("psf"));
  model.psfWidth = number("psf_width");
  model.psfRadius = radiusOf(model.pointSpread, model.psfWidth, whole("psf_radius"));
  return model;
}

nb::object counts(const Doubles &photons, const nb::dict &how, int threads) {
  const NoiseModel model = modelOf(how);
  const io::Gain gain{nb::cast<double>(how["gain"]), {}, false};
  const double offset = nb::cast<double>(how["offset"]);
  std::int64_t seed = -nb::cast<std::int64_t>(how["seed"]);
  io::NoiseImage drawn;
  {
    nb::gil_scoped_release released;
    const std::vector<float> image(photons.data(), photons.data() + photons.size());
    Ran1 unused;
    drawn = io::drawNoise(image,
                          io::ImageRegion::whole(std::int64_t(photons.shape(2)),
                                                 std::int64_t(photons.shape(1)),
                                                 std::int64_t(photons.shape(0))),
                          gain, model, offset, Rule::Right, {unused, seed}, threads);
  }
  if (model.bits == 16)
    return nb::cast(takeVector(std::move(drawn.pixels), shapeOf(photons)));
  return nb::cast(takeVector(std::move(drawn.wide), shapeOf(photons)));
}

/// Changes the image; returns the seed after the draws.
std::int64_t simtbxNoise(nb::ndarray<double, nb::ndim<2>, nb::c_contig, nb::device::cpu> image,
                         const Bytes &drawn, std::int64_t seed, double flicker, double calibration,
                         std::int64_t calibrationSeed, double gain, double offset,
                         double readOutNoise, const std::string &psf, double psfWidth,
                         std::int64_t psfRadius, int threads) {
  NoiseModel model;
  model.flicker = flicker;
  model.calibration = calibration;
  model.calibrationSeed = calibrationSeed;
  model.readOut = readOutNoise;
  model.pointSpread = kindOf(psf);
  model.psfWidth = psfWidth;
  model.psfRadius = psfRadius;
  nb::gil_scoped_release released;
  io::drawAsSimtbx({image.data(), image.size()}, std::int64_t(image.shape(1)),
                   {drawn.data(), drawn.size()}, model, gain, offset, seed, threads);
  return seed;
}

template <typename T>
using Row = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

/// The entries of a table at 16-bit numbers. Returns the places of entries below 0.
NumpyArray<std::int64_t> lookUp(const Row<const std::int32_t> &table,
                                const Row<const std::uint16_t> &numbers,
                                const Row<std::int32_t> &entries) {
  if (table.size() != 65536 || numbers.size() != entries.size())
    throw std::invalid_argument("a table has 65536 entries, and there is a number for each result");
  std::vector<std::int64_t> below;
  {
    nb::gil_scoped_release released;
    const std::int32_t *const of = table.data();
    for (std::size_t i = 0; i != numbers.size(); ++i) {
      const std::int32_t entry = entries.data()[i] = of[numbers.data()[i]];
      if (entry < 0)
        below.push_back(std::int64_t(i));
    }
  }
  NumpyArray<std::int64_t> places = makeArray<std::int64_t>({below.size()});
  std::ranges::copy(below, places.data());
  return places;
}

} // namespace

void bindResponse(nb::module_ &module) {
  module.def("look_up", &lookUp, nb::arg("table"), nb::arg("numbers"), nb::arg("entries"));
  module.def("point_spread", &pointSpread, nb::arg("image"), nb::arg("kind"), nb::arg("width"),
             nb::arg("radius"), nb::arg("threads"));
  module.def("counts", &counts, nb::arg("photons"), nb::arg("how"), nb::arg("threads"));
  module.def("simtbx_noise", &simtbxNoise, nb::arg("image"), nb::arg("drawn"), nb::arg("seed"),
             nb::kw_only(), nb::arg("flicker"), nb::arg("calibration"), nb::arg("calibration_seed"),
             nb::arg("gain"), nb::arg("offset"), nb::arg("readout_noise"), nb::arg("psf"),
             nb::arg("psf_width"), nb::arg("psf_radius"), nb::arg("threads"));
  module.def(
      "simtbx_spread",
      [](nb::ndarray<double, nb::ndim<2>, nb::c_contig, nb::device::cpu> image,
         const std::string &kind, double width, std::int64_t radius, int threads) {
        nb::gil_scoped_release released;
        io::spreadAsSimtbx({image.data(), image.size()}, std::int64_t(image.shape(1)), kindOf(kind),
                           width, radius, threads);
      },
      nb::arg("image"), nb::arg("kind"), nb::arg("width"), nb::arg("radius"), nb::arg("threads"),
      "Spreads the light of an image in its place.");
}

} // namespace nanobragg::python
