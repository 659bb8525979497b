#include "lib/Noise/NoiseImage.h"

#include "lib/Noise/CounterNoise.h"
#include "lib/Noise/NoisifySpread.h"
#include "lib/Parallel/ThreadTeam.h"
#include "lib/Parallel/Vectorized.h"
#include "lib/Response/PointSpread.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <stdexcept>

#ifdef __clang__
#pragma clang fp contract(off)
#endif

namespace nanobragg::io {
namespace {

/// Random numbers of pixels in a row.
class Deviates {
public:
  virtual ~Deviates() = default;
  /// Poisson's law about each of them, in their place.
  virtual void poisson(std::size_t first, std::span<double> means) = 0;
  virtual void normal(Purpose purpose, std::size_t first, std::span<double> out) = 0;
  /// The deviate of a shot as a whole.
  virtual double normalOfShot(Purpose purpose) = 0;
};

class PhiloxDeviates : public Deviates {
public:
  PhiloxDeviates(std::int64_t seed, std::int64_t shot, std::int64_t calibrationSeed)
      : seed(seed), shot(shot), calibrationSeed(calibrationSeed) {}
  void poisson(std::size_t first, std::span<double> means) override {
    CounterNoise(seed, shot, Purpose::Photons).poisson(first, means, means);
  }
  void normal(Purpose purpose, std::size_t first, std::span<double> out) override {
    of(purpose).normal(first, out);
  }
  double normalOfShot(Purpose purpose) override {
    // Pixels are numbered from 0.
    return normalQuantile(of(purpose).uniform(std::uint64_t(-1)));
  }

private:
  CounterNoise of(Purpose purpose) const {
    return purpose == Purpose::Calibration ? CounterNoise(calibrationSeed, 0, purpose)
                                           : CounterNoise(seed, shot, purpose);
  }
  std::int64_t seed, shot, calibrationSeed;
};

/// The C programs' one stream, from which two seeds draw. To be asked for one pixel at a time.
class SerialDeviates : public Deviates {
public:
  SerialDeviates(Ran1 &random, std::int64_t &seed, std::int64_t calibrationSeed)
      : random(random), seed(seed), calibrationSeed(calibrationSeed) {}
  void poisson(std::size_t, std::span<double> means) override {
    for (double &mean : means)
      mean = random.poisson(float(mean), seed);
  }
  void normal(Purpose purpose, std::size_t, std::span<double> out) override {
    for (double &deviate : out)
      deviate = random.gaussian(purpose == Purpose::Calibration ? calibrationSeed : seed);
  }
  double normalOfShot(Purpose) override { return random.gaussian(seed); }

private:
  Ran1 &random;
  std::int64_t &seed;
  std::int64_t calibrationSeed;
};

constexpr std::size_t longestPiece = 1024;
using Buffer = std::array<double, longestPiece>;

/// Counts between 0 and the largest, of which there are more than that in as many pixels as it
/// returns. NaN becomes 0.
NB_VECTORIZED
std::int64_t convertCounts(const double *__restrict counts, std::size_t size, double largest,
                           std::uint16_t *__restrict pixels) {
  std::int64_t overloads = 0;
  for (std::size_t i = 0; i != size; ++i) {
    overloads += counts[i] > largest;
    const double below = counts[i] > largest ? largest : counts[i];
    pixels[i] = std::uint16_t(std::int32_t(below > 0 ? below : 0));
  }
  return overloads;
}

/// The parts of a detector, each for some pixels in a row.
class Chain {
public:
  Chain(std::span<const float> image, const Gain &gain, const NoiseModel &model, double adcOffset,
        Rule belowZero, Deviates &deviates, NoiseImage &result)
      : image(image), gain(gain), model(model), adcOffset(adcOffset), belowZero(belowZero),
        deviates(deviates), result(result), flickerPerPixel(model.order != DetectorOrder::Detector),
        badPixels(model.calibrationSeed, 0, Purpose::BadPixels) {
    if (model.flicker > 0 && !flickerPerPixel)
      ofShot = 1 + model.flicker * deviates.normalOfShot(Purpose::Flicker);
  }

  /// The photons that are counted.
  void expose(std::size_t first, std::span<double> photons) const {
    for (std::size_t i = 0; i != photons.size(); ++i)
      photons[i] = ofShot * expected(first + i);
    if (model.flicker > 0 && flickerPerPixel)
      vary(Purpose::Flicker, model.flicker, first, photons);
    if (model.order == DetectorOrder::Noisify)
      vary(Purpose::Calibration, model.calibration, first, photons);
    deviates.poisson(first, photons);
    if (model.order == DetectorOrder::Simtbx)
      vary(Purpose::Calibration, model.calibration, first, photons);
  }

  /// Their counts. Returns how many are too large.
  std::int64_t readOut(std::size_t first, std::span<double> photons) const {
    if (model.order == DetectorOrder::Detector)
      vary(Purpose::Calibration, model.calibration, first, photons);
    const std::size_t size = photons.size();
    const bool anyBad = model.deadPixels > 0 || model.hotPixels > 0;
    Buffer counts, noise, bad;
    for (std::size_t i = 0; i != size; ++i)
      counts[i] = photons[i] * gain.of(first + i);
    for (std::size_t i = 0; anyBad && i != size; ++i) {
      bad[i] = badPixels.uniform(first + i);
      if (bad[i] < model.deadPixels)
        counts[i] = 0;
    }
    for (std::size_t i = 0; i != size; ++i)
      counts[i] += adcOffset;
    if (model.readOut > 0) {
      deviates.normal(Purpose::ReadOut, first, std::span(noise).first(size));
      for (std::size_t i = 0; i != size; ++i)
        counts[i] += model.readOut * noise[i];
    }
    for (std::size_t i = 0; anyBad && i != size; ++i)
      if (bad[i] >= model.deadPixels && bad[i] < model.deadPixels + model.hotPixels)
        counts[i] = model.largestCount();
    if (model.bits == 16 && belowZero == Rule::Right)
      return convertCounts(counts.data(), size, model.largestCount(), &result.pixels[first]);
    std::int64_t overloads = 0;
    for (std::size_t i = 0; i != size; ++i) {
      overloads += counts[i] > model.largestCount();
      store(first + i, std::min(counts[i], model.largestCount()));
    }
    return overloads;
  }

private:
  double expected(std::size_t pixel) const {
    if (!gain.inImage)
      return image[pixel];
    const double perPhoton = gain.of(pixel);
    return perPhoton > 0 ? image[pixel] / perPhoton : 0;
  }

  void vary(Purpose purpose, double fraction, std::size_t first, std::span<double> photons) const {
    if (!(fraction > 0))
      return;
    Buffer deviate;
    deviates.normal(purpose, first, std::span(deviate).first(photons.size()));
    for (std::size_t i = 0; i != photons.size(); ++i)
      photons[i] *= 1 + fraction * deviate[i];
  }

  void store(std::size_t pixel, double counts) const {
    if (std::isnan(counts) || (counts < 0 && belowZero == Rule::Right))
      counts = 0;
    // Through a wide integer, which makes the wrap-around below zero defined.
    constexpr double widest = 9e18;
    const auto whole = std::int64_t(std::max(counts, -widest));
    if (model.bits == 16)
      result.pixels[pixel] = std::uint16_t(whole);
    else
      result.wide[pixel] = std::uint32_t(whole);
  }

  std::span<const float> image;
  const Gain &gain;
  const NoiseModel &model;
  double adcOffset;
  Rule belowZero;
  Deviates &deviates;
  NoiseImage &result;
  bool flickerPerPixel;
  CounterNoise badPixels;
  double ofShot = 1;
};

/// Pixels of a row of the region, at most `longestPiece`, of all rows in their order.
class Pieces {
public:
  Pieces(const ImageRegion &region, std::size_t length)
      : region(region), length(std::int64_t(length)),
        perRow((region.pixelsOfRow() + this->length - 1) / this->length) {}
  std::int64_t size() const { return region.rows() * perRow; }
  std::size_t first(std::int64_t i) const {
    return region.beginOfRow(i / perRow) + std::size_t(i % perRow * length);
  }
  std::size_t count(std::int64_t i) const {
    return std::size_t(std::min(length, region.pixelsOfRow() - i % perRow * length));
  }

private:
  const ImageRegion &region;
  std::int64_t length, perRow;
};

struct Part {
  double photons = 0;
  std::int64_t overloads = 0;
};

/// work(piece, part) for all pieces; the parts are added in their order.
template <typename Work>
void forAll(const Pieces &pieces, int threads, NoiseImage &result, const Work &work) {
  constexpr std::int64_t perPart = 64;
  std::vector<Part> parts(std::size_t((pieces.size() + perPart - 1) / perPart));
  ThreadTeam(parts.size() > 1 ? threadsOf(threads) : 1)
      .forEach(std::int64_t(parts.size()), [&](std::int64_t p, int) {
        Part part;
        const std::int64_t end = std::min(pieces.size(), (p + 1) * perPart);
        for (std::int64_t i = p * perPart; i != end; ++i)
          work(i, part);
        parts[std::size_t(p)] = part;
      });
  for (const Part &part : parts) {
    result.photons += part.photons;
    result.overloads += part.overloads;
  }
}

double sumOf(std::span<const double> photons) {
  double sum = 0;
  for (double p : photons)
    sum += p;
  return sum;
}

void spread(std::vector<double> &photons, const ImageRegion &region, const NoiseModel &model,
            int threads) {
  if (model.pointSpread == PointSpread::None)
    return;
  if (model.order != DetectorOrder::Noisify) {
    const std::vector<double> before = photons;
    PointSpreadFunction(model.pointSpread, model.psfWidth, model.psfRadius, 0,
                        std::max(region.slowPixels, region.fastPixels))
        .apply(before, region.slowPixels, region.fastPixels, photons, threads);
    return;
  }
  const auto panel = std::size_t(region.slowPixels * region.fastPixels);
  for (std::size_t i = 0; i < photons.size(); i += panel)
    spreadAsNoisify(std::span(photons).subspan(i, panel), region.slowPixels, region.fastPixels,
                    model.pointSpread, model.psfWidth, model.psfRadius);
}

/// The region and all pixels around it whose light reaches it.
ImageRegion enlarged(ImageRegion region, std::int64_t radius) {
  region.fastMin = std::max<std::int64_t>(0, region.fastBegin() - radius);
  region.fastMax = std::min(region.fastPixels, region.fastEnd() + radius) - 1;
  region.slowMin = std::max<std::int64_t>(0, region.slowBegin() - radius);
  region.slowMax = std::min(region.slowPixels, region.slowEnd() + radius) - 1;
  return region;
}

} // namespace

NoiseImage drawNoise(std::span<const float> image, const ImageRegion &wanted, const Gain &gain,
                     const NoiseModel &model, double adcOffset, Rule belowZero, NoiseSource source,
                     int threads) {
  if (image.size() != wanted.pixelCount())
    throw std::invalid_argument("the image does not have the region's size");
  const ImageRegion region =
      model.pointSpread == PointSpread::None ? wanted : enlarged(wanted, model.psfRadius);
  NoiseImage result;
  if (model.bits == 16)
    result.pixels.resize(image.size());
  else
    result.wide.resize(image.size());
  const bool serial = model.generator == NoiseGenerator::Serial;
  SerialDeviates ofC(source.random, source.seed, model.calibrationSeed);
  PhiloxDeviates byPlace(-source.seed, model.shot, model.calibrationSeed);
  const Chain chain(image, gain, model, adcOffset, belowZero,
                    serial ? static_cast<Deviates &>(ofC) : byPlace, result);

  const Pieces pieces(region, serial ? 1 : longestPiece), kept(wanted, serial ? 1 : longestPiece);
  const int team = serial ? 1 : threads;
  if (!serial && model.pointSpread == PointSpread::None) {
    forAll(pieces, team, result, [&](std::int64_t i, Part &part) {
      Buffer buffer;
      const std::span photons = std::span(buffer).first(pieces.count(i));
      chain.expose(pieces.first(i), photons);
      part.photons += sumOf(photons);
      part.overloads += chain.readOut(pieces.first(i), photons);
    });
    return result;
  }
  // All photons, then all of the read-out: as the C programs draw from their one stream, and since
  // light spreads in between.
  std::vector<double> photons(image.size());
  const auto piece = [&](const Pieces &of, std::int64_t i) {
    return std::span(photons).subspan(of.first(i), of.count(i));
  };
  forAll(pieces, team, result, [&](std::int64_t i, Part &part) {
    chain.expose(pieces.first(i), piece(pieces, i));
    part.photons += sumOf(piece(pieces, i));
  });
  spread(photons, region, model, threads);
  forAll(kept, team, result, [&](std::int64_t i, Part &part) {
    part.overloads += chain.readOut(kept.first(i), piece(kept, i));
  });
  return result;
}

std::vector<std::int32_t> drawCounts(std::span<const float> image, const ImageRegion &region,
                                     const Gain &gain, NoiseModel model, NoiseSource source,
                                     int threads) {
  model.bits = 32;
  const NoiseImage noise = drawNoise(image, region, gain, model, 0, Rule::Right, source, threads);
  return {noise.wide.begin(), noise.wide.end()};
}

std::vector<std::int32_t> roundCounts(std::span<const float> image) {
  std::vector<std::int32_t> counts(image.size());
  std::ranges::transform(image, counts.begin(), [](float pixel) {
    const double rounded = std::floor(double(pixel) + 0.5);
    return std::isnan(rounded) ? 0 : std::int32_t(std::clamp(rounded, 0.0, 2147483647.0));
  });
  return counts;
}

} // namespace nanobragg::io
