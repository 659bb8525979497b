// Small images for the tests of nb-compare.
#ifndef NANOBRAGG_TEST_TOOLS_IMAGES_H
#define NANOBRAGG_TEST_TOOLS_IMAGES_H

#include "lib/Images/ImageFile.h"

namespace nanobragg {

inline Image blank(std::int64_t slow, std::int64_t fast, std::int64_t panels = 1) {
  return {panels, slow, fast, std::vector<double>(std::size_t(panels * slow * fast))};
}

inline double &at(Image &image, std::int64_t slow, std::int64_t fast, std::int64_t panel = 0) {
  return image.pixels[std::size_t((panel * image.slow + slow) * image.fast + fast)];
}

} // namespace nanobragg
#endif
