// The C program's peculiarities, one switch each.
#ifndef NANOBRAGG_EXPERIMENT_SEMANTICS_H
#define NANOBRAGG_EXPERIMENT_SEMANTICS_H

#include "lib/Experiment/ProgramVariant.h"

#include <span>

namespace nanobragg {

/// Rule::C reproduces the C program where physics says otherwise. All Right by default.
struct Semantics {
  Rule cellSetting = Rule::Right;
  Rule spotMetric = Rule::Right;
  Rule randomMisset = Rule::Right;
  Rule mosaicFrame = Rule::Right;
  Rule exactRatios = Rule::Right;
  Rule interpolationChoice = Rule::Right;
  Rule sourceWeights = Rule::Right;
  Rule twothetaRatio = Rule::Right;
  Rule twothetaAxis = Rule::Right;
  Rule detectorNormal = Rule::Right;
  Rule curvedDetector = Rule::Right;
  Rule detectorFaces = Rule::Right;
  Rule layerSpacing = Rule::Right;
  Rule layerCapture = Rule::Right;
  Rule noAbsorption = Rule::Right;
  Rule water = Rule::Right;
  Rule backgroundTables = Rule::Right;
  Rule solidAngleSum = Rule::Right;
  Rule clockSeed = Rule::Right; // not announced: either way the numbers are random
  Rule noiseWrap = Rule::Right;
  Rule headerLookup = Rule::Right; // applied where files are read
  Rule columns = Rule::Right;      // applied where files are read; the default refuses the rest
  Rule fileNames = Rule::Right;    // applied where files are named; the default refuses the rest
  Rule flagPrefixes = Rule::Right; // applied where flags are parsed

  /// -compat noisify: gain and point spread are of the noise image alone, as in that program, which
  /// takes an image of photons. Not a switch of the C program nanoBragg.
  bool noisify = false;

  static Semantics right() { return {}; }
  static Semantics c();

  /// All switches of the C program?
  bool isC() const;

  bool operator==(const Semantics &) const = default;
};

/// One row of the documentation's table.
struct SemanticSwitch {
  const char *name;
  Rule Semantics::*rule;
  const char *cProgram; ///< the C program's way
  const char *right;    ///< the right way
  const char *flags;    ///< the flags that it concerns
};

/// Every switch, in the order of the fields.
std::span<const SemanticSwitch> semanticSwitches();

} // namespace nanobragg
#endif
