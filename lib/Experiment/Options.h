// An experiment with open fields.
//
// Plain data in SI units (m, rad, s, kg), in which "unset" is apart from any value:
// chooseDefaults() makes an Experiment of it. Data from memory or from files are in Inputs.
#ifndef NANOBRAGG_EXPERIMENT_OPTIONS_H
#define NANOBRAGG_EXPERIMENT_OPTIONS_H

#include "lib/Experiment/Experiment.h"
#include "lib/Experiment/FactorsByEnergy.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace nanobragg {

/// How much of a material is in the beam.
struct MaterialOptions {
  std::optional<double> thickness; ///< m
  std::optional<double> density;   ///< kg/m^3
  std::optional<double> molarMass; ///< kg/mol
};

/// A spectrum is lines at its points, or linear between them.
enum class SpectrumBetween { Lines, Linear };

enum class Convention { Mosflm, Denzo, Adxv, Xds, Dials, Custom };

/// One panel of a detector with several (--panels, docs/panels.md). In the lab frame at
/// zero detector rotations and two-theta, moved by them together with the other panels.
struct PanelOptions {
  Vec3 offset{};               ///< m, from the detector origin to the panel's first corner
  Vec3 fastAxis{}, slowAxis{}; ///< any length
  std::optional<Vec3> normal;  ///< default: fast x slow
  /// Default: those of the detector, which are the largest of all panels unless a flag gives them.
  std::optional<std::int64_t> fastPixels, slowPixels;
  std::string file; ///< where it is from, for messages
};

struct Options {
  // Crystal.
  double defaultF = 0; ///< electrons
  /// Structure factors that are calculated from a model: see docs/structure-factors.md.
  bool betweenChannels = false;    ///< sources have both channels around them, not the nearest
  std::optional<double> modelDmin; ///< m; unset: what the detector's corners see
  double solventDensity = 0;       ///< electrons/m^3
  double solventB = 46e-20;        ///< m^2
  bool anomalousScattering = true; ///< f' and f''
  std::optional<std::array<double, 6>> cell;          ///< m and rad
  std::optional<Vec3> misset;                         ///< rad, about lab X, then Y, then Z
  bool missetRandom = false;                          ///< beats misset; `-misset x y z` resets it
  bool mosaicInLab = false;                           ///< -mosaic_lab
  std::optional<std::int64_t> missetSeed, mosaicSeed; ///< as the user writes them
  std::optional<std::int64_t> na, nb, nc;             ///< -N sets all three
  std::optional<std::array<double, 3>> ncellsDef;     ///< with a Gaussian shape only
  std::optional<double> sampleX, sampleY, sampleZ;    ///< m along a, b, c; beats na, nb, nc
  CrystalShape shape = CrystalShape::Square;
  std::optional<double> fudge;
  std::optional<double> mosaicSpread; ///< rad
  std::optional<Vec3> mosaicAbc;      ///< rad
  std::optional<std::int64_t> mosaicDomains;
  std::optional<Vec3> diffuseGamma, diffuseSigma; ///< m
  std::optional<std::int64_t> laueGroup;          ///< 1 to 14, see LaueGroup.h
  std::optional<bool> interpolate;                ///< -interpolate, -nointerpolate
  std::optional<Averaging> averaging;
  /// Without `averaging` and counts of samples, Gaussian crystals are averaged in closed form.
  bool averagesByDefault = false;
  std::optional<std::int64_t> averageDraws;
  std::optional<double> averageTolerance;

  // Beam.
  std::optional<double> lambda;     ///< m
  std::optional<double> energy;     ///< J; of lambda and energy only the last
  std::optional<double> dispersion; ///< full width over the wavelength
  std::optional<std::int64_t> dispersionSteps;
  std::optional<double> hdivRange, vdivRange;       ///< rad, full width; -divergence sets both
  std::optional<double> hdivSigma, vdivSigma;       ///< rad, of a normal distribution
  std::optional<double> hdivStep, vdivStep;         ///< rad
  std::optional<std::int64_t> hdivSteps, vdivSteps; ///< -divsteps sets both
  bool roundDivergence = true;                      ///< -round_div, -square_div
  std::optional<double> fluence;                    ///< photons/m^2
  std::optional<double> flux, exposure, beamSize;   ///< photons/s, s, m
  std::optional<double> polarization;               ///< Kahn factor
  bool noPolarization = false;                      ///< `-polar K` resets it
  std::optional<double> bandwidthSigma;             ///< over the wavelength
  std::optional<SpectrumBetween> spectrumBetween;   ///< for files of spectra
  double water = 0;                                 ///< m
  std::optional<double> wavelengthOffset;           ///< m, of listed sources
  std::optional<double> wavelengthScale;
  std::optional<std::int64_t> backgroundOversample;

  // Goniometer.
  std::optional<double> phi, osc, phiStep; ///< rad
  std::optional<std::int64_t> phiSteps;

  // Detector.
  std::optional<Convention> convention;               ///< the last of switches and vectors
  std::optional<Pivot> pivot;                         ///< the last flag that sets it
  std::optional<double> distance, closeDistance;      ///< m
  std::optional<double> pixelSize;                    ///< m
  std::optional<double> detSizeFast, detSizeSlow;     ///< m; -detsize sets both
  std::optional<std::int64_t> fastPixels, slowPixels; ///< beat the sizes, unless 0
  std::optional<double> xBeam, yBeam, xClose, yClose; ///< m
  std::optional<double> orgX, orgY;                   ///< pixels
  /// m, along fast and slow from the first pixel's outer corner, in place of the six above
  std::optional<std::array<double, 2>> beamCenter;
  std::optional<Vec3> fastAxis, slowAxis, normalAxis, beamVector, polarVector, spindleAxis,
      twothetaAxis, pix0;              ///< used with Convention::Custom
  std::optional<double> twotheta;      ///< rad
  double rotX = 0, rotY = 0, rotZ = 0; ///< rad
  bool curved = false, pointPixel = false;
  std::optional<double> attenuationDepth; ///< m; 0 or infinity: no absorption
  std::optional<double> thickness;        ///< m
  /// An infinite or zero -detector_abs came after the last -detector_thick.
  bool absorptionOffAfterThickness = false;
  std::optional<std::int64_t> thickSteps;
  std::array<std::optional<std::int64_t>, 4> roi; ///< fast min, max, slow min, max
  std::optional<std::int64_t> oversample;         ///< unset: automatic
  bool oversampleThick = false, oversamplePolar = false, oversampleOmega = false;
  double dmin = 0; ///< m
  std::vector<PanelOptions> panels;
  std::optional<double> gain; ///< ADU per photon
  PointSpread pointSpread = PointSpread::None;
  std::optional<double> psfFwhm;         ///< m
  std::optional<std::int64_t> psfRadius; ///< pixels; unset: by the width
  std::optional<double> deadTime;        ///< s

  // Output.
  std::optional<std::int64_t> seed; ///< for the noise image
  double adcOffset = 40;            ///< counts, of the noise image
  ImageType imageType = ImageType::F32;
};

/// The numbers in the header of an image: mm, A, degrees, pixels.
struct HeaderValues {
  std::int64_t fastPixels = 0, slowPixels = 0;
  std::optional<double> pixelSize, distance, closeDistance, wavelength;
  std::optional<double> beamCenterX, beamCenterY; ///< as in the file
  std::optional<double> orgX, orgY, phi, oscRange;
};

/// A line of a source file; what the line does not have takes its default.
struct SourceRow {
  std::array<std::optional<double>, 3> position; ///< where the source is, any scale
  std::optional<double> weight, wavelength;      ///< relative; m
};

/// Pixels of a mask image, 0 = skip.
struct MaskImage {
  std::int64_t fastPixels = 0, slowPixels = 0;
  std::vector<std::uint16_t> pixels;
};

/// Gain of each pixel, [panel][slow][fast].
struct GainMapImage {
  std::int64_t fastPixels = 0, slowPixels = 0; ///< slow: of all panels together
  std::vector<double> gains;
};

/// A table of amorphous scattering.
struct BackgroundTable {
  std::string flag, name;     ///< for messages
  std::vector<double> stol;   ///< 1/m, ascending
  std::vector<double> factor; ///< electrons per molecule
  MaterialOptions material;
};

/// Everything that comes from files.
struct Inputs {
  std::shared_ptr<const HklGrid> grid; ///< null: default_F everywhere
  /// Besides the grid, which has the indices that they are for; null: factors are the same at all
  /// energies.
  std::shared_ptr<const FactorsByEnergy> byEnergy;
  std::optional<Mat3> matrix; ///< rows x, y, z; columns a*, b*, c*; 1/m
  /// The same times the wavelength over A, as MOSFLM has it; where there is no `matrix`.
  std::optional<Mat3> mosflmMatrix;
  bool hasMatrix() const { return matrix || mosflmMatrix; }
  std::vector<SourceRow> sources; ///< empty: generated
  /// Wavelengths (m) and weights of a continuous spectrum; empty: there is none.
  std::vector<std::array<double, 2>> spectrum;
  /// Energies (eV, ascending) and absorption coefficients (1/m) of the sensor's material; empty:
  /// the attenuation depth says it.
  std::vector<std::array<double, 2>> sensorAbsorption;
  /// Wavelengths (m, ascending) and the part of the photons that counts there; empty: all count.
  std::vector<std::array<double, 2>> efficiency;
  std::optional<HeaderValues> maskHeader, imageHeader; ///< the image's beats the mask's
  std::optional<MaskImage> mask;
  std::optional<GainMapImage> gainMap;
  std::vector<BackgroundTable> backgrounds;
};

} // namespace nanobragg
#endif
