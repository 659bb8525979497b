// Lists of pixels and boxes.
#include "test/fuzz/FuzzTarget.h"

#include "lib/Files/FileError.h"
#include "lib/Images/PixelListFile.h"

using namespace nanobragg;

NB_FUZZ_TARGET(pixel_list) {
  const io::ImageRegion detector = io::ImageRegion::whole(100, 80, 3);
  try {
    for (const PixelIndex &pixel : io::readPixelList(fuzz::fileWith(input), detector))
      fuzz::require(pixel.panel >= 0 && pixel.panel < 3 && pixel.slow >= 0 && pixel.slow < 80 &&
                        pixel.fast >= 0 && pixel.fast < 100,
                    "a pixel of the list is on the detector");
  } catch (const io::FileError &refusal) {
    fuzz::requireSentence(refusal);
  }
}
