// ADSC's SMV images.
#ifndef NANOBRAGG_IMAGES_SMVFILE_H
#define NANOBRAGG_IMAGES_SMVFILE_H

#include "lib/Experiment/ProgramVariant.h"
#include "lib/Files/OutputFile.h"

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace nanobragg::io {

/// The numbers that go into the header of a simulated image: mm, A, degrees, pixels.
struct SmvHeader {
  std::int64_t fastPixels = 0, slowPixels = 0; ///< SIZE1, SIZE2
  double pixelSize = 0;
  double distance = 0, closeDistance = 0;
  double wavelength = 0;
  double beamCenterX = 0, beamCenterY = 0;
  double adxvCenterX = 0, adxvCenterY = 0;
  double mosflmCenterX = 0, mosflmCenterY = 0;
  double denzoBeamX = 0, denzoBeamY = 0;
  std::array<double, 3> dialsOrigin{};
  double xdsOrgX = 0, xdsOrgY = 0; ///< pixels
  double phi = 0, oscRange = 0;    ///< PHI and OSC_START; OSC_RANGE
  double twotheta = 0;
  std::optional<double> adcOffset; ///< ADC_OFFSET, the pedestal dxtbx subtracts; unset: no such key
  std::optional<double> intScale;  ///< INTFILE_SCALE, counts per photon; unset: no such key
  bool wide = false;               ///< pixels of 32 bits: TYPE=long_integer
  /// C: the DIALS_ORIGIN line ends without its semicolon, as the C program writes it.
  Rule form = Rule::Right;
};

/// Sets BEAM_CENTER so that dxtbx puts the beam where it is, Fbeam and Sbeam in mm: dxtbx takes it
/// in ADXV's frame, one pixel off along both axes. Sizes must be set before.
void setDxtbxBeamCenter(SmvHeader &header, double fastBeam, double slowBeam);

/// The header with its padding: 512 bytes, or 1024 where the text needs more.
std::string smvHeaderText(const SmvHeader &header);

/// Header and unsigned pixels of 16 bits, or 32 where the header is wide, fast axis fastest, in
/// this machine's byte order. Throws std::invalid_argument unless there are fastPixels * slowPixels
/// of them.
void writeSmv(OutputFile &out, const SmvHeader &header, std::span<const std::uint16_t> pixels);
void writeSmv(OutputFile &out, const SmvHeader &header, std::span<const std::uint32_t> pixels);

/// Whether bytes begin as an SMV image does; its lines may end in CR LF.
bool isSmv(std::string_view bytes);

struct SmvFile {
  std::string path;
  std::string headerText;                                   ///< up to HEADER_BYTES
  std::vector<std::pair<std::string, std::string>> entries; ///< key and value, in file order
  std::int64_t fastPixels = 0, slowPixels = 0;
  std::vector<std::uint16_t> pixels; ///< in this machine's byte order

  /// Value of the first entry with exactly this key.
  std::optional<std::string> text(std::string_view key) const;
  /// The same as a number; throws FileError when it is none.
  std::optional<double> number(std::string_view key) const;
  /// The C program's lookup: the last place where `keyword` occurs, inside longer keys too, and the
  /// number after the next `=`. So DISTANCE finds CLOSE_DISTANCE when that follows.
  std::optional<double> lastNumber(std::string_view keyword) const;
};

SmvFile readSmv(const std::string &path);

/// The same from the bytes of a file that has been read; `path` is for messages.
SmvFile parseSmv(const std::string &path, std::string_view bytes);

} // namespace nanobragg::io
#endif
