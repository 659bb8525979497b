// The numbers of an experiment that a user is told.
//
// The numbers in console output and image headers beyond the experiment itself. Lengths in m
// and angles in rad unless said otherwise; the cell in A.
#ifndef NANOBRAGG_EXPERIMENT_REPORT_H
#define NANOBRAGG_EXPERIMENT_REPORT_H

#include "lib/Experiment/Options.h"

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

namespace nanobragg {

/// A cell with its vectors at phi = 0, in A and rad (or 1/A and rad).
struct CellReport {
  std::array<double, 3> lengths{}, angles{};
  std::array<Vec3, 3> vectors{}; ///< a, b, c
};

/// The detector after all rotations.
struct DetectorReport {
  double distance = 0, closeDistance = 0;
  double fBeam = 0, sBeam = 0;   ///< where the beam meets the detector
  double fClose = 0, sClose = 0; ///< the point nearest to the sample
  double xBeam = 0, yBeam = 0, xClose = 0,
         yClose = 0;         ///< as given or defaulted, not computed again
  double orgX = 0, orgY = 0; ///< pixels, XDS
  Vec3 dialsOrigin{};        ///< mm
  Vec3 pix0{}, fastAxis{}, slowAxis{}, normal{};
  Vec3 xdsBeam{}; ///< the beam along fast, slow and normal
  double detSizeFast = 0, detSizeSlow = 0;
};

struct DivergenceReport {
  double range = 0, step = 0; ///< rad
  std::int64_t steps = 1;
};

/// A source as printed: its position before normalisation.
struct SourceReport {
  Vec3 position{};
  double intensity = 0; ///< 1/n when generated, the weight column when listed
  double wavelength = 0;
};

struct Report {
  Convention convention = Convention::Mosflm;
  Pivot pivot = Pivot::Beam;
  DetectorReport detector;
  Vec3 beamDirection{}, spindleAxis{};
  Vec3 polarizationPlaneNormal{}; ///< beam x polarization axis, not normalised
  double twotheta = 0;

  std::optional<bool> interpolationAutoSelected; ///< set when no flag decided: tricubic or not
  std::optional<Vec3> randomMisset;              ///< rad, with -misset random
  CellReport cell, reciprocalCell;
  double volume = 0;                   ///< A^3, negative for a left-handed matrix
  std::array<double, 3> crystalSize{}; ///< m along a, b, c
  double largestCrystalSize = 0, reciprocalPixelSize = 0; ///< m
  std::int64_t recommendedOversample = 1;
  bool oversampleAutoSelected = false;
  double approximateMolecularWeight = 0; ///< g/mol

  double sensorThickness = 0, sensorMu = -1; ///< m; 1/m, -1 when never set
  std::vector<double> layerDepths;           ///< m, front of each layer
  double phi0 = 0, osc = 0;
  std::vector<double> phiSteps; ///< rad, one per step

  DivergenceReport hdiv, vdiv;                             ///< rad
  DivergenceReport dispersion;                             ///< fractions of the wavelength
  std::int64_t divergenceSteps = -1;                       ///< -1 with a source file
  std::vector<std::array<double, 2>> divergenceDeviations; ///< rad, horizontal and vertical
  std::vector<double> wavelengths;                         ///< m, empty with a source file
  double wavelength = 0;                                   ///< m, central
  std::vector<SourceReport> sources;

  double flux = 0;                   ///< photons/s, consistent with the fluence
  std::array<std::int64_t, 4> roi{}; ///< as printed, bounds not clipped to the image
  double solidAngleDivisor = 1;      ///< turns a sum over layers and sub-pixels into sr
};

} // namespace nanobragg
#endif
