#include "lib/Experiment/DetectorGeometry.h"

#include "lib/Experiment/VectorAlgebra.h"
#include "test/Experiment/Support.h"

#include <cmath>

namespace nanobragg {
namespace {

Options tilted(Convention convention) {
  Options options = withPlate(convention);
  options.rotX = 5;
  options.rotY = 3;
  options.rotZ = 2;
  options.twotheta = 20;
  return options;
}

/// The origin from the experiment's numbers alone, by matrices: what a kernel has to come to.
Vec3 originOf(const Experiment &e) {
  using Matrix = std::array<Vec3, 3>; // rows
  auto apply = [](const Matrix &m, const Vec3 &x) {
    return Vec3{dot(m[0], x), dot(m[1], x), dot(m[2], x)};
  };
  const Detector &d = e.detector;
  const auto [x, y, z] = d.rotation;
  const Matrix rx{{{1, 0, 0}, {0, std::cos(x), -std::sin(x)}, {0, std::sin(x), std::cos(x)}}};
  const Matrix ry{{{std::cos(y), 0, std::sin(y)}, {0, 1, 0}, {-std::sin(y), 0, std::cos(y)}}};
  const Matrix rz{{{std::cos(z), -std::sin(z), 0}, {std::sin(z), std::cos(z), 0}, {0, 0, 1}}};
  auto tilt = [&](const Vec3 &v) { return apply(rz, apply(ry, apply(rx, v))); };
  auto swing = [&](const Vec3 &v) {
    const Vec3 &n = d.twothetaAxis;
    const double c = std::cos(d.twotheta), s = std::sin(d.twotheta);
    Matrix m;
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j)
        m[i][j] = n[i] * n[j] * (1 - c) + (i == j ? c : 0);
    m[0][1] -= n[2] * s, m[0][2] += n[1] * s, m[1][2] -= n[0] * s;
    m[1][0] += n[2] * s, m[2][0] -= n[1] * s, m[2][1] += n[0] * s;
    return apply(m, v);
  };
  const double cosine = dot(e.beam.direction, tilt(d.normal));
  const double close = e.variant.distance == DistanceInput::CloseDistance
                           ? d.closeDistance
                           : std::fabs(cosine * d.distance);
  auto at = [&](const Vec3 &f, const Vec3 &s, const Vec3 &o, double l) {
    Vec3 p;
    for (int i = 0; i < 3; ++i)
      p[i] = -d.beamCenterFast * f[i] - d.beamCenterSlow * s[i] + l * o[i];
    return p;
  };
  if (e.variant.pivot == Pivot::Sample)
    return swing(tilt(at(d.fastAxis, d.slowAxis, d.normal, close)));
  return at(swing(tilt(d.fastAxis)), swing(tilt(d.slowAxis)), e.beam.direction, close / cosine);
}

TEST(Detector, OriginOfTiltedDetectors) {
  CompleteExperiment mosflm = completeC(tilted(Convention::Mosflm));
  expectNear(originOf(mosflm.experiment), {0.112944396, 0.047625819, -0.045915618}, 5e-10);
  expectNear(mosflm.report.detector.pix0, originOf(mosflm.experiment), 1e-15);
  CompleteExperiment xds = completeC(tilted(Convention::Xds));
  expectNear(originOf(xds.experiment), {-0.043055536, -0.085121045, 0.072955362}, 5e-10);
  expectNear(xds.report.detector.pix0, originOf(xds.experiment), 1e-15);
}

TEST(Detector, RederivedNumbersOfTheCProgram) {
  DetectorReport r = completeC(tilted(Convention::Mosflm)).report.detector;
  EXPECT_NEAR(r.distance, 0.0951636, 5e-8);
  EXPECT_NEAR(r.closeDistance, 0.0949753, 5e-8);
  EXPECT_NEAR(r.orgX, 478.848, 5e-4);
  EXPECT_NEAR(r.orgY, 763.679, 5e-4);
  EXPECT_NEAR(r.fBeam, 0.0499904, 5e-8);
  EXPECT_NEAR(r.sBeam, 0.0466098, 5e-8);
  expectNear(r.dialsOrigin, {-45.9156, 47.6258, -112.944}, 5e-4);
  expectNear(r.xdsBeam, {0.0226524, -0.312179, 0.949753}, 5e-7);
  expectNear(r.slowAxis, {-0.312179, -0.946028, -0.0870363}, 5e-7);

  r = completeC(tilted(Convention::Xds)).report.detector;
  EXPECT_NEAR(r.distance, 0.1, 1e-9);
  EXPECT_NEAR(r.closeDistance, 0.0994829, 5e-8);
  EXPECT_NEAR(r.orgX, 500.5, 1e-9);
  EXPECT_NEAR(r.orgY, 450.5, 1e-9);
  EXPECT_NEAR(r.fBeam, 0.046274, 5e-7);
  EXPECT_NEAR(r.sBeam, 0.0872353, 5e-8);
}

TEST(Detector, RightBeamCenterLiesOnTheBeam) {
  for (Convention convention : {Convention::Mosflm, Convention::Adxv, Convention::Xds}) {
    CompleteExperiment complete = completeRight(tilted(convention));
    const DetectorReport &r = complete.report.detector;
    Vec3 hit = sum(r.pix0, sum(scaled(r.fastAxis, r.fBeam), scaled(r.slowAxis, r.sBeam)));
    expectNear(hit, scaled(complete.experiment.beam.direction, r.distance), 1e-15);
    EXPECT_TRUE(notes(complete, "twotheta-ratio"));
  }
}

TEST(Detector, TwothetaSwingKeepsTheRightDistanceAndBeamCenter) {
  Options options = withPlate(Convention::Mosflm);
  options.twotheta = 30;
  EXPECT_NEAR(completeC(options).report.detector.distance, 0.0866025, 5e-8);
  EXPECT_NEAR(completeC(options).report.detector.sBeam, 0.0517987, 5e-8);
  EXPECT_NEAR(completeRight(options).report.detector.distance, 0.1, 1e-12);
  EXPECT_NEAR(completeRight(options).report.detector.sBeam, 0.0451, 1e-12);
  // The origin does not depend on it.
  expectNear(originOf(completeRight(options).experiment), originOf(completeC(options).experiment),
             1e-15);
}

TEST(Detector, CloseDistanceWithTwotheta) {
  Options options = withPlate(Convention::Mosflm);
  options.distance.reset();
  options.closeDistance = 80;
  options.twotheta = 30;
  CompleteExperiment c = completeC(options);
  EXPECT_EQ(c.experiment.variant.distance, DistanceInput::CloseDistance);
  expectNear(originOf(c.experiment), {0.10255, 0.0390577, -0.0501}, 5e-8);
  CompleteExperiment right = completeRight(options);
  EXPECT_NEAR(right.report.detector.closeDistance, 0.08, 1e-15);
  EXPECT_NEAR(right.report.detector.distance, 0.08 / std::cos(30 * degree), 1e-15);
  expectNear(originOf(right.experiment), right.report.detector.pix0, 1e-15);
}

TEST(Detector, CloseDistanceWithATilt) {
  Options options = withPlate(Convention::Mosflm);
  options.distance.reset();
  options.closeDistance = 75;
  options.rotY = 12;
  for (const CompleteExperiment &complete : {completeRight(options), completeC(options)}) {
    EXPECT_EQ(complete.experiment.variant.distance, DistanceInput::CloseDistance);
    EXPECT_NEAR(complete.report.detector.distance, 0.0766755, 5e-8);
    EXPECT_NEAR(complete.report.detector.fClose, 0.0341583, 5e-8);
    EXPECT_TRUE(complete.notices.empty());
  }
}

TEST(Detector, PivotFollowsTheConventionUnlessCustom) {
  auto pivot = [](Convention convention, std::optional<Pivot> flag) {
    Options options = withPlate(convention);
    options.pivot = flag;
    return completeRight(options).experiment.variant.pivot;
  };
  EXPECT_EQ(pivot(Convention::Mosflm, Pivot::Sample), Pivot::Beam);
  EXPECT_EQ(pivot(Convention::Adxv, Pivot::Sample), Pivot::Beam);
  EXPECT_EQ(pivot(Convention::Denzo, Pivot::Sample), Pivot::Beam);
  EXPECT_EQ(pivot(Convention::Xds, Pivot::Beam), Pivot::Sample);
  EXPECT_EQ(pivot(Convention::Dials, Pivot::Beam), Pivot::Sample);
  EXPECT_EQ(pivot(Convention::Custom, {}), Pivot::Beam);
  EXPECT_EQ(pivot(Convention::Custom, Pivot::Sample), Pivot::Sample);
}

TEST(Detector, CustomStartsFromMosflmExceptForTheTwothetaAxis) {
  Experiment e = completeRight(withPlate(Convention::Custom)).experiment;
  EXPECT_EQ(e.beam.direction, (Vec3{1, 0, 0}));
  EXPECT_EQ(e.detector.fastAxis, (Vec3{0, 0, 1}));
  EXPECT_EQ(e.detector.slowAxis, (Vec3{0, -1, 0}));
  EXPECT_EQ(e.detector.twothetaAxis, (Vec3{0, 1, 0}));
  EXPECT_EQ(e.goniometer.spindleAxis, (Vec3{0, 0, 1}));
}

TEST(Detector, VectorsAreNormalised) {
  Options options = withPlate(Convention::Custom);
  options.fastAxis = {{0, 0, 2}};
  options.slowAxis = {{0, -3, 0}};
  options.beamVector = {{5, 0, 0}};
  options.polarVector = {{0, 0, 0.1}};
  options.spindleAxis = {{0, 3, 4}};
  Experiment e = completeRight(options).experiment;
  EXPECT_EQ(e.detector.fastAxis, (Vec3{0, 0, 1}));
  EXPECT_EQ(e.detector.slowAxis, (Vec3{0, -1, 0}));
  EXPECT_EQ(e.beam.direction, (Vec3{1, 0, 0}));
  EXPECT_EQ(e.beam.polarizationAxis, (Vec3{0, 0, 1}));
  expectNear(e.goniometer.spindleAxis, {0, 0.6, 0.8}, 1e-15);
}

TEST(Detector, NormalThatIsNotQuiteUnit) {
  // A left-handed frame: fast x slow is -X.
  Options options = withPlate(Convention::Custom);
  options.fastAxis = {{0, 0, 1}};
  options.slowAxis = {{0, 1, 0}};
  options.normalAxis = {{1.001, 0, 0}};
  CompleteExperiment c = completeC(options), right = completeRight(options);
  EXPECT_EQ(c.experiment.detector.normal, (Vec3{-1, 0, 0}));
  EXPECT_TRUE(warns(c, "auto-generating odet_vector"));
  EXPECT_EQ(right.experiment.detector.normal, (Vec3{1, 0, 0}));
  EXPECT_TRUE(notes(right, "detector-normal"));
  options.normalAxis = {{1, 0, 0}};
  EXPECT_EQ(completeC(options).experiment.detector.normal, (Vec3{1, 0, 0}));
  EXPECT_FALSE(notes(completeRight(options), "detector-normal"));
}

TEST(Detector, TwothetaAxisLength) {
  Options options = withPlate(Convention::Custom);
  options.twothetaAxis = {{0, 2, 0}};
  options.twotheta = 10;
  EXPECT_EQ(completeC(options).experiment.detector.twothetaAxis, (Vec3{0, 2, 0}));
  EXPECT_EQ(completeRight(options).experiment.detector.twothetaAxis, (Vec3{0, 1, 0}));
  EXPECT_TRUE(notes(completeRight(options), "twotheta-axis"));
}

TEST(Detector, VectorsUnderANamedConventionAreDiscarded) {
  Options options = withPlate(Convention::Xds);
  options.spindleAxis = {{0, 1, 0}};
  CompleteExperiment complete = completeRight(options);
  EXPECT_EQ(complete.experiment.goniometer.spindleAxis, (Vec3{1, 0, 0}));
}

TEST(Detector, PanelsOfDifferentSizes) {
  Options options = cubic();
  options.fastPixels.reset();
  options.slowPixels.reset();
  options.panels = {{{0, 0, 0}, {0, 0, 1}, {0, -1, 0}, {}, 3, 2},
                    {{0, 9, 0}, {0, 0, 1}, {0, -1, 0}, {}, 1, 4}};
  const Experiment e = completeRight(options).experiment;
  EXPECT_EQ(e.detector.fastPixels, 3);
  EXPECT_EQ(e.detector.slowPixels, 4);
  EXPECT_TRUE(e.variant.mask);
  EXPECT_EQ(e.detector.mask, (std::vector<std::uint8_t>{1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, //
                                                        1, 0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0}));
  // With a mask of the user's, both count.
  Inputs inputs;
  inputs.mask = MaskImage{3, 8, std::vector<std::uint16_t>(24, 7)};
  inputs.mask->pixels[1] = inputs.mask->pixels[12] = 0;
  const Experiment masked =
      chooseDefaults(fromFlagUnits(options), inputs, Semantics::right()).experiment;
  EXPECT_EQ(masked.detector.mask[0], 1);
  EXPECT_EQ(masked.detector.mask[1], 0);
  EXPECT_EQ(masked.detector.mask[6], 0);
  EXPECT_EQ(masked.detector.mask[12], 0);
  EXPECT_EQ(masked.detector.mask[15], 1);
  // Equal ones need none.
  options.panels[1].fastPixels = 3;
  options.panels[0].slowPixels = 4;
  EXPECT_FALSE(completeRight(options).experiment.variant.mask);
  // A larger frame than any panel needs, and a smaller one than one has.
  options.fastPixels = 5;
  EXPECT_EQ(completeRight(options).experiment.detector.fastPixels, 5);
  EXPECT_TRUE(completeRight(options).experiment.variant.mask);
  options.fastPixels = 2;
  EXPECT_THROW(completeRight(options), std::invalid_argument);
}

TEST(Detector, Panels) {
  Options options = withPlate(Convention::Mosflm);
  options.panels = {{{0, 0, 0}, {0, 0, 1}, {0, -2, 0}, {}},
                    {{1, 2, 3}, {0, 0, 1}, {0, -1, 0}, Vec3{2, 0, 0}}};
  Experiment e = completeRight(options).experiment;
  EXPECT_TRUE(e.variant.panels);
  EXPECT_EQ(e.panelCount(), 2);
  EXPECT_EQ(e.detector.panels[0].slowAxis, (Vec3{0, -1, 0}));
  EXPECT_EQ(e.detector.panels[0].normal, (Vec3{1, 0, 0}));
  expectNear(e.detector.panels[1].offset, {0.001, 0.002, 0.003}, 1e-18);
  EXPECT_EQ(e.detector.panels[1].normal, (Vec3{1, 0, 0}));
}

} // namespace
} // namespace nanobragg
