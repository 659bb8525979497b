// CCP4's packed pixels, as older detectors wrote them into CBF.
#ifndef NANOBRAGG_IMAGES_CBFPACKED_H
#define NANOBRAGG_IMAGES_CBFPACKED_H

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace nanobragg::io {

/// The packed pixels that a CBF header describes.
struct PackedPixels {
  std::size_t fast = 0, slow = 0;
  std::size_t sections = 1; ///< images one after the other
  int bits = 32;            ///< bits of a pixel, 16 or 32
  bool isSigned = true;     ///< whether pixels may be below 0
  bool second = false;      ///< x-CBF_PACKED_V2 in place of x-CBF_PACKED
  bool fromLast = false;    ///< "flat": steps are from the pixel before, not from neighbours' mean
  bool apart = false;       ///< "uncorrelated_sections": neighbours are of the same image
};

/// Throws FileError where the bytes end too early.
std::vector<std::int32_t> decompressPacked(const std::string &path, std::string_view bytes,
                                           const PackedPixels &how);

} // namespace nanobragg::io
#endif
