#include "ImageHeader.h"

#include "FileError.h"
#include "Numbers.h"

namespace nanobragg {
namespace {

struct Key {
  const char *name;
  std::optional<double> HeaderValues::*value;
  bool positive;
};

constexpr Key keys[] = {
    {"PIXEL_SIZE", &HeaderValues::pixelSize, true},
    {"DISTANCE", &HeaderValues::distance, true},
    {"CLOSE_DISTANCE", &HeaderValues::closeDistance, true},
    {"WAVELENGTH", &HeaderValues::wavelength, true},
    {"BEAM_CENTER_X", &HeaderValues::beamCenterX, false},
    {"BEAM_CENTER_Y", &HeaderValues::beamCenterY, false},
    {"ORGX", &HeaderValues::orgX, false},
    {"ORGY", &HeaderValues::orgY, false},
    {"PHI", &HeaderValues::phi, false},
    {"OSC_RANGE", &HeaderValues::oscRange, false},
};

} // namespace

ImageHeader readHeader(const io::SmvFile &file, Rule lookup) {
  ImageHeader header;
  header.values.fastPixels = file.fastPixels;
  header.values.slowPixels = file.slowPixels;
  for (const Key &key : keys) {
    const std::optional<double> loose = file.lastNumber(key.name);
    const std::optional<double> value = lookup == Rule::C ? loose : file.number(key.name);
    header.dependsOnLookup |= value != loose;
    if (value && key.positive && !(*value > 0))
      throw io::FileError(file.path, std::string(key.name) + "=" + numberText(*value) +
                                         " in the header must be greater than 0");
    header.values.*key.value = value;
  }
  if (const std::optional<double> twotheta = file.number("TWOTHETA"); twotheta && *twotheta != 0)
    header.warnings.push_back(file.path + ": TWOTHETA=" + numberText(*twotheta) +
                              " in the header is not used; give -twotheta " +
                              numberText(*twotheta));
  return header;
}

} // namespace nanobragg
