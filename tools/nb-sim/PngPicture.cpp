#include "tools/nb-sim/PngPicture.h"

#include "lib/Images/PngFile.h"
#include "lib/Picture/Annotations.h"

namespace nanobragg {

void writePicture(io::OutputFile &out, std::span<const float> image,
                  const CompleteExperiment &complete, bool rings) {
  const Detector &d = complete.experiment.detector;
  const std::vector<std::uint8_t> tones = io::logTones(image, io::chooseToneLimits(image));
  if (d.panels.empty() && !rings) {
    io::writePng(out, d.fastPixels, d.slowPixels, tones, io::Palette::Film);
    return;
  }
  const Layout layout(complete);
  Picture picture = layout.draw(tones);
  if (rings)
    annotate(picture, layout, complete, chooseRings(layout, complete));
  io::writePng(out, picture.width, picture.height, picture.tones, io::Palette::Film);
}

} // namespace nanobragg
