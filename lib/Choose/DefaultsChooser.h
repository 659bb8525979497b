// The stages of chooseDefaults().
#ifndef NANOBRAGG_CHOOSE_DEFAULTSCHOOSER_H
#define NANOBRAGG_CHOOSE_DEFAULTSCHOOSER_H

#include "lib/Choose/Defaults.h"
#include "lib/Choose/Steps.h"
#include "lib/Quantities/Quantity.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>

namespace nanobragg {

/// One run of chooseDefaults(); the stages are called in this order and each relies on those before
/// it.
/// The value at x of the line through two points (x, value).
inline double between(const std::array<double, 2> &one, const std::array<double, 2> &other,
                      double x) {
  return one[1] + (other[1] - one[1]) * (x - one[0]) / (other[0] - one[0]);
}

class DefaultsChooser {
public:
  DefaultsChooser(const Options &options, const Inputs &inputs, const Semantics &semantics)
      : said(options), inputs(inputs), semantics(semantics) {}

  CompleteExperiment run();

private:
  // Defaults.cpp
  void readHeaders();
  void chooseSeeds();
  void chooseRegion();
  void chooseMask();
  /// Panels smaller than the largest lie in the first corner of a frame of its size.
  void maskPadding();
  void choosePointSpread();
  void chooseCountingLoss();
  void chooseGain();
  void checkSampleCount();
  // FrameDefaults.cpp: directions, which the convention decides
  void chooseFrame();
  void replacePolarizationAxis();
  // DetectorDefaults.cpp
  void choosePixels();
  void chooseBeamCenter();
  void chooseDistance();
  void choosePanels();
  std::string panelName(std::size_t index) const; ///< for messages
  void chooseFaces();
  void chooseCurvature();
  void chooseDetector();
  // SensorDefaults.cpp: thickness, layers and absorption
  void chooseSensor();
  void chooseAbsorption();
  // BeamDefaults.cpp
  void chooseBeam();
  StepRange divergence(std::optional<double> Options::*range, std::optional<double> Options::*step,
                       std::optional<std::int64_t> Options::*steps, const char *flag);
  void chooseNormalDivergence();
  double beamSize() const; ///< m
  void chooseFluence();
  void chooseSources();
  void chooseSpectrum(std::vector<std::array<double, 2>> points);
  bool isTooWideForPixels() const;
  double efficiencyAt(double wavelength) const;
  void chooseEfficiency();
  void generateSources();
  void listSources();
  void chooseWavelengthScale();
  void noteFirstSource();
  // BackgroundDefaults.cpp
  void chooseBackground();
  // CrystalDefaults.cpp
  void chooseCrystal();
  void chooseGoniometer();
  void chooseOrientation();
  void chooseCrystalSize();
  void chooseWidthMatrix();
  void chooseOversample();
  std::int64_t mosaicDomains(const std::string &flag);
  void chooseMosaic();
  void chooseMosaicFrame(std::int64_t domains);
  void chooseMosaicEllipsoid();
  void chooseMosaicBlocks();
  void chooseDiffuse();
  void chooseStructureFactors();
  // AverageDefaults.cpp: averages that are not sampled
  bool isSampled() const { return experiment.variant.isSampled(); }
  bool isAveragedByDefault();
  void chooseAveraging();
  void chooseAveragedSweep();
  void setPartsOfSweep(std::int64_t parts);
  void splitSweep();
  void chooseAverage();
  std::int64_t fewestDraws() const;
  std::int64_t reflectionsAround() const;
  // EnergyDefaults.cpp: structure factors by energy
  void chooseFactorsByEnergy();
  void chooseEnergyNodes();
  void chooseChannels();
  void chooseAnomalous();

  void warn(const std::string &text) { complete.warnings.push_back(text); }
  /// A warning where a beam centre is far off the detector, and on it if its number counts pixels,
  /// or at the edge, and near the middle if its number is in metres.
  void warnOfCenter(const std::string &flag, std::optional<double> metres);
  /// This run depends on the switch; says so, once, when it is set Right.
  void note(Rule Semantics::*rule);
  /// The smallest whole number not below the ratio, by the switch `exactRatios`. `ofC` is the ratio
  /// as the C program rounds it, where other switches make this one differ in its last digits.
  double wholeNumber(double ratio, std::optional<double> ofC = std::nullopt);
  /// The steps that `choose` chooses by the same switch.
  template <typename Choose>
  auto chosenSteps(Choose choose) {
    auto chosen = choose(semantics.exactRatios);
    if (chosen != choose(Rule::C))
      note(&Semantics::exactRatios);
    return chosen;
  }

  const OptionReader said;
  const Inputs &inputs;
  const Semantics &semantics;
  CompleteExperiment complete;
  Experiment &experiment = complete.experiment;
  Report &report = complete.report;

  /// Headers of -mask and -img under the flags; SI, unset where none says anything.
  struct Merged {
    std::optional<double> pixelSize, distance, closeDistance, wavelength, xBeam, yBeam, orgX, orgY;
    std::optional<double> phi, osc;
    std::int64_t fastPixels = 0, slowPixels = 0;
  } given;
  std::int64_t missetSeed = 0, mosaicSeed = 0;
  std::array<double, 3> cellEdges{}, cellEdgesOfC{}; ///< m; as the C program rounds them
};

/// Throws std::invalid_argument naming the flag unless value > 0 and finite.
void requirePositive(double value, const char *flag, const char *unit);
void requireNotNegative(double value, const char *flag, const char *unit);
/// The shortest text that reads well, as %g.
std::string text(double value);

} // namespace nanobragg
#endif
