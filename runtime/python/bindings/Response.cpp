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
#include <array>
#include <cstdint>
#include <span>
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
    const std::span at{numbers.data(), numbers.size()}; // nanobind computes a size at every call
    std::int32_t *const to = entries.data();
    for (std::size_t i = 0; i != at.size(); ++i) {
      const std::int32_t entry = to[i] = of[at[i]];
      if (entry < 0)
        below.push_back(std::int64_t(i));
    }
  }
  NumpyArray<std::int64_t> places = makeArray<std::int64_t>({below.size()});
  std::ranges::copy(below, places.data());
  return places;
}

/// Pixels whose dim light is summed together.
constexpr std::size_t block = 64;

double dimLight(double light, double limit) { return light < limit ? std::max(light, 0.0) : 0; }

/// Places of pixels with at least this light, and sums of the light of all others up to the end of
/// each block of pixels.
nb::tuple brightPlaces(const Row<const double> &light, double limit) {
  const std::span all{light.data(), light.size()};
  std::vector<std::int64_t> bright;
  std::vector<double> sums;
  double sum = 0;
  for (std::size_t begin = 0; begin < all.size(); begin += block) {
    const auto pixels = all.subspan(begin, std::min(block, all.size() - begin));
    // Four numbers at a time are faster than one.
    std::array<double, 4> lanes{}, most{};
    std::size_t done = 0;
    for (; done + lanes.size() <= pixels.size(); done += lanes.size())
      for (std::size_t j = 0; j != lanes.size(); ++j) {
        const double photons = pixels[done + j];
        lanes[j] += dimLight(photons, limit);
        most[j] = std::max(most[j], photons);
      }
    for (; done != pixels.size(); ++done) {
      lanes[0] += dimLight(pixels[done], limit);
      most[0] = std::max(most[0], pixels[done]);
    }
    for (double lane : lanes)
      sum += lane;
    sums.push_back(sum);
    const bool areSomeBright = std::ranges::max(most) >= limit;
    for (std::size_t i = 0; areSomeBright && i != pixels.size(); ++i)
      if (pixels[i] >= limit)
        bright.push_back(std::int64_t(begin + i));
  }
  const std::size_t brights = bright.size(), blocks = sums.size();
  return nb::make_tuple(takeVector(std::move(bright), {brights}),
                        takeVector(std::move(sums), {blocks}));
}

/// Adds photons to the counts of pixels with less than this light. Each is at a place between 0 and
/// the last of `brightPlaces`' sums.
void addDim(const Row<std::int32_t> &counts, const Row<const double> &light, double limit,
            const Row<const double> &sums, const Row<const double> &photons) {
  const std::span all{light.data(), light.size()};
  const std::span ends{sums.data(), sums.size()};
  if (counts.size() != all.size() || ends.size() != (all.size() + block - 1) / block)
    throw std::invalid_argument("counts, light and sums are of different images");
  for (double place : std::span{photons.data(), photons.size()}) {
    const auto of = std::size_t(std::ranges::upper_bound(ends, place) - ends.begin());
    if (of == ends.size())
      continue;
    double left = place - (of == 0 ? 0 : ends[of - 1]);
    std::size_t lit = all.size();
    for (std::size_t i = of * block; i != std::min(all.size(), (of + 1) * block); ++i) {
      const double here = dimLight(all[i], limit);
      if (here > 0)
        lit = i;
      left -= here;
      if (left < 0)
        break;
    }
    if (lit != all.size())
      ++counts.data()[lit];
  }
}

} // namespace

void bindResponse(nb::module_ &module) {
  module.def("look_up", &lookUp, nb::arg("table"), nb::arg("numbers"), nb::arg("entries"));
  module.def("bright_places", &brightPlaces, nb::arg("light"), nb::arg("limit"));
  module.def("add_dim", &addDim, nb::arg("counts"), nb::arg("light"), nb::arg("limit"),
             nb::arg("sums"), nb::arg("photons"));
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
