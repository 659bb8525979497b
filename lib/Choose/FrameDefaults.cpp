#include "lib/Choose/DefaultsChooser.h"

#include "lib/Experiment/VectorAlgebra.h"

#include <cmath>
#include <stdexcept>

namespace nanobragg {
namespace {

/// The lab frame of a convention.
struct Frame {
  Vec3 beam, fast, slow, normal, twothetaAxis, polar, spindle;
  Pivot pivot;
};

Frame frameOf(Convention convention) {
  switch (convention) {
  case Convention::Adxv:
    return {{0, 0, 1},  {1, 0, 0}, {0, -1, 0}, {0, 0, 1},
            {-1, 0, 0}, {1, 0, 0}, {1, 0, 0},  Pivot::Beam};
  case Convention::Mosflm:
  case Convention::Denzo:
    return {{1, 0, 0},  {0, 0, 1}, {0, -1, 0}, {1, 0, 0},
            {0, 0, -1}, {0, 0, 1}, {0, 0, 1},  Pivot::Beam};
  case Convention::Xds:
    return {{0, 0, 1}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1},
            {1, 0, 0}, {1, 0, 0}, {1, 0, 0}, Pivot::Sample};
  case Convention::Dials:
    return {{0, 0, 1}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1},
            {0, 1, 0}, {0, 1, 0}, {0, 1, 0}, Pivot::Sample};
  case Convention::Custom:
    return {{1, 0, 0}, {0, 0, 1}, {0, -1, 0}, {1, 0, 0},
            {0, 1, 0}, {0, 0, 1}, {0, 0, 1},  Pivot::Beam};
  }
  throw std::invalid_argument("unknown detector convention");
}

constexpr double tiny = 1e-12;

} // namespace

void DefaultsChooser::chooseFrame() {
  report.convention = said(&O::convention).value_or(Convention::Mosflm);
  const bool custom = report.convention == Convention::Custom;
  Frame frame = frameOf(report.convention);
  Detector &d = experiment.detector;

  auto chosen = [&](std::optional<Vec3> Options::*given, const Vec3 &otherwise) {
    return custom && said(given) ? unit(*said(given)) : otherwise;
  };
  experiment.beam.direction = chosen(&O::beamVector, frame.beam);
  experiment.beam.polarizationAxis = chosen(&O::polarVector, frame.polar);
  experiment.goniometer.spindleAxis = chosen(&O::spindleAxis, frame.spindle);
  d.fastAxis = chosen(&O::fastAxis, frame.fast);
  d.slowAxis = chosen(&O::slowAxis, frame.slow);
  d.normal = chosen(&O::normalAxis, frame.normal);
  if (custom && said(&O::normalAxis) && length(*said(&O::normalAxis)) != 1.0) {
    Vec3 replaced = unit(cross(d.fastAxis, d.slowAxis));
    if (length(difference(replaced, d.normal)) > tiny)
      note(&Semantics::detectorNormal);
    if (semantics.detectorNormal == Rule::C) {
      warn("auto-generating odet_vector");
      d.normal = replaced;
    }
  }
  if (length(cross(d.fastAxis, d.slowAxis)) < 1e-6)
    throw std::invalid_argument("-fdet_vector and -sdet_vector must not be parallel");
  if (std::fabs(dot(d.fastAxis, d.normal)) > 1e-3 || std::fabs(dot(d.slowAxis, d.normal)) > 1e-3)
    warn("-odet_vector is not perpendicular to the detector's fast and slow axes; give all three");

  d.twothetaAxis = frame.twothetaAxis;
  const bool swung = said(&O::twotheta).value_or(0) != 0;
  const auto axis = custom && swung ? said(&O::twothetaAxis) : said.unread().twothetaAxis;
  if (custom && axis) {
    const Vec3 normalised = unit(*axis);
    if (length(difference(normalised, *axis)) > tiny && swung)
      note(&Semantics::twothetaAxis);
    d.twothetaAxis = semantics.twothetaAxis == Rule::C ? *axis : normalised;
  }

  report.pivot = custom ? said(&O::pivot).value_or(frame.pivot) : frame.pivot;
  experiment.variant.pivot = report.pivot;
  report.beamDirection = experiment.beam.direction;
  report.spindleAxis = experiment.goniometer.spindleAxis;
  report.polarizationPlaneNormal =
      cross(experiment.beam.direction, experiment.beam.polarizationAxis);
}

void DefaultsChooser::replacePolarizationAxis() {
  Beam &beam = experiment.beam;
  if (length(cross(beam.direction, beam.polarizationAxis)) > 1e-9)
    return;
  const bool divergent =
      report.hdiv.range > 0 || report.vdiv.range > 0 || beam.hdivSigma > 0 || beam.vdivSigma > 0;
  if (beam.kahnFactor != 0 || (divergent && inputs.sources.empty()))
    throw std::invalid_argument("-polar_vector: the polarization axis is parallel to the beam; "
                                "give one that is perpendicular to -beam_vector");
  // Unpolarized and parallel, the beam does not depend on this axis, but it has to exist.
  const Vec3 &b = beam.direction;
  beam.polarizationAxis = unit(cross(b, std::fabs(b[0]) < 0.5 ? Vec3{1, 0, 0} : Vec3{0, 1, 0}));
}

} // namespace nanobragg
