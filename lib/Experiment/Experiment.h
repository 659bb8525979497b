// An experiment as plain data.
//
// Crystal, beam, goniometer and detector in SI units (m, rad, 1/m, photons/m^2), with every
// automatic choice already made: nothing in here is "unset". The numbers are those the kernel
// takes; what follows from them (reciprocal cell, detector origin, rotations) is not stored.
#ifndef NANOBRAGG_EXPERIMENT_EXPERIMENT_H
#define NANOBRAGG_EXPERIMENT_EXPERIMENT_H

#include "lib/Experiment/CheckedSize.h"
#include "lib/Experiment/ProgramVariant.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace nanobragg {

using Vec3 = std::array<double, 3>; ///< x, y, z in the lab frame
using Mat3 = std::array<double, 9>; ///< row-major

/// Structure factors in electrons on a dense box of Miller indices, bounds inclusive, l fastest.
struct HklGrid {
  std::int64_t hMin = 0, hMax = 0, kMin = 0, kMax = 0, lMin = 0, lMax = 0;
  std::vector<double> values;
};
/// Kernels number the nodes of a grid in 32 bits.
constexpr std::int64_t mostGridNodes = (std::int64_t(1) << 31) - 1;

/// Numbers one behind another, which a kernel takes as a grid along l.
struct NumberList {
  std::vector<double> values;
};

struct Crystal {
  double cellA = 0, cellB = 0, cellC = 0;            ///< m; used unless the source is Matrix
  double cellAlpha = 0, cellBeta = 0, cellGamma = 0; ///< rad
  Mat3 reciprocalMatrix{};                           ///< 1/m, columns a*, b*, c*; with -mat
  /// Along some axis so few cells that its fringes overlap, and tricubic interpolation is right.
  bool isThin() const { return ncells[0] <= 2 || ncells[1] <= 2 || ncells[2] <= 2; }
  Vec3 misset{};                         ///< rad, about lab X, then Y, then Z
  std::array<double, 3> ncells{1, 1, 1}; ///< unit cells along a, b, c
  /// D, E, F of the width matrix [[Na, D, F], [D, Nb, E], [F, E, Nc]] (GaussMatrix).
  std::array<double, 3> ncellsCross{};
  double fudge = 1;                    ///< scales the squared spot radius (not Square)
  double defaultF = 0;                 ///< electrons, wherever the grid has nothing
  std::shared_ptr<const HklGrid> grid; ///< null with StructureFactors::Constant
  /// With StructureFactors::Channels the factors of each channel. With Anomalous the real and the
  /// imaginary part of F without the dispersion of the anomalous scatterers, then for each of their
  /// kinds real and imaginary part of sum of occ exp(-B / 4 d^2) exp(2 pi i h x). Each is a box of
  /// the size of `grid`, and they stand one behind another along h: (h + i sheetStep, k, l).
  std::shared_ptr<const HklGrid> sheets;
  double sheetStep = 0;
  /// With Channels the reciprocal wavelength of each, with Anomalous those of the table of f' and
  /// f'', ascending, 1/m.
  NumberList energyNodes;
  // With Anomalous, electrons: f' and f'' of each kind at each energy of the table, [kind][energy].
  std::vector<double> fPrime, fDoublePrime;
  double mosaicSpread = 0; ///< rad, largest rotation of a domain
  /// One unit axis per domain: with Mosaicity::Ball in the lab, else in the crystal's frame.
  std::vector<Vec3> mosaicAxis{{0, 0, 0}};
  /// angle of each domain = spread * this; with Mosaicity::Ellipsoid of the spread about its axis
  std::vector<double> mosaicUnitAngle{0};
  /// With Mosaicity::Ellipsoid, rad: standard deviations of rotations about the axes x, y, z of the
  /// crystal's frame (docs/disorder.md), in which the axes of the domains are.
  Vec3 mosaicAbc{};
  /// The widest of all spreads, rad.
  double widestMosaicSpread() const {
    return std::max({mosaicSpread, mosaicAbc[0], mosaicAbc[1], mosaicAbc[2]});
  }
  // With variant.diffuse, along the axes of the crystal's frame, in m.
  Vec3 diffuseGamma{}; ///< correlation lengths of displacements
  Vec3 diffuseSigma{}; ///< root mean square displacements
  /// Rotations of the Laue group on Miller indices: for each the rows that h, k and l become.
  std::vector<Vec3> symmetryH{{1, 0, 0}}, symmetryK{{0, 1, 0}}, symmetryL{{0, 0, 1}};
};

struct Goniometer {
  Vec3 spindleAxis{};         ///< unit
  double phi0 = 0;            ///< rad, first phi step
  double osc = 0;             ///< rad
  double phiStepFraction = 0; ///< phi_i = phi0 + osc * phiStepFraction * i
  std::int64_t phiSteps = 1;
};

struct Beam {
  Vec3 direction{};        ///< unit, direction of propagation
  Vec3 polarizationAxis{}; ///< unit
  double kahnFactor = 0;
  double wavelength = 0;               ///< m, central
  double dispersion = 0;               ///< full width as a fraction of the wavelength
  double hdivRange = 0, vdivRange = 0; ///< rad, full width, with Divergence::Uniform
  double hdivSigma = 0, vdivSigma = 0; ///< rad, standard deviation, with Divergence::Normal
  /// Standard deviation about each wavelength over it, with variant.bandwidth.
  double bandwidthSigma = 0;
  /// With Bandwidth::Spectrum: the density of the light over the wavelength (1/m, its integral is
  /// 1) at wavelengths (m, ascending). It is linear between them, and 0 at the first and the last
  /// one.
  NumberList spectrumWavelength;
  std::vector<double> spectrumDensity;
  double fluence = 0;  ///< photons/m^2
  double exposure = 1; ///< s
  // One entry per source. Sources::Generated: position on the unit scale, so that the deviation is
  // range * unit, or sigma * unit, and the wavelength is lambda0 * (1 + dispersion * unit).
  std::vector<double> unitHdiv, unitVdiv, unitDispersion;
  // Sources::Listed: direction from the sample *to* the source (unit), wavelength in m.
  std::vector<Vec3> sourceDirection;
  std::vector<double> sourceWavelength;
  /// The wavelength of a listed source is offset + scale * the one in the list.
  double wavelengthOffset = 0; ///< m
  double wavelengthScale = 1;
  std::vector<double> sourceWeight{1}; ///< relative; the kernel divides by their sum
};

/// One panel of a multi-panel detector, in the lab frame before the detector's rotations.
struct Panel {
  Vec3 offset{};                         ///< m, from the detector origin
  Vec3 fastAxis{}, slowAxis{}, normal{}; ///< unit
  /// Pixels that exist, counted from the panel's first corner; the rest of the detector's
  /// fastPixels x slowPixels is masked.
  std::int64_t fastPixels = 0, slowPixels = 0;
};

/// A number for each pixel, [panel][slow][fast]; empty where there is no such map.
struct PixelMap {
  std::vector<double> values;
};

struct Detector {
  double distance = 0;      ///< m, along the beam (DistanceInput::Distance)
  double closeDistance = 0; ///< m, along the normal (DistanceInput::CloseDistance)
  double beamCenterFast = 0,
         beamCenterSlow = 0; ///< m; Fbeam, Sbeam (pivot Beam) or Fclose, Sclose (Sample)
  Vec3 fastAxis{}, slowAxis{}, normal{}; ///< unit, before rotations
  Vec3 rotation{};                       ///< rad, about lab X, then Y, then Z
  double twotheta = 0;                   ///< rad
  Vec3 twothetaAxis{};
  double pixelSize = 0; ///< m
  std::int64_t fastPixels = 0, slowPixels = 0;
  std::int64_t oversample = 1;
  std::int64_t roiFastMin = 0, roiFastMax = 0, roiSlowMin = 0, roiSlowMax = 0; ///< inclusive
  double attenuationDepth = 0; ///< m; infinity: no absorption
  /// With variant.absorptionByEnergy, in the place of the depth: absorption coefficients of the
  /// sensor (1/m) at reciprocal wavelengths (1/m, ascending). They are linear between these.
  NumberList absorptionNode;
  std::vector<double> absorption;
  double sensorThickness = 0; ///< m
  double layerFraction = 1;   ///< layer spacing = sensorThickness * layerFraction
  std::int64_t layers = 1;
  std::vector<Panel> panels;      ///< empty: one panel with the axes above
  std::vector<std::uint8_t> mask; ///< [panel][slow][fast], 0 = skip; empty without a mask
  PixelMap gainMap;               ///< gains
  PixelMap light;                 ///< photons after they have spread, with variant.lightGiven
  /// With variant.pixelList, of each pixel of the image: where it is on the detector, counted in
  /// pixels from 0, and of all pixels of a row the one panel.
  PixelMap listPanel, listSlow, listFast;
  /// Then also the size of the detector; fastPixels and slowPixels are those of the image.
  std::int64_t wholeFastPixels = 0, wholeSlowPixels = 0;
  double gain = 1;            ///< ADU per photon, with structure.gain
  double psfFwhm = 0;         ///< m, with variant.pointSpread
  std::int64_t psfRadius = 0; ///< pixels
  double deadTime = 0;        ///< s, with variant.countingLoss
};

/// The material that scatters amorphously in the beam: docs/background.md. With variant.background.
struct Background {
  // The tables of all materials, one behind another.
  NumberList stol;   ///< sin(theta)/lambda in 1/m, ascending in each table
  NumberList factor; ///< electrons per molecule
  // One entry per material.
  std::vector<double> first, last; ///< its table in the lists, both included
  std::vector<double> thickness;   ///< m, along the beam
  std::vector<double> density;     ///< kg/m^3
  std::vector<double> molarMass;   ///< kg/mol
  double area = 0;                 ///< m^2, of beam and material
  std::int64_t oversample = 1;     ///< sub-pixels along each edge of a pixel
};

/// How averages are taken that are not sampled: docs/averages.md.
struct Average {
  /// Gauss-Legendre quadrature over an interval of length 1 about 0.
  std::vector<double> nodes{0}, weights{1};
  double exponent = 8;     ///< the integrand is 0 where it has fallen by as much from its peak
  double tolerance = 1e-3; ///< part of a spot's peak by which an average may be off
  std::int64_t around = 1; ///< reflections on each side of the nearest that may light a pixel
  // One entry for each draw. Uniform between -1/2 and 1/2:
  std::vector<double> fast{0}, slow{0}, phi{0};
  // Standard normal:
  std::vector<double> wavelength{0}, hdiv{0}, vdiv{0};
  std::vector<Vec3> rotation{{0, 0, 0}};
};

/// For each pixel of a list the reflection whose light is asked for; with Averaging::Reflections.
struct ReflectionList {
  PixelMap h, k, l;
  PixelMap turn;       ///< where in the rotation step it is expected, between -1/2 and 1/2
  PixelMap begin, end; ///< the part of the step whose light it is
  /// With variant.bySource, the source and the layer of the sensor whose light it is; those of all
  /// pixels of a row are one.
  PixelMap source, layer;
  PixelMap wavelength; ///< m, at which it is expected; with Bandwidth::Spectrum
};

/// The spots whose light is the image, with Averaging::Spots; one entry for each in all lists.
struct SpotTable {
  std::vector<double> photons{0};
  std::vector<double> fast{0}, slow{0}; ///< pixels from the panel's outer corner
  std::vector<double> fastFast{1}, fastSlow{0}, slowSlow{1}; ///< covariance of the place, pixels^2
  std::vector<double> skewFff{0}, skewFfs{0}, skewFss{0}, skewSss{0}; ///< as in SpotMoments.h
  std::vector<double> panel{0};
  std::vector<double> depth{0}; ///< exponent of its brightest light, of that on the Ewald sphere
  std::vector<double> nodes{1}; ///< as many has its quadrature over a pixel
  /// Gauss-Legendre quadratures over an interval of length 1 about 0: of one node, of two and so
  /// on.
  std::vector<double> node{0}, weight{1};
};

struct Experiment {
  ProgramVariant variant;
  Crystal crystal;
  Goniometer goniometer;
  Beam beam;
  Detector detector;
  double dmin = 0;      ///< m, with variant.dmin
  double waterSize = 0; ///< m, edge of the water cube, with variant.water
  Background background;
  Average average;
  ReflectionList reflections;
  SpotTable spots;

  std::int64_t nodeCount() const { return std::int64_t(average.nodes.size()); }
  std::int64_t drawCount() const { return std::int64_t(average.fast.size()); }
  std::int64_t spotNodeCount() const { return std::int64_t(spots.node.size()); }
  std::int64_t spotCount() const { return std::int64_t(spots.photons.size()); }
  std::int64_t panelCount() const {
    return detector.panels.empty() ? 1 : std::int64_t(detector.panels.size());
  }
  std::int64_t sourceCount() const { return std::int64_t(beam.sourceWeight.size()); }
  std::int64_t materialCount() const { return std::int64_t(background.thickness.size()); }
  std::int64_t symmetryCount() const { return std::int64_t(crystal.symmetryH.size()); }
  std::int64_t energyNodes() const { return std::int64_t(crystal.energyNodes.values.size()); }
  std::int64_t absorptionNodes() const { return std::int64_t(detector.absorption.size()); }
  std::int64_t spectrumNodes() const { return std::int64_t(beam.spectrumDensity.size()); }
  std::int64_t mosaicDomains() const { return std::int64_t(crystal.mosaicUnitAngle.size()); }
  /// Panels of the image: the detector's, or one with the rows of a list of pixels.
  std::int64_t imagePanels() const { return variant.pixelList ? 1 : panelCount(); }
  /// Pixels of all panels of the image.
  std::int64_t pixelCount() const {
    return productOf({imagePanels(), detector.slowPixels, detector.fastPixels}, "an image");
  }
};

} // namespace nanobragg
#endif
