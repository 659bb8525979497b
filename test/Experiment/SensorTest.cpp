#include "test/Experiment/Support.h"

#include <limits>

namespace nanobragg {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

Options withSensor() {
  Options options = cubic();
  options.thickness = 450;
  options.attenuationDepth = 500;
  return options;
}

TEST(Sensor, NoneByDefault) {
  CompleteExperiment d = completeRight(cubic());
  EXPECT_EQ(d.experiment.variant.capture, Capture::None);
  EXPECT_EQ(d.experiment.detector.layers, 1);
  EXPECT_EQ(d.report.sensorMu, -1);
}

TEST(Sensor, LayersFillTheSensor) {
  Options options = withSensor();
  options.thickSteps = 5;
  CompleteExperiment d = completeRight(options);
  EXPECT_EQ(d.experiment.variant.capture, Capture::Sum);
  EXPECT_EQ(d.experiment.detector.layers, 5);
  EXPECT_DOUBLE_EQ(d.experiment.detector.layerFraction, 0.2);
  EXPECT_DOUBLE_EQ(d.experiment.detector.attenuationDepth, 500e-6);
  EXPECT_DOUBLE_EQ(d.report.layerDepths[4], 360e-6);
}

TEST(Sensor, LayersOfTheCProgram) {
  Options options = withSensor();
  CompleteExperiment d = completeC(options);
  EXPECT_EQ(d.experiment.variant.capture, Capture::Last);
  EXPECT_EQ(d.experiment.detector.layers, 2);
  EXPECT_DOUBLE_EQ(d.experiment.detector.layerFraction, 0.5);
  options.thickSteps = 5;
  options.thickness = 100;
  d = completeC(options);
  EXPECT_EQ(d.experiment.detector.layers, 5);
  EXPECT_DOUBLE_EQ(d.experiment.detector.sensorThickness * d.experiment.detector.layerFraction,
                   25e-6);
}

TEST(Sensor, OversampledCapture) {
  Options options = withSensor();
  options.oversampleThick = true;
  EXPECT_EQ(completeRight(options).experiment.variant.capture, Capture::Each);
  EXPECT_EQ(completeC(options).experiment.variant.capture, Capture::Each);
}

TEST(Sensor, ThicknessAloneSetsTheDepth) {
  Options options = cubic();
  options.thickness = 450;
  CompleteExperiment d = completeRight(options);
  EXPECT_DOUBLE_EQ(d.experiment.detector.attenuationDepth, 450e-6);
  EXPECT_DOUBLE_EQ(d.report.sensorMu, 1 / 450e-6);
  EXPECT_TRUE(warns(d, "attenuation depth"));
}

TEST(Sensor, InfiniteDepthAfterTheThickness) {
  Options options = withSensor();
  options.attenuationDepth = infinity;
  options.absorptionOffAfterThickness = true;
  for (const CompleteExperiment &d : {completeRight(options), completeC(options)}) {
    EXPECT_EQ(d.experiment.variant.capture, Capture::None);
    EXPECT_FALSE(notes(d, "no-absorption"));
  }
}

TEST(Sensor, InfiniteDepthBeforeTheThicknessIsBlackInC) {
  Options options = withSensor();
  options.attenuationDepth = 0;
  CompleteExperiment c = completeC(options), right = completeRight(options);
  EXPECT_EQ(c.experiment.variant.capture, Capture::Last);
  EXPECT_EQ(c.experiment.detector.attenuationDepth, infinity);
  EXPECT_DOUBLE_EQ(c.experiment.detector.sensorThickness, 450e-6);
  EXPECT_EQ(right.experiment.variant.capture, Capture::None);
  EXPECT_EQ(right.experiment.detector.layers, 1);
  EXPECT_TRUE(notes(right, "no-absorption"));
}

TEST(Sensor, DepthAfterAnInfiniteOne) {
  Options options = withSensor();
  options.absorptionOffAfterThickness = true;
  EXPECT_EQ(completeC(options).experiment.variant.capture, Capture::None);
  EXPECT_EQ(completeRight(options).experiment.variant.capture, Capture::Sum);
}

TEST(Sensor, OversampledCaptureWithoutASensorIsBlackInC) {
  Options options = cubic();
  options.oversampleThick = true;
  Experiment c = completeC(options).experiment;
  EXPECT_EQ(c.variant.capture, Capture::Each);
  EXPECT_EQ(c.detector.sensorThickness, 0);
  EXPECT_EQ(c.detector.layers, 1);
  CompleteExperiment right = completeRight(options);
  EXPECT_EQ(right.experiment.variant.capture, Capture::None);
  EXPECT_TRUE(notes(right, "no-absorption"));
}

TEST(Sensor, OtherVariant) {
  Options options = cubic();
  options.pointPixel = true;
  options.oversampleOmega = true;
  options.curved = true;
  ProgramVariant right = completeRight(options).experiment.variant;
  EXPECT_EQ(right.solidAngle, SolidAngle::Point);
  EXPECT_EQ(right.omega, Evaluation::Each);
  EXPECT_EQ(right.curvature, Curvature::Right);
  EXPECT_EQ(completeC(options).experiment.variant.curvature, Curvature::C);
}

} // namespace
} // namespace nanobragg
