#include "test/engines/RandomExperiment.h"

#include "lib/Choose/LaueGroup.h"
#include "lib/Experiment/RandomOrientation.h"
#include "lib/Experiment/VectorAlgebra.h"

#include <algorithm>

namespace nanobragg {
namespace {

constexpr double angstrom = 1e-10, millimetre = 1e-3;

Vec3 transform(const Mat3 &m, const Vec3 &v) {
  Vec3 result{};
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j)
      result[i] += m[3 * i + j] * v[j];
  return result;
}

class Maker {
public:
  Maker(const ProgramVariant &variant, Draws &draws) : s(variant), draws(draws) {
    frame = rotation(3.1);
  }

  Experiment make() {
    Experiment e;
    e.variant = s;
    e.crystal = crystal();
    e.goniometer = goniometer();
    e.beam = beam();
    e.detector = detector();
    e.dmin = draws.uniform(1.2, 3) * angstrom;
    e.waterSize = draws.uniform(10, 60) * 1e-6;
    if (s.background)
      e.background = background();
    return e;
  }

private:
  Vec3 direction() {
    return unit({draws.uniform(-1, 1), draws.uniform(-1, 1), draws.uniform(0.1, 1)});
  }
  /// By at most `angle`, about any axis.
  Mat3 rotation(double angle) {
    return rotationMatrix({direction(), draws.uniform(-angle, angle)});
  }
  Vec3 inFrame(double x, double y, double z) { return transform(frame, {x, y, z}); }

  Crystal crystal() {
    Crystal c;
    const auto edge = [&] { return draws.uniform(12, 40) * angstrom; };
    const auto angle = [&] { return draws.uniform(1.3, 1.8); };
    c.cellA = edge();
    c.cellB = edge();
    c.cellC = edge();
    c.cellAlpha = angle();
    c.cellBeta = angle();
    c.cellGamma = angle();
    const Mat3 turn = rotation(3);
    const Vec3 lengths = {1 / edge(), 1 / edge(), 1 / edge()};
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j)
        c.reciprocalMatrix[3 * i + j] = turn[3 * i + j] * lengths[j];
    c.misset = {draws.uniform(-3, 3), draws.uniform(-3, 3), draws.uniform(-3, 3)};
    for (double &n : c.ncells)
      n = double(draws.integer(1, 9));
    // So small that the matrix stays positive definite.
    for (double &n : c.ncellsCross)
      n = draws.uniform(-0.4, 0.4) * *std::ranges::min_element(c.ncells);
    c.fudge = draws.uniform(0.7, 1.3);
    c.defaultF = draws.uniform(1, 200);
    if (s.structureFactors != StructureFactors::Constant)
      c.grid = std::make_shared<HklGrid>(grid());
    c.mosaicSpread = draws.uniform(0, 0.03);
    const std::int64_t domains = draws.integer(1, 4);
    c.mosaicAxis.clear();
    c.mosaicUnitAngle.clear();
    for (std::int64_t i = 0; i < domains; ++i) {
      c.mosaicAxis.push_back(direction());
      c.mosaicUnitAngle.push_back(draws.uniform(-1, 1));
    }
    for (double &spread : c.mosaicAbc)
      spread = draws.uniform(0.005, 0.02);
    for (double &length : c.diffuseGamma)
      length = draws.uniform(10, 40) * angstrom;
    for (double &displacement : c.diffuseSigma)
      displacement = draws.uniform(0.2, 0.6) * angstrom;
    c.symmetryH.clear();
    c.symmetryK.clear();
    c.symmetryL.clear();
    if (s.diffuse)
      for (const IndexRotation &m : rotationsOfLaueGroup(int(draws.integer(1, 14)))) {
        c.symmetryH.push_back({double(m[0]), double(m[1]), double(m[2])});
        c.symmetryK.push_back({double(m[3]), double(m[4]), double(m[5])});
        c.symmetryL.push_back({double(m[6]), double(m[7]), double(m[8])});
      }
    return c;
  }

  /// Smaller than what the detector sees, so that some lookups miss it.
  HklGrid grid() {
    HklGrid g;
    const auto low = [&] { return -draws.integer(2, 9); };
    const auto high = [&] { return draws.integer(2, 9); };
    g = {low(), high(), low(), high(), low(), high(), {}};
    const std::int64_t nodes =
        (g.hMax - g.hMin + 1) * (g.kMax - g.kMin + 1) * (g.lMax - g.lMin + 1);
    for (std::int64_t i = 0; i < nodes; ++i)
      g.values.push_back(draws.chance(0.1) ? 0 : draws.uniform(1, 500));
    return g;
  }

  /// Quadratic functions: interpolated exactly, so that nodes are no kinks.
  Background background() {
    Background b;
    for (std::int64_t i = 0, materials = draws.integer(1, 3); i < materials; ++i) {
      b.first.push_back(double(b.stol.values.size()));
      const double constant = draws.uniform(5, 10), slope = draws.uniform(-5, 5);
      const double curvature = draws.uniform(-5, 5);
      double stol = 0;
      for (std::int64_t j = 0, entries = draws.integer(3, 40); j < entries; ++j) {
        b.stol.values.push_back(stol / angstrom);
        b.factor.values.push_back(constant + (slope + curvature * stol) * stol);
        stol += draws.uniform(0.8, 1.2) / double(entries - 1);
      }
      b.last.push_back(double(b.stol.values.size()) - 1);
      b.thickness.push_back(draws.uniform(0.1, 2) * 1e-9);
      b.density.push_back(draws.uniform(1, 1000));
      b.molarMass.push_back(draws.uniform(0.01, 0.04));
    }
    b.area = draws.uniform(1, 2) * 1e-8;
    b.oversample = draws.integer(1, 2);
    return b;
  }

  Goniometer goniometer() {
    Goniometer g;
    g.spindleAxis = direction();
    g.phi0 = draws.uniform(-1, 1);
    g.osc = draws.uniform(0, 0.2);
    g.phiSteps = draws.integer(1, 3);
    g.phiStepFraction = 1 / double(g.phiSteps);
    return g;
  }

  Beam beam() {
    Beam b;
    b.direction = inFrame(0, 0, 1);
    b.polarizationAxis = inFrame(1, 0, 0);
    b.kahnFactor = draws.uniform(-1, 1);
    b.wavelength = draws.uniform(0.7, 2) * angstrom;
    b.dispersion = draws.uniform(0, 0.03);
    b.hdivRange = draws.uniform(0, 0.02);
    b.vdivRange = draws.uniform(0, 0.02);
    b.fluence = draws.uniform(1e24, 1e26);
    const std::int64_t sources = draws.integer(1, 4);
    b.wavelengthOffset = draws.uniform(-0.02, 0.02) * angstrom;
    b.wavelengthScale = draws.uniform(0.98, 1.02);
    b.sourceWeight.clear();
    for (std::int64_t i = 0; i < sources; ++i) {
      b.unitHdiv.push_back(draws.uniform(-0.5, 0.5));
      b.unitVdiv.push_back(draws.uniform(-0.5, 0.5));
      b.unitDispersion.push_back(draws.uniform(-0.5, 0.5));
      b.sourceDirection.push_back(
          unit(inFrame(draws.uniform(-0.02, 0.02), draws.uniform(-0.02, 0.02), -1)));
      b.sourceWavelength.push_back(b.wavelength * draws.uniform(0.97, 1.03));
      b.sourceWeight.push_back(draws.uniform(0.2, 3));
    }
    return b;
  }

  Detector detector() {
    Detector d;
    d.distance = draws.uniform(50, 120) * millimetre;
    d.closeDistance = draws.uniform(50, 120) * millimetre;
    d.pixelSize = draws.uniform(1, 3) * millimetre;
    d.fastPixels = draws.integer(17, 27);
    d.slowPixels = draws.integer(17, 27);
    d.beamCenterFast = draws.uniform(0.2, 0.8) * d.pixelSize * double(d.fastPixels);
    d.beamCenterSlow = draws.uniform(0.2, 0.8) * d.pixelSize * double(d.slowPixels);
    d.fastAxis = inFrame(1, 0, 0);
    d.slowAxis = inFrame(0, draws.chance(0.5) ? 1 : -1, 0);
    d.normal = inFrame(0, 0, 1);
    d.rotation = {draws.uniform(-0.2, 0.2), draws.uniform(-0.2, 0.2), draws.uniform(-0.2, 0.2)};
    d.twotheta = draws.uniform(-0.4, 0.4);
    d.twothetaAxis = direction();
    d.oversample = draws.integer(1, 2);
    d.roiFastMax = d.fastPixels - 1;
    d.roiSlowMax = d.slowPixels - 1;
    if (draws.chance(0.5)) {
      d.roiFastMin = draws.integer(0, 5);
      d.roiFastMax = draws.integer(10, d.fastPixels - 1);
      d.roiSlowMin = draws.integer(0, 5);
      d.roiSlowMax = draws.integer(10, d.slowPixels - 1);
    }
    d.attenuationDepth = draws.uniform(0.1, 1) * millimetre;
    d.sensorThickness = draws.uniform(0.1, 1) * millimetre;
    if (s.capture != Capture::None)
      d.layers = draws.integer(1, 3);
    d.layerFraction = 1 / double(d.layers);
    if (s.panels)
      for (std::int64_t i = 0, n = draws.integer(1, 3); i < n; ++i)
        d.panels.push_back(panel(d));
    const auto panels = std::int64_t(std::max<std::size_t>(d.panels.size(), 1));
    const std::int64_t pixels = panels * d.slowPixels * d.fastPixels;
    if (s.mask)
      for (std::int64_t i = 0; i < pixels; ++i)
        d.mask.push_back(!draws.chance(0.2));
    if (s.gainMap)
      for (std::int64_t i = 0; i < pixels; ++i)
        d.gainMap.values.push_back(draws.uniform(0.5, 2));
    if (s.gain)
      d.gain = draws.uniform(0.3, 5);
    if (s.countingLoss)
      d.deadTime = draws.uniform(0, 1e-12); // the brightest pixels have some 1e12 photons
    return d;
  }

  Panel panel(const Detector &d) {
    const Mat3 turn = rotation(0.2);
    const auto offset = [&] { return draws.uniform(-10, 10) * millimetre; };
    return {{offset(), offset(), offset()},
            transform(turn, d.fastAxis),
            transform(turn, d.slowAxis),
            transform(turn, d.normal)};
  }

  const ProgramVariant &s;
  Draws &draws;
  Mat3 frame{}; ///< how beam and detector lie in the lab
};

} // namespace

ProgramVariant randomVariant(Draws &draws) {
  ProgramVariant s;
  s.shape = draws.oneOf(CrystalShape::GaussMatrix);
  s.structureFactors = draws.oneOf(StructureFactors::Tricubic);
  s.cellSource = draws.oneOf(CellSource::CellAndMatrix);
  s.cellSetting = draws.oneOf(Rule::C);
  s.spotMetric = draws.oneOf(Rule::C);
  s.sources = draws.oneOf(Sources::Listed);
  s.pivot = draws.oneOf(Pivot::Sample);
  s.distance = draws.oneOf(DistanceInput::CloseDistance);
  s.curvature = draws.oneOf(Curvature::C);
  s.solidAngle = draws.oneOf(SolidAngle::Point);
  s.omega = draws.chance(0.5) ? Evaluation::Once : Evaluation::Each;
  s.polarization = draws.oneOf(Evaluation::Each);
  s.capture = draws.oneOf(Capture::Each);
  s.water = draws.oneOf(Water::C);
  s.mosaicity = draws.oneOf(Mosaicity::CrystalBall);
  s.diffuse = draws.chance(0.3);
  s.background = draws.chance(0.5);
  s.dmin = draws.chance(0.5);
  s.panels = draws.chance(0.5);
  s.mask = draws.chance(0.5);
  s.imageType = ImageType::F64;
  s.gainMap = draws.chance(0.5);
  s.gain = draws.chance(0.5);
  s.countingLoss = draws.chance(0.5);
  return s;
}

Experiment randomExperiment(const ProgramVariant &variant, Draws &draws) {
  return Maker(variant, draws).make();
}

} // namespace nanobragg
