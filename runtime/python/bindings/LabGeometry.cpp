// Where crystal and detector of a simulator stand in the laboratory.
#include "lib/Experiment/CellGeometry.h"
#include "lib/Experiment/DetectorGeometry.h"
#include "lib/Experiment/Units.h"
#include "lib/Experiment/VectorAlgebra.h"
#include "runtime/python/bindings/SimulatorClass.h"

#include <nanobind/stl/array.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <stdexcept>
#include <tuple>
#include <unordered_map>

namespace nanobragg::python {
namespace {

/// a, b and c, m, in the middle of the rotation.
std::array<Vec3, 3> realVectors(const Experiment &e) {
  const Crystal &c = e.crystal;
  const UnitCell cell{c.cellA / units::angstrom,
                      c.cellB / units::angstrom,
                      c.cellC / units::angstrom,
                      c.cellAlpha,
                      c.cellBeta,
                      c.cellGamma};
  const CellSource source = e.variant.cellSource;
  std::array<Vec3, 3> reciprocal{};
  if (source == CellSource::Cell)
    reciprocal = defaultSetting(cell, e.variant.cellSetting);
  else
    for (std::size_t i = 0; i != 9; ++i)
      reciprocal[i % 3][i / 3] = c.reciprocalMatrix[i] * units::angstrom;
  for (Vec3 &vector : reciprocal)
    vector = rotatedXYZ(c.misset, vector);
  std::array<Vec3, 3> real =
      latticeOf(reciprocal, source == CellSource::Matrix ? nullptr : &cell).real.vectors;
  const Goniometer &g = e.goniometer;
  for (Vec3 &vector : real)
    vector = scaled(rotatedAbout(g.spindleAxis, g.phi0 + g.osc / 2, vector), units::angstrom);
  return real;
}

/// The outer corner of the first pixel (m), and the axes along fast and slow, of each panel.
std::vector<std::tuple<Vec3, Vec3, Vec3>> panelsOf(const Experiment &e) {
  const Vec3 &beam = e.beam.direction;
  const DetectorReport whole =
      placeDetector(e.detector, beam, e.variant.pivot, e.variant.distance, Rule::Right);
  std::vector<std::tuple<Vec3, Vec3, Vec3>> panels;
  for (const DetectorReport &panel : placePanels(e.detector, beam, whole))
    panels.emplace_back(panel.pix0, panel.fastAxis, panel.slowAxis);
  return panels;
}

/// The crystal, the detector and the beam, from which a pixel's Miller index follows.
struct Geometry {
  std::array<Vec3, 3> real;
  std::vector<std::tuple<Vec3, Vec3, Vec3>> panels;
  Vec3 beam;    ///< has length 1
  double pixel; ///< m

  explicit Geometry(const Experiment &e)
      : real(realVectors(e)), panels(panelsOf(e)),
        beam(scaled(e.beam.direction, 1 / length(e.beam.direction))), pixel(e.detector.pixelSize) {}

  /// Returns the fractional Miller index at a place, which is in pixels.
  Vec3 millerIndex(std::size_t panel, double fast, double slow, double wavelength) const {
    const auto &[corner, alongFast, alongSlow] = panels[panel];
    const Vec3 away =
        sum(corner, sum(scaled(alongFast, fast * pixel), scaled(alongSlow, slow * pixel)));
    const Vec3 change = difference(scaled(away, 1 / length(away)), beam);
    return {dot(real[0], change) / wavelength, dot(real[1], change) / wavelength,
            dot(real[2], change) / wavelength};
  }
};

/// The light of one reflection on one panel.
struct Spot {
  std::int32_t label = 0;
  double photons = 0, fast = 0, slow = 0; ///< the latter two times photons
};

/// Panel and Miller index as one number, in the order of these.
constexpr std::int64_t indexBound = 1 << 15;
std::int64_t codeOf(std::size_t panel, const Vec3 &hkl) {
  auto code = std::int64_t(panel);
  for (const double index : hkl) {
    if (!(std::fabs(index) < double(indexBound - 1)))
      throw std::invalid_argument(
          "a pixel has a Miller index beyond 32766, and cannot be labelled");
    code = code * 2 * indexBound + std::llround(index) + indexBound;
  }
  return code;
}

/// Labels each of these spots, in the order of their codes. As arrays: miller_index, photons,
/// panel, fast and slow.
nb::tuple labelled(std::unordered_map<std::int64_t, Spot> &spots) {
  std::vector<std::int64_t> codes, hkl, panel;
  std::vector<double> photons, fast, slow;
  for (const auto &[code, spot] : spots)
    codes.push_back(code);
  std::ranges::sort(codes);
  for (std::int64_t code : codes) {
    Spot &spot = spots[code];
    photons.push_back(spot.photons);
    spot.label = std::int32_t(photons.size());
    fast.push_back(spot.fast / spot.photons);
    slow.push_back(spot.slow / spot.photons);
    std::array<std::int64_t, 3> indices{};
    for (std::size_t j = 3; j-- != 0; code /= 2 * indexBound)
      indices[j] = code % (2 * indexBound) - indexBound;
    hkl.insert(hkl.end(), indices.begin(), indices.end());
    panel.push_back(code);
  }
  const std::size_t n = codes.size();
  return nb::make_tuple(takeVector(std::move(hkl), {n, 3}), takeVector(std::move(photons), {n}),
                        takeVector(std::move(panel), {n}), takeVector(std::move(fast), {n}),
                        takeVector(std::move(slow), {n}));
}

/// Writes the labels of pixels with at least this light (0: none), in the image's shape. Returns
/// the arrays of `labelled`.
nb::tuple label(const PythonSimulator &self, const Doubles &light, double least, double wavelength,
                const nb::ndarray<std::int32_t, nb::c_contig, nb::device::cpu> &labels) {
  const std::span all{light.data(), light.size()};
  if (labels.size() != all.size())
    throw std::invalid_argument("labels and light are of different images");
  const std::size_t fasts = light.shape(light.ndim() - 1), slows = light.shape(light.ndim() - 2);
  std::unordered_map<std::int64_t, Spot> spots;
  std::vector<std::pair<std::size_t, const Spot *>> lit;
  const Geometry geometry = self.use([](Simulator &s) { return Geometry(s.experiment()); });
  std::optional<nb::gil_scoped_release> released(std::in_place);
  std::fill_n(labels.data(), all.size(), 0);
  Spot *spot = nullptr; // It has the code `last`.
  std::int64_t last = 0;
  constexpr std::size_t block = 64; // Most have no light.
  for (std::size_t begin = 0; begin < all.size(); begin += block) {
    const std::size_t end = std::min(begin + block, all.size());
    bool isLit = false;
    for (std::size_t i = begin; i != end; ++i)
      isLit |= all[i] >= least;
    for (std::size_t i = begin; isLit && i != end; ++i) {
      const double photons = all[i];
      if (!(photons >= least))
        continue;
      const std::size_t panel = i / (slows * fasts);
      const double slow = double(i / fasts % slows) + 0.5, fast = double(i % fasts) + 0.5;
      const std::int64_t code = codeOf(panel, geometry.millerIndex(panel, fast, slow, wavelength));
      if (spot == nullptr || code != last)
        spot = &spots[last = code];
      spot->photons += photons;
      spot->fast += photons * fast;
      spot->slow += photons * slow;
      lit.emplace_back(i, spot);
    }
  }
  released.reset();
  nb::tuple arrays = labelled(spots);
  for (const auto &[place, of] : lit)
    labels.data()[place] = of->label;
  return arrays;
}

} // namespace

void bindLabGeometry(SimulatorClass &simulator) {
  simulator.def("gain_map", [](const PythonSimulator &self) {
    std::vector<double> gains = self.use([](Simulator &s) {
      const Experiment &e = s.experiment();
      return e.variant.gainMap ? e.detector.gainMap.values : std::vector<double>();
    });
    const std::size_t size = gains.size();
    return takeVector(std::move(gains), {size});
  });
  simulator.def("label", &label, nb::arg("light"), nb::arg("least"), nb::arg("wavelength"),
                nb::arg("labels"));
  simulator.def(
      "lab",
      [](const PythonSimulator &self) {
        return self.use([](Simulator &s) {
          return std::tuple(realVectors(s.experiment()), panelsOf(s.experiment()));
        });
      },
      "The vectors a, b and c (m) in the middle of the rotation, and for each panel the outer "
      "corner "
      "of its first pixel (m) and its axes along fast and slow, in the laboratory.");
}

} // namespace nanobragg::python
