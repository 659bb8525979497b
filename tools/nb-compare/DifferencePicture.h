// Where two images differ.
#ifndef NANOBRAGG_NBCOMPARE_DIFFERENCEPICTURE_H
#define NANOBRAGG_NBCOMPARE_DIFFERENCEPICTURE_H

#include "lib/Images/ImageFile.h"

#include <cstdint>
#include <string>
#include <vector>

namespace nanobragg {

/// 128 where the images agree or the pixel is outside the region, brighter where the test image is
/// above the reference, darker where it is below; the largest difference is at the end of the
/// scale. A pixel that is finite in one image only is white.
std::vector<std::uint8_t> differenceTones(const Image &test, const Image &reference,
                                          const io::ImageRegion &region);

/// The tones as a gray PNG, panels below one another. Throws io::FileError.
void writeDifference(const std::string &path, const Image &test, const Image &reference,
                     const io::ImageRegion &region);

} // namespace nanobragg
#endif
