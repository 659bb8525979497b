// Where crystal and detector of a simulator stand in the laboratory.
#include "lib/Experiment/CellGeometry.h"
#include "lib/Experiment/DetectorGeometry.h"
#include "lib/Experiment/Units.h"
#include "lib/Experiment/VectorAlgebra.h"
#include "runtime/python/bindings/SimulatorClass.h"

#include <nanobind/stl/array.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <tuple>

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

} // namespace

void bindLabGeometry(SimulatorClass &simulator) {
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
