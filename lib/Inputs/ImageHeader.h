// Camera and rotation from an image.
#ifndef NANOBRAGG_INPUTS_IMAGEHEADER_H
#define NANOBRAGG_INPUTS_IMAGEHEADER_H

#include "lib/Experiment/Options.h"
#include "lib/Images/SmvFile.h"

#include <string>
#include <vector>

namespace nanobragg {

struct ImageHeader {
  HeaderValues values;
  std::vector<std::string> warnings;
  /// The C program's lookup finds other numbers than the exact one, and that matters.
  bool dependsOnLookup = false;
};

enum class HeaderOf { Image, Mask };

/// With Rule::Right keys are matched exactly, and an image's beam centre is the one under the name
/// of the run's own convention, if the file has it. Throws io::FileError where a number is none, or
/// impossible.
ImageHeader readHeader(const io::SmvFile &file, HeaderOf of, Rule lookup, const Options &options);

} // namespace nanobragg
#endif
