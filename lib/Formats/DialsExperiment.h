// An experiment as DIALS describes it.
//
// Plain data in the frame and the units of dxtbx: mm, A, degrees, the laboratory frame of the file.
#ifndef NANOBRAGG_FORMATS_DIALSEXPERIMENT_H
#define NANOBRAGG_FORMATS_DIALSEXPERIMENT_H

#include "lib/Experiment/Experiment.h"
#include "lib/Experiment/ProgramVariant.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace nanobragg::io {

struct DialsBeam {
  Vec3 direction{0, 0, 1}; ///< unit, from the sample to the source
  double wavelength = 1;   ///< for a polychromatic beam the middle of its range
  /// The shortest and the longest wavelength of a polychromatic beam.
  std::optional<std::array<double, 2>> wavelengthRange{};
  Vec3 polarizationNormal{0, 1, 0}; ///< normal to the plane in which the field oscillates
  double polarizationFraction = 0.999;
  double flux = 0;
  std::string probe = "x-ray";                   ///< or electron, neutron
  std::vector<std::array<double, 2>> spectrum{}; ///< wavelength, weight; not part of an .expt
  /// Weights at the same wavelengths of each shot; empty: all have those above.
  std::vector<std::vector<double>> weightsOfShots{};
};

struct DialsPanel {
  std::string name = "Panel", type = "SENSOR_PAD", material{};
  Vec3 origin{};                        ///< outer corner of the first pixel, in the laboratory
  Vec3 fast{1, 0, 0}, slow{0, -1, 0};   ///< unit
  std::array<std::int64_t, 2> pixels{}; ///< along fast, slow
  std::array<double, 2> pixelSize{};
  std::array<double, 2> trustedRange{0, 65535};
  double thickness = 0, mu = 0; ///< mm, 1/mm
  double gain = 1, pedestal = 0;
  std::vector<std::array<std::int64_t, 4>> masked{}; ///< first fast, slow, end fast, slow
  bool parallax = false; ///< positions are meant at the mean depth of absorption
};

/// R(phi) = setting * rotation about axis by phi * fixed.
struct DialsGoniometer {
  Vec3 axis{1, 0, 0};
  Mat3 fixed{1, 0, 0, 0, 1, 0, 0, 0, 1}, setting{1, 0, 0, 0, 1, 0, 0, 0, 1};
};

struct DialsScan {
  std::int64_t first = 1, last = 1; ///< images, inclusive
  double start = 0, width = 0;      ///< the first image's
  double exposure = 0;              ///< s

  std::int64_t images() const { return last - first + 1; }
};

struct DialsCrystal {
  std::array<Vec3, 3> real{};       ///< a, b, c at phi = 0, fixed and setting rotations apart
  std::vector<Mat3> atScanPoints{}; ///< columns a*, b*, c*: one more than images; empty: static
  std::string hallSymbol = " P 1";
};

/// The averages over a pixel, with the numbers that flags have (docs/averages.md). A key of our
/// own, which DIALS reads over.
struct Averages {
  Averaging how = Averaging::Closed;
  std::optional<double> mosaicSpread;                   ///< degrees
  std::optional<Vec3> mosaicAbc;                        ///< degrees
  std::optional<double> bandwidthSigma;                 ///< per cent
  std::optional<std::array<double, 2>> divergenceSigma; ///< mrad
};

struct DialsExperiment {
  DialsBeam beam;
  std::vector<DialsPanel> panels;
  std::optional<DialsGoniometer> goniometer;
  std::optional<DialsScan> scan;
  std::optional<DialsCrystal> crystal;
  std::optional<Averages> averages;
  std::int64_t imageSet = -1; ///< which images it is of; those of one number share them
  std::string mask{};         ///< file of the image set's mask, or empty
  /// Models as the file has them, JSON; empty: not from a file. A model that no flag changed is
  /// written as it was read.
  std::string beamText{}, detectorText{}, goniometerText{}, scanText{}, crystalText{};
  std::vector<std::string> warnings{}; ///< one sentence each, of the keys that are not used
};

/// a, b, c to a*, b*, c* or back, without 2 pi.
std::array<Vec3, 3> reciprocalOf(const std::array<Vec3, 3> &vectors);

} // namespace nanobragg::io
#endif
