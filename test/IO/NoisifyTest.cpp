// Against noisify, the C program's companion, which was run on the same photons: the bytes of its
// images as a digest, and what it said of overloads.
#include "lib/Noise/NoiseImage.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>

namespace nanobragg::io {
namespace {

constexpr std::int64_t width = 61, height = 47;

/// Photons that are exact in single precision, with three bright pixels: one inside, one at the
/// edge of a row and one in the last corner.
std::vector<float> photons() {
  std::vector<float> image(width * height);
  for (std::size_t i = 0; i != image.size(); ++i)
    image[i] = float((i * 7919) % 4096) * 0.0078125f;
  image[500] = 3000;
  image[width * height - 1] = 200000;
  image[width * 20 + 60] = 2e6;
  return image;
}

/// FNV-1a of the bytes.
template <typename T>
std::uint64_t digest(const std::vector<T> &pixels) {
  std::uint64_t hash = 0xcbf29ce484222325;
  const auto *bytes = reinterpret_cast<const unsigned char *>(pixels.data());
  for (std::size_t i = 0; i != pixels.size() * sizeof(T); ++i)
    hash = (hash ^ bytes[i]) * 0x100000001b3;
  return hash;
}

struct Case {
  const char *flags; ///< for noisify
  std::int64_t seed;
  double gain, offset;
  void (*set)(NoiseModel &);
  std::uint64_t digest;
  std::int64_t overloads;
};

const Case cases[] = {
    {"-seed 42", -42, 1, 40, [](NoiseModel &) {}, 0x311fb5bc7c94f249, 2},
    {"-seed 42 -flicker 0.02 -readout_noise 3", -42, 1, 40,
     [](NoiseModel &m) {
       m.flicker = 0.02;
       m.readOut = 3;
     },
     0x69d82d8ad74a31e1, 2},
    {"-seed 7 -calibration 0 -gain 7.5 -adc 10 -readout_noise 30 -calib_seed 99", -7, 7.5, 10,
     [](NoiseModel &m) {
       m.calibration = 0;
       m.calibrationSeed = -99;
       m.readOut = 30;
     },
     0x641749538b27d10c, 2},
    {"-seed 42 -bits 32 -gain 2.5", -42, 2.5, 40, [](NoiseModel &m) { m.bits = 32; },
     0xd8f229e64a8b22e0, 0},
    // Counts below zero wrap around.
    {"-seed 42 -calibration 0 -adc 1 -readout_noise 5", -42, 1, 1,
     [](NoiseModel &m) {
       m.calibration = 0;
       m.readOut = 5;
     },
     0x89a912232d01c0a4, 2},
    {"-seed 42 -psf gauss -psf_fwhm 150", -42, 1, 40,
     [](NoiseModel &m) {
       m.pointSpread = PointSpread::Gauss;
       m.psfWidth = float(150 / 1e6) / 0.1e-3;
     },
     0x813a10659405f78d, 9},
    {"-seed 42 -psf fiber -psf_fwhm 46 -readout_noise 3", -42, 1, 40,
     [](NoiseModel &m) {
       m.pointSpread = PointSpread::Fiber;
       m.psfWidth = float(46 / 1e6) / 0.1e-3;
       m.readOut = 3;
     },
     0xb797521555d730ce, 6},
    {"-seed 42 -psf fiber -psf_radius 3 -bits 32", -42, 1, 40,
     [](NoiseModel &m) {
       m.pointSpread = PointSpread::Fiber;
       m.psfWidth = float(46 / 1e6) / 0.1e-3;
       m.psfRadius = 3;
       m.bits = 32;
     },
     0xc064979516cb2496, 0},
};

TEST(NoisifyTest, SameBytes) {
  const std::vector<float> image = photons();
  for (const Case &c : cases) {
    NoiseModel model;
    model.generator = NoiseGenerator::Serial;
    model.order = DetectorOrder::Noisify;
    model.calibration = 0.03;
    c.set(model);
    Ran1 random;
    std::int64_t seed = c.seed;
    const NoiseImage noise =
        drawNoise(image, ImageRegion::whole(width, height), {c.gain, {}, false}, model, c.offset,
                  Rule::C, {random, seed});
    EXPECT_EQ(model.bits == 16 ? digest(noise.pixels) : digest(noise.wide), c.digest) << c.flags;
    EXPECT_EQ(noise.overloads, c.overloads) << c.flags;
  }
}

} // namespace
} // namespace nanobragg::io
