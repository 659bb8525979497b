#include "lib/Spots/Prediction.h"

#include "lib/Experiment/VectorAlgebra.h"
#include "lib/Spots/Panels.h"
#include "lib/Spots/Summation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <set>
#include <stdexcept>
#include <utility>

namespace nanobragg {
namespace {

io::DialsExperiment experimentOf(double width) {
  io::DialsExperiment e;
  io::DialsPanel p;
  p.origin = {-50, 50, -100};
  p.fast = {1, 0, 0};
  p.slow = {0, -1, 0};
  p.pixels = {1000, 1000};
  p.pixelSize = {0.1, 0.1};
  e.panels = {p};
  e.crystal.emplace();
  e.crystal->real = {Vec3{40, 3, 5}, Vec3{-4, 50, 2}, Vec3{1, -7, 61}};
  if (width > 0) {
    e.goniometer.emplace();
    e.scan.emplace();
    e.scan->start = 10;
    e.scan->width = width;
  }
  return e;
}

PredictionLimits limitsOf(double node = 0) {
  return {.size = {.node = node}, .shines = [](const auto &) { return true; }};
}

Vec3 nodeOf(const io::DialsExperiment &e, const Spot &s) {
  const auto stars = io::reciprocalOf(e.crystal->real);
  Vec3 q{};
  for (int i = 0; i < 3; ++i)
    q = sum(q, scaled(stars[i], s.hkl[i]));
  return e.scan ? rotatedAbout(e.goniometer->axis, s.phi, q) : q;
}

TEST(PredictionTest, NodesOfASpectrumHaveTheWavelengthsThatTheyNeed) {
  io::DialsExperiment e = experimentOf(0);
  const std::array<double, 2> ends{0.95, 1.3};
  e.beam.wavelength = ends[0];
  PredictionLimits limits = limitsOf();
  limits.spectrum = ends;
  std::set<std::array<std::int32_t, 3>> found;
  for (const Spot &s : predictSpots(e, limits)) {
    found.insert(s.hkl);
    EXPECT_THAT(s.wavelength, testing::AllOf(testing::Ge(ends[0]), testing::Le(ends[1])));
    const Vec3 ray = sum({0, 0, -1 / s.wavelength}, nodeOf(e, s));
    EXPECT_NEAR(length(ray), 1 / s.wavelength, 1e-9);
    EXPECT_LT(length(difference(ray, s.ray)), 1e-9);
    EXPECT_NEAR(s.pixel[0], (50 - 100 * ray[0] / ray[2]) / 0.1, 1e-6);
  }
  // All of them: each node by itself, and those only.
  std::size_t seen = 0;
  for (std::int32_t h = -40; h <= 40; ++h)
    for (std::int32_t k = -50; k <= 50; ++k)
      for (std::int32_t l = -60; l <= 60; ++l) {
        limits.nodes = {{{h, k, l}}};
        const bool is = (h || k || l) && !predictSpots(e, limits).empty();
        Spot s;
        s.hkl = {h, k, l};
        const Vec3 q = nodeOf(e, s);
        const double wavelength = 2 * q[2] / dot(q, q);
        if (is && wavelength >= ends[0] && wavelength <= ends[1]) {
          ++seen;
          EXPECT_EQ(found.count(s.hkl), 1u) << h << ' ' << k << ' ' << l;
        }
      }
  EXPECT_EQ(seen, found.size());
  EXPECT_GT(seen, 1000u);
}

TEST(PredictionTest, NodesCrossTheSphereWhereTheRaySays) {
  const io::DialsExperiment e = experimentOf(2);
  const std::vector<Spot> spots = predictSpots(e, limitsOf());
  ASSERT_GT(spots.size(), 100u);
  for (const Spot &s : spots) {
    EXPECT_NEAR(length(s.ray), 1 / e.beam.wavelength, 1e-12);
    const Vec3 q = nodeOf(e, s);
    EXPECT_LT(length(difference(sum({0, 0, -1}, q), s.ray)), 1e-12);
    EXPECT_GE(s.phi, 10 * M_PI / 180);
    EXPECT_LE(s.phi, 12 * M_PI / 180);
    EXPECT_NEAR(s.pixel[0], (50 - 100 * s.ray[0] / s.ray[2]) / 0.1, 1e-9);
    // Turned a little farther the node is inside of the sphere, if it enters.
    const Vec3 farther = sum({0, 0, -1}, rotatedAbout({1, 0, 0}, 1e-6, q));
    EXPECT_EQ(s.entering, length(farther) < 1);
  }
}

/// All nodes one by one, by bisection along the rotation.
TEST(PredictionTest, FindsAllThatCross) {
  const io::DialsExperiment e = experimentOf(2);
  const auto stars = io::reciprocalOf(e.crystal->real);
  std::set<std::array<std::int32_t, 3>> expected, found;
  const auto outside = [&](const Vec3 &q, double degrees) {
    return length(sum({0, 0, -1}, rotatedAbout({1, 0, 0}, degrees * M_PI / 180, q))) > 1;
  };
  for (int h = -45; h <= 45; ++h)
    for (int k = -55; k <= 55; ++k)
      for (int l = -65; l <= 65; ++l) {
        const Vec3 q = sum(scaled(stars[0], h), sum(scaled(stars[1], k), scaled(stars[2], l)));
        if (length(q) > 0.75 || outside(q, 10) == outside(q, 12))
          continue;
        double from = 10, to = 12;
        for (int i = 0; i < 60; ++i)
          (outside(q, (from + to) / 2) == outside(q, from) ? from : to) = (from + to) / 2;
        if (PanelFinder(e.panels).meet(
                sum({0, 0, -1}, rotatedAbout({1, 0, 0}, from * M_PI / 180, q))))
          expected.insert({h, k, l});
      }
  for (const Spot &s : predictSpots(e, limitsOf()))
    found.insert(s.hkl);
  EXPECT_THAT(found, testing::IsSupersetOf(expected)) << "a node may also cross twice";
  EXPECT_LE(found.size(), expected.size() + 5);
}

TEST(PredictionTest, NodesThatDoNotQuiteReachTheSphere) {
  const io::DialsExperiment e = experimentOf(3);
  PredictionLimits limits = limitsOf(0.004);
  const std::size_t crossing = predictSpots(e, limits).size();
  limits.grazing = true;
  std::size_t grazing = 0;
  const std::vector<Spot> spots = predictSpots(e, limits);
  for (const Spot &s : spots) {
    const auto off = [&](double phi) {
      Spot at = s;
      at.phi = phi;
      return std::fabs(length(sum({0, 0, -1}, nodeOf(e, at))) - 1);
    };
    EXPECT_LE(s.about[0], s.phi);
    EXPECT_GE(s.about[1], s.phi);
    if (off(s.phi) < 1e-12)
      continue;
    ++grazing;
    EXPECT_LT(off(s.phi), 0.0041);
    EXPECT_GT(off(s.phi + 1e-3), off(s.phi));
    EXPECT_GT(off(s.phi - 1e-3), off(s.phi));
  }
  EXPECT_GT(grazing, 0u);
  EXPECT_EQ(spots.size(), crossing + grazing);
}

TEST(PredictionTest, TwoCrossingsOfANodeShareTheRotation) {
  const io::DialsExperiment e = experimentOf(90);
  const std::vector<Spot> spots = predictSpots(e, limitsOf());
  std::size_t pairs = 0;
  for (std::size_t i = 1; i < spots.size(); ++i)
    if (spots[i].hkl == spots[i - 1].hkl) {
      ++pairs;
      const auto &[a, b] = spots[i - 1].about;
      const auto &[c, d] = spots[i].about;
      EXPECT_NEAR(std::remainder(std::min(std::fabs(a - d), std::fabs(b - c)), 2 * M_PI), 0, 1e-9);
    }
  EXPECT_GT(pairs, 10u);
}

TEST(PredictionTest, WidthBringsNeighboursIn) {
  const io::DialsExperiment e = experimentOf(1);
  EXPECT_GT(predictSpots(e, limitsOf(0.002)).size(), predictSpots(e, limitsOf()).size());
}

TEST(PredictionTest, AStillTurnsTheNodeOntoTheSphere) {
  const io::DialsExperiment e = experimentOf(0);
  const std::vector<Spot> spots = predictSpots(e, limitsOf(0.003));
  ASSERT_GT(spots.size(), 100u);
  bool both[2] = {};
  for (const Spot &s : spots) {
    const Vec3 q = nodeOf(e, s), r = sum(s.ray, {0, 0, 1});
    EXPECT_NEAR(length(r), length(q), 1e-12) << "turned, not stretched";
    EXPECT_NEAR(length(s.ray), 1, 1e-12);
    EXPECT_LT(std::fabs(length(sum({0, 0, -1}, q)) - 1), 0.0031);
    EXPECT_NEAR(std::fabs(s.missing), std::acos(std::min(1.0, dot(q, r) / dot(q, q))), 1e-6);
    both[s.missing > 0] = true;
  }
  EXPECT_TRUE(both[0] && both[1]);
}

/// A panel beside the sample, parallel to the beam: the middle of its rear edge sees farther back
/// than its corners.
TEST(PredictionTest, FindsWhatIsScatteredBackwards) {
  io::DialsExperiment e = experimentOf(3);
  io::DialsPanel &p = e.panels.front();
  p.origin = {100, 100, -50};
  p.fast = {0, -1, 0};
  p.slow = {0, 0, 1};
  p.pixels = {200, 100};
  p.pixelSize = {1, 1};
  e.beam.wavelength = 2;
  for (Vec3 &v : e.crystal->real)
    v = scaled(v, 0.5);
  double least = 1, most = -1; // cosine of the scattering angle
  for (const Spot &s : predictSpots(e, limitsOf())) {
    const double cosine = -s.ray[2] / length(s.ray);
    least = std::min(least, cosine);
    most = std::max(most, cosine);
  }
  EXPECT_GT(most, 0.2);
  EXPECT_LT(least, -50 / 150.0 - 0.03) << "beyond the corners";
}

TEST(PredictionTest, ExtinctReflectionsAreNoSpots) {
  PredictionLimits limits = limitsOf();
  limits.shines = [](const auto &hkl) { return hkl[0] % 2 == 0; };
  limits.dmin = 2;
  for (const Spot &s : predictSpots(experimentOf(3), limits)) {
    EXPECT_EQ(s.hkl[0] % 2, 0);
    EXPECT_LE(length(nodeOf(experimentOf(3), s)), 0.5);
  }
}

/// From some of the lines of a large cell; its detector sees a part of the sphere.
TEST(PredictionTest, TheNumberOfSpotsIsEstimated) {
  io::DialsExperiment still = experimentOf(0), turned = experimentOf(2), white = experimentOf(0);
  PredictionLimits wide = limitsOf(0.002), narrow = limitsOf(), spectrum = limitsOf();
  white.beam.wavelength = 0.95;
  spectrum.spectrum = {0.95, 1.0};
  for (auto [e, limits] : {std::pair{&still, &wide}, {&turned, &narrow}, {&white, &spectrum}}) {
    e->panels.front().origin = {10, 20, -100};
    for (Vec3 &v : e->crystal->real)
      v = scaled(v, 4);
    const double count = double(predictSpots(*e, *limits).size());
    EXPECT_GT(count, 1000);
    EXPECT_NEAR(estimateSpots(*e, *limits), count, 0.15 * count);
  }
}

/// Their list would take hundreds of gigabytes, and hours.
TEST(PredictionTest, AListThatDoesNotFitIsRefused) {
  io::DialsExperiment e = experimentOf(0);
  e.beam.wavelength = 0.02;
  for (Vec3 &v : e.crystal->real)
    v = scaled(v, 12);
  try {
    predictSpots(e, limitsOf(0.01));
    FAIL();
  } catch (const std::invalid_argument &error) {
    EXPECT_THAT(error.what(),
                testing::AllOf(testing::StartsWith("about "), testing::HasSubstr("GB of memory"),
                               testing::HasSubstr("-dmin")));
  }
}

/// By numerical integration. As dxtbx has it: photons that pass the sensor count with depth 0.
TEST(PanelsTest, ParallaxIsTheMeanDepthOfAbsorption) {
  io::DialsPanel p = experimentOf(0).panels.front();
  p.parallax = true;
  p.mu = 2.5;
  p.thickness = 0.5;
  const std::array<double, 2> mm{80, 30};
  const Vec3 ray = unit(sum(p.origin, sum(scaled(p.fast, 80), scaled(p.slow, 30))));
  const double through = p.thickness / std::fabs(ray[2]);
  double depth = 0;
  const int steps = 100000;
  for (int i = 0; i < steps; ++i) {
    const double t = (i + 0.5) * through / steps;
    depth += t * p.mu * std::exp(-p.mu * t) * through / steps;
  }
  const auto pixel = toPixel(p, mm);
  EXPECT_NEAR(pixel[0], (80 + depth * ray[0]) / 0.1, 1e-6);
  EXPECT_NEAR(pixel[1], (30 - depth * ray[1]) / 0.1, 1e-6);
}

TEST(PanelsTest, TheNearestPanelIsMet) {
  io::DialsPanel far = experimentOf(0).panels.front(), near = far;
  near.origin[2] = -60;
  near.pixels = {100, 1000};
  const std::vector<io::DialsPanel> panels{far, near};
  EXPECT_EQ(PanelFinder(panels).meet({-0.5, 0, -0.6})->panel, 1u);
  EXPECT_EQ(PanelFinder(panels).meet({0.1, 0, -1})->panel, 0u);
  EXPECT_FALSE(PanelFinder(panels).meet({0, 0, 1}));
}

/// Panels all about the sample, some of them seen under more than a right angle.
TEST(PanelsTest, RaysMeetWhatTheirLinesMeet) {
  std::mt19937 random(1);
  std::normal_distribution<double> normal;
  const auto direction = [&] { return unit({normal(random), normal(random), normal(random)}); };
  std::vector<io::DialsPanel> panels;
  for (int i = 0; i != 40; ++i) {
    io::DialsPanel p = experimentOf(0).panels.front();
    p.fast = direction();
    p.slow = unit(cross(p.fast, direction()));
    p.origin = scaled(direction(), 50 + 10 * i);
    p.pixels = {50 + 100 * (i % 7), 2000 - 50 * (i % 5)};
    panels.push_back(p);
  }
  constexpr double beyond = 30;
  int met = 0, all = 0;
  for (int i = 0; i != 3000; ++i) {
    const Vec3 ray = scaled(direction(), 0.3);
    std::vector<std::size_t> on, beside;
    for (std::size_t k = 0; k != panels.size(); ++k)
      if (const auto mm = meetPlane(panels[k], ray)) {
        const auto isWithin = [&](double edge) {
          const auto isAlong = [&](int axis) {
            const double pixel = (*mm)[axis] / 0.1;
            return pixel >= -edge && pixel < double(panels[k].pixels[axis]) + edge;
          };
          return isAlong(0) && isAlong(1);
        };
        if (isWithin(0))
          on.push_back(k);
        else if (isWithin(beyond))
          beside.push_back(k);
      }
    std::vector<PanelPoint> found;
    const auto first = PanelFinder(panels, beyond).meet(ray, &found);
    ASSERT_EQ(first.has_value(), !on.empty());
    if (first)
      EXPECT_THAT(on, testing::Contains(first->panel));
    std::vector<std::size_t> numbers;
    for (const PanelPoint &point : found)
      numbers.push_back(point.panel);
    EXPECT_EQ(numbers, beside);
    met += first.has_value();
    ++all;
  }
  EXPECT_GT(met, all / 10);
}

TEST(PredictionTest, SpotsThatReachNoPixelAreLeftOut) {
  io::DialsExperiment e = experimentOf(0);
  PredictionLimits limits = limitsOf(0.004);
  limits.boxes = false;
  limits.beyond = 50;
  const std::vector<Spot> every = predictSpots(e, limits);
  limits.hasPixels = [](std::size_t, const double (&fast)[2], const double (&slow)[2]) {
    return fast[1] > 100 && fast[0] < 500 && slow[1] > 600 && slow[0] < 800;
  };
  const std::vector<Spot> some = predictSpots(e, limits);
  EXPECT_LT(some.size(), every.size() / 3);
  int near = 0;
  for (const Spot &spot : every) {
    const auto [fast, slow] = spot.pixel;
    if (fast < 95 || fast > 505 || slow < 595 || slow > 805)
      continue;
    ++near;
    EXPECT_TRUE(std::ranges::any_of(some, [&](const Spot &s) { return s.hkl == spot.hkl; }));
  }
  EXPECT_GT(near, 3);
}

/// Light everywhere: a spot gets the pixels that are nearest to its node, and each pixel at most
/// one.
TEST(SummationTest, PixelsBelongToTheNearestNode) {
  io::DialsExperiment e = experimentOf(0);
  e.panels.front().pixels = {100, 100};
  e.panels.front().pixelSize = {1, 1};
  const std::vector<float> image(100 * 100, 1.0f);
  Detector detector;
  detector.fastPixels = detector.slowPixels = 100;
  std::vector<Spot> spots = predictSpots(e, limitsOf(0.004));
  double total = 0;
  for (Spot &s : spots) {
    s.box = {0, 100, 0, 100};
    sumSpot(s, e, {image, detector, false});
    total += s.intensity;
  }
  EXPECT_LE(total, 1e4);
  EXPECT_GT(total, 1e3);
  Spot with = spots.front(), without = spots.front();
  with.intensity = without.intensity = with.variance = without.variance = 0;
  with.box = without.box;
  sumSpot(with, e, {image, detector, true});
  EXPECT_EQ(with.intensity, 0) << "all of it is background";
  Spot seen = spots.front();
  const auto at = std::array{std::int64_t(seen.pixel[0]), std::int64_t(seen.pixel[1])};
  seen.box = {at[0] - 1, at[0] + 2, at[1] - 1, at[1] + 2};
  std::vector<float> two(100 * 100, 0.0f);
  two[std::size_t(at[1] * 100 + at[0])] = 3;
  two[std::size_t(at[1] * 100 + at[0] + 1)] = 1;
  sumSpot(seen, e, {two, detector, false});
  EXPECT_NEAR(seen.centroid[0], double(at[0]) + 0.75, 1e-9);
  EXPECT_NEAR(seen.centroid[1], double(at[1]) + 0.5, 1e-9);
  EXPECT_GT(with.variance, 0);
}

/// Half of the light is beside the panel, the region, or the unmasked pixels.
TEST(SummationTest, LightBesideThePixelsIsLost) {
  Detector detector;
  detector.fastPixels = detector.slowPixels = 100;
  detector.roiFastMax = detector.roiSlowMax = 99;
  const std::vector<float> image(100 * 100, 1.0f);
  const auto seenAt = [&](double fast, double slow) {
    Spot spot;
    spot.pixel = spot.centroid = {fast, slow};
    spot.box = {0, 100, 0, 100};
    spot.intensity = 8;
    lookAtSpot(spot, {4, 1, 9}, {image, detector, false});
    return spot;
  };
  EXPECT_EQ(seenAt(50, 50).intensity, 8);
  EXPECT_NEAR(seenAt(0, 50).intensity, 4, 1e-3);
  EXPECT_NEAR(seenAt(0, 50).centroid[0], 2 * std::sqrt(2 / std::numbers::pi), 0.05);
  EXPECT_NEAR(seenAt(50, 100).intensity, 4, 1e-3);
  detector.roiFastMin = 50;
  EXPECT_NEAR(seenAt(50, 50).intensity, 4, 1e-3);
  EXPECT_EQ(seenAt(20, 50).intensity, 0);
  detector.roiFastMin = 0;
  detector.mask.assign(100 * 100, 1);
  for (std::size_t s = 0; s != 100; ++s)
    std::fill_n(detector.mask.begin() + std::ptrdiff_t(100 * s), 50, 0);
  EXPECT_NEAR(seenAt(50, 50).intensity, 4, 1e-3);
}

} // namespace
} // namespace nanobragg
