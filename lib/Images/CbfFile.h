// CBF: counts of 32 bits, miniCBF where they are written.
#ifndef NANOBRAGG_IMAGES_CBFFILE_H
#define NANOBRAGG_IMAGES_CBFFILE_H

#include "lib/Files/OutputFile.h"
#include "lib/Formats/DialsExperiment.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace nanobragg::io {

/// The numbers of a miniCBF header. It has room for one panel at a right angle to the beam, seen
/// from the sample with fast to the right and slow down, and for a spindle along fast.
struct CbfHeader {
  std::int64_t fastPixels = 0, slowPixels = 0;
  double pixelSize = 0;                      ///< mm
  double distance = 0;                       ///< mm
  double beamFast = 0, beamSlow = 0;         ///< pixels
  double wavelength = 1;                     ///< A
  double startAngle = 0, angleIncrement = 0; ///< degrees
  double polarization = 0.99;                ///< fraction
  double exposure = 1;                       ///< s
  double thickness = 0;                      ///< mm, of the silicon
  double countCutoff = 2147483647;           ///< largest count that is one
};

/// The header of an experiment; `why` is set, to a clause, where miniCBF has no room for it.
CbfHeader cbfHeaderOf(const DialsExperiment &experiment, std::string &why);

/// Differences of neighbours: a byte each, two or four after a mark where they do not fit.
/// Appended.
void compressByteOffset(std::span<const std::int32_t> pixels, std::vector<std::uint8_t> &bytes);
/// Throws FileError where the bytes end too early or say more than `count` pixels.
std::vector<std::int32_t> decompressByteOffset(const std::string &path, std::string_view bytes,
                                               std::size_t count);

/// The whole file, for threads that write later.
std::vector<std::uint8_t> cbfBytes(const CbfHeader &header, std::span<const std::int32_t> pixels);

struct CbfFile {
  std::int64_t fastPixels = 0, slowPixels = 0;
  std::int64_t panels = 1;
  std::vector<std::int32_t> pixels; ///< [panel][slow][fast]; -1 and below: no measurement
};

bool isCbf(std::string_view bytes);
/// Any CBF of integers, packed or compressed by byte offsets, whose binary sections have images of
/// one size, each one or several. Throws FileError.
CbfFile parseCbf(const std::string &path, std::string_view bytes);

} // namespace nanobragg::io
#endif
