// The response of a detector to photons: light that spreads, counts.
#include "lib/Experiment/PointSpreadWidth.h"
#include "lib/Noise/NoiseImage.h"
#include "lib/Noise/SimtbxNoise.h"
#include "lib/Response/PointSpread.h"
#include "runtime/python/bindings/PythonSimulator.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <random>
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

/// SplitMix64 (Steele, Lea & Flood, OOPSLA 2014): 64 random bits by three multiplications.
class SplitMix {
public:
  using result_type = std::uint64_t;
  explicit SplitMix(std::uint64_t seed) : state(seed) {}
  static constexpr result_type min() { return 0; }
  static constexpr result_type max() { return ~result_type(0); }
  result_type operator()() {
    result_type z = state += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }

private:
  std::uint64_t state;
};

/// A Poisson distribution of one mean, by a table over twelve random bits, which fits into the
/// first-level cache. Entries below 0 are intervals with a step of the distribution, in which
/// further bits decide.
class TabulatedPoisson {
public:
  static constexpr std::size_t bits = 12;

  /// below: the probability of each count and all smaller ones.
  explicit TabulatedPoisson(std::vector<double> probabilities) : below(std::move(probabilities)) {
    if (below.size() > 0x7fff)
      throw std::invalid_argument("the mean of a table of counts is too large");
    std::size_t low = 0; // the count where an interval begins
    for (std::size_t i = 0; i != counts.size(); ++i) {
      while (low != below.size() && below[low] <= edge(double(i)))
        ++low;
      const bool isStep = low != below.size() && below[low] < edge(double(i + 1));
      counts[i] = std::int16_t(isStep ? -1 : low);
    }
  }

  /// The count of twelve bits; below 0 where `between` has it.
  std::int32_t operator[](std::size_t entry) const { return counts[entry]; }
  std::int32_t between(std::size_t entry, SplitMix &random) const {
    const double place = edge(double(entry) + double(random() >> 11) * 0x1p-53);
    return std::int32_t(std::ranges::upper_bound(below, place) - below.begin());
  }

private:
  static double edge(double entry) { return entry / double(std::size_t(1) << bits); }

  std::vector<double> below;
  std::array<std::int16_t, std::size_t(1) << bits> counts{};
};

/// Poisson distributions of some means.
class PoissonTables {
public:
  explicit PoissonTables(std::vector<std::vector<double>> probabilities) {
    for (std::vector<double> &below : probabilities)
      tables.emplace_back(std::move(below));
    if (tables.empty())
      throw std::invalid_argument("there are no tables of counts");
  }

  std::size_t size() const { return tables.size(); }

  /// Draws a count for each pixel, of the table of this number; without numbers of the first one.
  void fill(std::span<std::int32_t> pixels, std::span<const std::uint16_t> numbers,
            SplitMix &random) const {
    const auto first = [&](std::size_t) -> const TabulatedPoisson & { return tables.front(); };
    const auto own = [&](std::size_t i) -> const TabulatedPoisson & { return tables[numbers[i]]; };
    if (numbers.empty())
      fill(pixels, random, first);
    else
      fill(pixels, random, own);
  }

private:
  static constexpr std::size_t atOnce = 64 / TabulatedPoisson::bits;

  template <typename TableOf>
  static void fill(std::span<std::int32_t> pixels, SplitMix &random, TableOf tableOf) {
    std::size_t i = 0;
    for (; i + atOnce <= pixels.size(); i += atOnce)
      draw<atOnce>(pixels, i, random, tableOf);
    for (; i != pixels.size(); ++i)
      draw<1>(pixels, i, random, tableOf);
  }

  template <std::size_t N, typename TableOf>
  static void draw(std::span<std::int32_t> pixels, std::size_t first, SplitMix &random,
                   TableOf tableOf) {
    const std::uint64_t word = random();
    constexpr std::uint64_t mask = (std::uint64_t(1) << TabulatedPoisson::bits) - 1;
    const auto entry = [&](std::size_t j) { return (word >> (TabulatedPoisson::bits * j)) & mask; };
    std::int32_t signs = 0;
    for (std::size_t j = 0; j != N; ++j)
      signs |= pixels[first + j] = tableOf(first + j)[entry(j)];
    for (std::size_t j = 0; signs < 0 && j != N; ++j)
      if (pixels[first + j] < 0)
        pixels[first + j] = tableOf(first + j).between(entry(j), random);
  }

  std::vector<TabulatedPoisson> tables;
};

/// Draws Poisson counts: a background of tabulated means, and the light of each pixel.
///
/// Pixels with less than half a photon share one Poisson number, whose photons then choose their
/// pixels: the same distribution, by fewer random numbers.
void drawCounts(const PoissonTables &tables, const Row<std::int32_t> &counts,
                const Row<const double> &light, const Row<const std::uint16_t> &numbers,
                std::uint64_t seed) {
  constexpr double limit = 0.5;
  constexpr std::size_t block = 64; // pixels whose dim light is summed together
  const std::span pixels{counts.data(), counts.size()};
  const std::span all{light.data(), light.size()};
  const std::span own{numbers.data(), numbers.size()};
  if (pixels.size() != all.size() || (!own.empty() && own.size() != all.size()))
    throw std::invalid_argument("counts and light are of different images");
  if (!own.empty() && std::ranges::max(own) >= tables.size())
    throw std::invalid_argument("a pixel has the number of no table of counts");
  nb::gil_scoped_release released;
  SplitMix random(seed);
  tables.fill(pixels, own, random);
  const auto dim = [](double photons) { return photons < limit ? std::max(photons, 0.0) : 0; };
  std::vector<double> ends; // sums of dim light up to the end of each block
  double sum = 0;
  for (std::size_t begin = 0; begin < all.size(); begin += block) {
    const auto lights = all.subspan(begin, std::min(block, all.size() - begin));
    // Eight numbers at a time are faster than one.
    std::array<double, 8> lanes{}, most{};
    std::size_t done = 0;
    for (; done + lanes.size() <= lights.size(); done += lanes.size())
      for (std::size_t j = 0; j != lanes.size(); ++j) {
        lanes[j] += dim(lights[done + j]);
        most[j] = std::max(most[j], lights[done + j]);
      }
    for (; done != lights.size(); ++done) {
      lanes[0] += dim(lights[done]);
      most[0] = std::max(most[0], lights[done]);
    }
    for (double lane : lanes)
      sum += lane;
    ends.push_back(sum);
    if (std::ranges::max(most) >= limit)
      for (std::size_t i = 0; i != lights.size(); ++i)
        if (lights[i] >= limit)
          pixels[begin + i] = std::int32_t(std::min<std::int64_t>(
              pixels[begin + i] + std::poisson_distribution<std::int64_t>(lights[i])(random),
              std::numeric_limits<std::int32_t>::max()));
  }
  std::uniform_real_distribution<double> place(0, sum);
  for (auto left = sum > 0 ? std::poisson_distribution<std::int64_t>(sum)(random) : 0; left > 0;
       --left) {
    const double at = place(random);
    const auto of = std::size_t(std::ranges::upper_bound(ends, at) - ends.begin());
    if (of == ends.size())
      continue;
    double rest = at - (of == 0 ? 0 : ends[of - 1]);
    std::size_t lit = all.size();
    for (std::size_t i = of * block; i != std::min(all.size(), (of + 1) * block); ++i) {
      const double here = dim(all[i]);
      if (here > 0)
        lit = i;
      rest -= here;
      if (rest < 0)
        break;
    }
    if (lit != all.size())
      ++pixels[lit];
  }
}

} // namespace

void bindResponse(nb::module_ &module) {
  nb::class_<PoissonTables>(module, "PoissonTables")
      .def(nb::init<std::vector<std::vector<double>>>(), nb::arg("probabilities"))
      .def("draw_counts", &drawCounts, nb::arg("counts"), nb::arg("light"), nb::arg("numbers"),
           nb::arg("seed"));
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
