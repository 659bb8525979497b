// The stages of derive().
#ifndef NANOBRAGG_EXPERIMENT_DERIVER_H
#define NANOBRAGG_EXPERIMENT_DERIVER_H

#include "lib/Experiment/Derive.h"

#include <cstdint>
#include <string>

namespace nanobragg {

/// One run of derive(); the stages are called in this order and each relies on those before it.
class Deriver {
public:
  Deriver(const Options &options, const Inputs &inputs, const Semantics &semantics)
      : options(options), inputs(inputs), semantics(semantics) {}

  Derived run();

private:
  // Derive.cpp
  void readHeaders();
  void deriveSeeds();
  void deriveRegion();
  void deriveMask();
  void checkSampleCount();
  // DeriveFrame.cpp: directions, which the convention decides
  void deriveFrame();
  void replacePolarizationAxis();
  // DeriveDetector.cpp
  void derivePixels();
  void deriveBeamCenter();
  void deriveDistance();
  void derivePanels();
  void deriveDetector();
  // DeriveSensor.cpp: thickness, layers and absorption
  void deriveSensor();
  // DeriveBeam.cpp
  void deriveBeam();
  void deriveFluence();
  void deriveSources();
  void generateSources();
  void listSources();
  void noteFirstSource();
  // DeriveCrystal.cpp
  void deriveCrystal();
  void deriveGoniometer();
  void deriveOrientation();
  void deriveCrystalSize();
  void deriveOversample();
  void deriveMosaic();
  void deriveStructureFactors();

  void warn(const std::string &text) { derived.warnings.push_back(text); }
  /// This run depends on the switch; says so when it is set Right.
  void note(Rule Semantics::*rule);

  const Options &options;
  const Inputs &inputs;
  const Semantics &semantics;
  Derived derived;
  Experiment &experiment = derived.experiment;
  Report &report = derived.report;

  /// Headers of -mask and -img under the flags; SI, unset where none says anything.
  struct Merged {
    std::optional<double> pixelSize, distance, closeDistance, wavelength, xBeam, yBeam, orgX, orgY;
    std::optional<double> phi, osc;
    std::int64_t fastPixels = 0, slowPixels = 0;
  } given;
  std::int64_t missetSeed = 0, mosaicSeed = 0;
};

/// Throws std::invalid_argument naming the flag unless value > 0 and finite.
void requirePositive(double value, const char *flag, const char *unit);
void requireNotNegative(double value, const char *flag, const char *unit);
void requireFinite(double value, const char *flag);
void requireFinite(const Vec3 &value, const char *flag);
/// The shortest text that reads well, as %g.
std::string text(double value);

} // namespace nanobragg
#endif
