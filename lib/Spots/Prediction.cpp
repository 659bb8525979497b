#include "lib/Spots/Prediction.h"

#include "lib/Experiment/Formatted.h"
#include "lib/Experiment/Units.h"
#include "lib/Experiment/VectorAlgebra.h"
#include "lib/Files/MemoryLimit.h"
#include "lib/Spots/Panels.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <stdexcept>

namespace nanobragg {
namespace {

constexpr std::array<double, 2> nowhere{INFINITY, -INFINITY};

/// The numbers x with |a x^2 + 2 b x + c| <= tolerance: up to two intervals, a > 0. Each is
/// {from, to}; from > to: none.
std::array<std::array<double, 2>, 2> shell(double a, double b, double c, double tolerance) {
  const auto root = [&](double value) { return b * b - a * (c - value); };
  const double outer = root(tolerance), inner = root(-tolerance);
  if (outer < 0)
    return {nowhere, nowhere};
  const double o = std::sqrt(outer);
  if (inner < 0)
    return {{{(-b - o) / a, (-b + o) / a}, nowhere}};
  const double i = std::sqrt(inner);
  return {{{(-b - o) / a, (-b - i) / a}, {(-b + i) / a, (-b + o) / a}}};
}

class Predictor {
public:
  Predictor(const io::DialsExperiment &image, const PredictionLimits &limits)
      : image(image), limits(limits), s0(scaled(image.beam.direction, -1 / image.beam.wavelength)),
        forward(unit(s0)), sphere(length(s0)), panels(image.panels, limits.beyond) {
    if (image.scan && image.goniometer) {
      turns = true;
      axis = image.goniometer->axis;
      half = units::radians(image.scan->width) / 2;
      middle = units::radians(image.scan->start) + half;
    }
    stars = io::reciprocalOf(image.crystal->real);
    if (turns)
      for (Vec3 &star : stars)
        star = rotatedAbout(axis, middle, star);
    largest = largestNode();
  }

  std::vector<Spot> predict() {
    if (limits.nodes)
      for (const auto &hkl : *limits.nodes)
        consider(hkl);
    else
      considerLines(1);
    return std::move(spots);
  }

  /// No fewer than there are: a node may cross twice, and have a place on each panel.
  double mostSpots() const {
    return mostOfNode() * double(2 * bound(0) + 1) * double(2 * bound(1) + 1) *
           double(2 * bound(2) + 1);
  }

  /// The same of the nodes near the Ewald sphere, as far as some lines tell.
  double mostSpotsNear() const {
    double nodes = 0;
    forLines(everyLine(), [&](std::int32_t, std::int32_t, const Vec3 &, double first, double last) {
      nodes += std::max(0.0, last - first + 1);
    });
    return mostOfNode() * nodes * double(everyLine());
  }

  double estimate() {
    considerLines(everyLine());
    return double(spots.size()) * double(everyLine());
  }

private:
  std::int64_t bound(std::size_t i) const {
    return std::int64_t(largest * length(image.crystal->real[i]));
  }

  /// Every so many lines are some thousand.
  std::int64_t everyLine() const {
    constexpr std::int64_t lines = 4096;
    const std::int64_t row = 2 * bound(1) + 1;
    std::int64_t every = std::max<std::int64_t>(1, (2 * bound(0) + 1) * row / lines);
    while (std::gcd(every, row) != 1) // lest all are of few k
      ++every;
    return every;
  }

  double mostOfNode() const { return (turns ? 2 : 1) * double(image.panels.size()); }

  /// The nodes near the Ewald sphere of the lines along c*, or of every so many of these.
  void considerLines(std::int64_t every) {
    std::vector<std::array<std::int32_t, 3>> nodes;
    const bool isStill = !turns && !limits.spectrum;
    const double along = dot(stars[2], stars[2]), moves = 2 * dot(s0, stars[2]);
    forLines(every, [&](std::int32_t h, std::int32_t k, const Vec3 &q, double first, double last) {
      const double square = dot(q, q), grows = 2 * dot(q, stars[2]), outside = 2 * dot(s0, q);
      for (double l = first; l <= last; ++l) {
        const double squared = square + l * (grows + along * l);
        if (!isStill || isNear(squared, squared + outside + moves * l))
          nodes.push_back({h, k, std::int32_t(l)});
      }
    });
    spots.reserve(nodes.size());
    for (const auto &hkl : nodes)
      consider(hkl);
  }

  /// Whether a node is seen. squared: its squared distance from the origin. excess: its squared
  /// distance from the centre of the Ewald sphere, less the squared radius.
  bool isNear(double squared, double excess) const {
    return excess * excess <= 4 * sphere * sphere * squaredWidth(squared);
  }

  /// Calls `visit` with h, k, the node of l = 0 and the range of l near the Ewald sphere of lines
  /// along c*.
  template <typename Visit>
  void forLines(std::int64_t every, const Visit &visit) const {
    const double tolerance =
        2 * sphere * (turns ? largest * half + width(largest) : width(largest));
    const std::int64_t row = 2 * bound(1) + 1, lines = (2 * bound(0) + 1) * row;
    const double end = double(bound(2));
    for (std::int64_t line = 0; line < lines; line += every) {
      const auto h = std::int32_t(line / row - bound(0)), k = std::int32_t(line % row - bound(1));
      const Vec3 q = sum(scaled(stars[0], h), scaled(stars[1], k));
      for (const auto &[from, to] : limits.spectrum
                                        ? betweenSpheres(q, tolerance)
                                        : shell(dot(stars[2], stars[2]), dot(stars[2], sum(q, s0)),
                                                dot(q, q) + 2 * dot(s0, q), tolerance))
        visit(h, k, q, std::ceil(std::max(from, -end)), std::min(to, end));
    }
  }

  /// The numbers l for which q + l c* is inside the Ewald sphere of the spectrum's least wavelength
  /// and outside that of the greatest one, or nearly.
  std::array<std::array<double, 2>, 2> betweenSpheres(const Vec3 &q, double tolerance) const {
    const auto within = [&](const Vec3 &s, double outside) {
      const double a = dot(stars[2], stars[2]), b = dot(stars[2], sum(q, s));
      const double root = b * b - a * (dot(q, q) + 2 * dot(s, q) - outside);
      if (root < 0)
        return nowhere;
      return std::array{(-b - std::sqrt(root)) / a, (-b + std::sqrt(root)) / a};
    };
    const auto [least, greatest] = *limits.spectrum;
    const auto large = within(s0, tolerance);
    const auto small = within(scaled(s0, least / greatest), -tolerance);
    if (small[0] > small[1])
      return {large, nowhere};
    return {{{large[0], small[0]}, {small[1], large[1]}}};
  }

  /// 1/A. No reflection that the detector sees or the limit allows lies farther out.
  double largestNode() const {
    double sine = 0; // half the scattering angle's
    for (const io::DialsPanel &p : image.panels)
      for (const Vec3 &ray : cornersOf(p, limits.beyond)) {
        const double cosine = dot(ray, forward);
        sine = std::max(sine, cosine < 0 ? 1 : std::sqrt(std::max(0.0, (1 - cosine) / 2)));
      }
    const double seen = 2 * sphere * sine;
    return limits.dmin > 0 ? std::min(seen, 1 / limits.dmin) : seen;
  }

  /// 1/A, how far from the Ewald sphere a node at distance q from the origin is seen.
  double width(double q) const { return std::sqrt(squaredWidth(q * q)); }

  /// The square of it, of that of the distance.
  double squaredWidth(double squared) const {
    const SpotSize &s = limits.size;
    if (limits.nodes)
      return INFINITY;
    const double ofBandwidth = squared * image.beam.wavelength / 2 * s.bandwidth;
    if (s.normal)
      return s.node * s.node + squared * (s.mosaic * s.mosaic + s.divergence * s.divergence) +
             ofBandwidth * ofBandwidth;
    const double sum = s.node + std::sqrt(squared) * (s.mosaic + s.divergence) + ofBandwidth;
    return sum * sum;
  }

  void consider(const std::array<std::int32_t, 3> &hkl) {
    const Vec3 q =
        sum(scaled(stars[0], hkl[0]), sum(scaled(stars[1], hkl[1]), scaled(stars[2], hkl[2])));
    const double far = length(q);
    if (far > largest || (limits.shines && !limits.shines(hkl)))
      return;
    if (far == 0)
      return direct();
    if (limits.spectrum)
      white(hkl, q, far);
    else if (turns)
      crossings(hkl, q, far);
    else
      still(hkl, q, far);
  }

  void direct() {
    if (!limits.direct)
      return;
    Spot spot;
    spot.phi = middle;
    spot.about = {middle - std::numbers::pi, middle + std::numbers::pi};
    spot.ray = s0;
    place(spot, 0);
  }

  /// |s0 + q|^2 - |s0|^2 = K + P cos + Q sin of the rotation from the middle.
  void crossings(const std::array<std::int32_t, 3> &hkl, const Vec3 &q, double far) {
    const double level = 2 * dot(s0, axis) * dot(axis, q), K = far * far + level;
    const double P = 2 * dot(s0, q) - level, Q = 2 * dot(s0, cross(axis, q));
    const double R = std::hypot(P, Q);
    const double centre = std::atan2(Q, P);
    const auto isFar = [&](double turn) {
      const double nearest = std::clamp(turn, -half, half);
      return nearest != turn &&
             std::fabs(K + R * std::cos(nearest - centre)) > 2 * sphere * width(far);
    };
    if (std::fabs(K) > R) { // it never crosses
      const double turn =
          std::remainder(K < 0 ? centre : centre + std::numbers::pi, 2 * std::numbers::pi);
      if (limits.grazing && std::fabs(K) - R <= 2 * sphere * width(far) && !isFar(turn))
        placeAt(hkl, q, far, turn, {turn - std::numbers::pi, turn + std::numbers::pi}, false);
      return;
    }
    const double away = std::acos(-K / R);
    for (const double sign : {-1.0, 1.0}) {
      const double turn = std::remainder(centre + sign * away, 2 * std::numbers::pi);
      const double least = turn - sign * away, most = least + sign * std::numbers::pi;
      // From the largest |s0 + q| on it becomes smaller.
      if (!isFar(turn))
        placeAt(hkl, q, far, turn, {std::min(least, most), std::max(least, most)}, sign > 0);
    }
  }

  void placeAt(const std::array<std::int32_t, 3> &hkl, const Vec3 &q, double far, double turn,
               const std::array<double, 2> &about, bool entering) {
    Spot spot;
    spot.hkl = hkl;
    spot.phi = middle + turn;
    spot.about = {middle + about[0], middle + about[1]};
    spot.ray = sum(s0, rotatedAbout(axis, turn, q));
    spot.entering = entering;
    place(spot, far);
  }

  void still(const std::array<std::int32_t, 3> &hkl, const Vec3 &q, double far) {
    if (!isNear(far * far, far * far + 2 * dot(s0, q)))
      return;
    const Vec3 across = difference(q, scaled(forward, dot(q, forward)));
    const double along = far * far / (2 * sphere), rest = far * far - along * along;
    if (!(rest > 0) || length(across) == 0)
      return;
    const Vec3 r = sum(scaled(forward, -along), scaled(unit(across), std::sqrt(rest)));
    Spot spot;
    spot.hkl = hkl;
    spot.ray = sum(s0, r);
    if (limits.boxes)
      spot.missing = std::atan2(dot(cross(q, r), unit(cross(s0, q))), dot(q, r));
    place(spot, far);
  }

  /// |s / wavelength + q| = 1 / wavelength with the unit vector s along the beam.
  void white(const std::array<std::int32_t, 3> &hkl, const Vec3 &q, double far) {
    const double wavelength = -2 * dot(forward, q) / (far * far);
    const double nearest = std::clamp(wavelength, (*limits.spectrum)[0], (*limits.spectrum)[1]);
    const double excess = far * far + 2 * dot(forward, q) / nearest;
    if (!(wavelength > 0) ||
        (nearest != wavelength && std::fabs(excess) > 2 / nearest * width(far)))
      return;
    Spot spot;
    spot.hkl = hkl;
    spot.wavelength = nearest;
    spot.ray = sum(scaled(forward, 1 / wavelength), q);
    place(spot, far);
  }

  void place(Spot &spot, double far) {
    beside.clear();
    const auto met = panels.meet(spot.ray, &beside);
    if (met && (!limits.hasPixels || mayLight(*met, spot.ray, far)))
      placeOn(*met, spot, far);
    for (const PanelPoint &point : beside)
      if (mayLight(point, spot.ray, far))
        placeOn(point, spot, far);
  }

  /// Whether pixels of the image are as near to a spot as its rays may reach.
  bool mayLight(const PanelPoint &point, const Vec3 &ray, double far) const {
    constexpr double room = 2, pixelsOfRoom = 6;
    if (limits.nodes || limits.spectrum)
      return true;
    const io::DialsPanel &p = image.panels[point.panel];
    const auto [outward, around] = extentOf(far);
    const double moves = 2 * half * far * image.beam.wavelength; // in the rotation
    const Vec3 at = sum(p.origin, sum(scaled(p.fast, point.mm[0]), scaled(p.slow, point.mm[1])));
    const double cosine = std::fabs(dot(ray, cross(p.fast, p.slow))) / length(ray);
    const double most =
        room * (std::max(outward, around) + moves) * length(at) / std::max(cosine, 0.01);
    double fast[2], slow[2];
    for (int i = 0; i < 2; ++i) {
      double (&ends)[2] = i == 0 ? fast : slow;
      const double middle = point.mm[i] / p.pixelSize[i],
                   reach = most / p.pixelSize[i] + pixelsOfRoom;
      ends[0] = middle - reach;
      ends[1] = middle + reach;
      if (ends[1] < 0 || ends[0] > double(p.pixels[i]))
        return false;
    }
    return !limits.hasPixels || limits.hasPixels(point.panel, fast, slow);
  }

  /// rad, by how much rays of a spot differ from its middle one, outward and around the beam.
  std::array<double, 2> extentOf(double far) const {
    const SpotSize &s = limits.size;
    const double lambda = image.beam.wavelength;
    const double sine = far * lambda / 2; // half the scattering angle's
    const double around = lambda * (s.node + far * s.mosaic) + s.divergence;
    return {around + 2 * s.bandwidth * sine / std::sqrt(std::max(1e-6, 1 - sine * sine)), around};
  }

  void placeOn(const PanelPoint &met, Spot &spot, double far) {
    const io::DialsPanel &p = image.panels[met.panel];
    spot.panel = met.panel;
    spot.mm = met.mm;
    spot.pixel = toPixel(p, met.mm);
    if (limits.boxes)
      enclose(spot, p, far);
    spots.push_back(spot);
  }

  /// The box of the pixels that rays reach which differ from the spot's by its size.
  void enclose(Spot &spot, const io::DialsPanel &p, double far) const {
    const Vec3 ray = unit(spot.ray), tangent = unit(cross(s0, spot.ray)),
               radius = cross(tangent, ray);
    const auto [outward, around] = extentOf(far);
    std::array<double, 2> low{spot.pixel}, high{spot.pixel};
    for (const double u : {-outward, outward})
      for (const double v : {-around, around}) {
        const auto mm = meetPlane(p, sum(ray, sum(scaled(radius, u), scaled(tangent, v))));
        if (!mm)
          continue;
        const auto pixel = toPixel(p, *mm);
        for (int i = 0; i < 2; ++i) {
          low[i] = std::min(low[i], pixel[i]);
          high[i] = std::max(high[i], pixel[i]);
        }
      }
    for (int i = 0; i < 2; ++i) {
      const double end = double(p.pixels[i]);
      spot.box[2 * i] = std::int64_t(std::clamp(std::floor(low[i]) - 1, 0.0, end - 1));
      spot.box[2 * i + 1] =
          std::int64_t(std::clamp(std::floor(high[i]) + 2, double(spot.box[2 * i] + 1), end));
    }
  }

  const io::DialsExperiment &image;
  const PredictionLimits &limits;
  Vec3 s0, axis{};
  Vec3 forward;  ///< the unit vector of s0
  double sphere; ///< its radius, 1/A
  PanelFinder panels;
  bool turns = false;
  double half = 0, middle = 0; ///< rad, of the image's rotation
  std::array<Vec3, 3> stars;   ///< at the middle of the rotation, 1/A
  double largest = 0;
  std::vector<Spot> spots;
  std::vector<PanelPoint> beside; ///< where a ray meets planes beside their panels
};

} // namespace

std::vector<Spot> predictSpots(const io::DialsExperiment &image, const PredictionLimits &limits) {
  // A spot and what is made of it: entries of tables, numbers of programs.
  constexpr double bytesOfSpot = 1000, notWorthAsking = 32e6;
  Predictor predictor(image, limits);
  const auto isTooMany = [&](double spots) {
    const double bytes = bytesOfSpot * spots;
    return bytes > notWorthAsking && bytes > double(io::memoryLimit()) / 2;
  };
  // Most lists are short enough whatever they are, and an estimate costs a part of the list.
  if (!limits.nodes && isTooMany(predictor.mostSpots())) {
    const double expected = estimateSpots(image, limits);
    if (!isTooMany(expected))
      return predictor.predict();
    throw std::invalid_argument("about " + formatted("%.2g", expected) +
                                " reflections are on the detector, whose list needs " +
                                io::sizeText(bytesOfSpot * expected) +
                                " of memory, and this process may have " +
                                io::sizeText(double(io::memoryLimit())) +
                                "; set a resolution limit (-dmin), use a smaller detector, or more "
                                "unit cells in the crystal (-N)");
  }
  return predictor.predict();
}

double estimateSpots(const io::DialsExperiment &image, const PredictionLimits &limits) {
  return Predictor(image, limits).estimate();
}

bool areMoreSpots(const io::DialsExperiment &image, const PredictionLimits &limits, double most) {
  Predictor predictor(image, limits);
  return predictor.mostSpots() > most && predictor.mostSpotsNear() > most &&
         predictor.estimate() > most;
}

} // namespace nanobragg
