#include "lib/Inputs/ImageHeader.h"

#include "lib/Experiment/Range.h"
#include "lib/Files/FileError.h"
#include "lib/Files/TextScanner.h"

#include <algorithm>
#include <string_view>

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

/// A close distance makes the distance void, and some conventions do not use the XDS origin.
bool matters(std::string_view key, const HeaderValues &values, const Options &options) {
  if (key == "DISTANCE")
    return !values.closeDistance && !options.closeDistance;
  if (key == "ORGX" || key == "ORGY")
    return options.convention == Convention::Xds || options.convention == Convention::Dials ||
           options.convention == Convention::Custom;
  return true;
}

/// As the C program finds it; nothing where that would be no number.
std::optional<double> looseNumber(const io::SmvFile &file, const char *key) {
  try {
    return file.lastNumber(key);
  } catch (const io::FileError &) {
    return std::nullopt;
  }
}

/// The beam centre under the name that says whose it is. BEAM_CENTER is read differently by every
/// program; files of nanoBragg and of nb-sim hold each convention's own numbers besides.
void takeOwnBeamCenter(const io::SmvFile &file, Convention convention, HeaderValues &values) {
  const char *x = nullptr, *y = nullptr;
  switch (convention) {
  case Convention::Mosflm:
    x = "MOSFLM_CENTER_X", y = "MOSFLM_CENTER_Y";
    break;
  case Convention::Denzo:
    x = "DENZO_X_BEAM", y = "DENZO_Y_BEAM";
    break;
  case Convention::Adxv:
    x = "ADXV_CENTER_X", y = "ADXV_CENTER_Y";
    break;
  case Convention::Xds:
  case Convention::Dials:
    if (!values.orgX)
      values.orgX = file.number("XDS_ORGX");
    if (!values.orgY)
      values.orgY = file.number("XDS_ORGY");
    return;
  case Convention::Custom:
    return;
  }
  const auto ownX = file.number(x), ownY = file.number(y);
  if (ownX && ownY) {
    values.beamCenterX = ownX;
    values.beamCenterY = ownY;
  }
}

/// A warning of numbers under keys that nothing reads; 0 says nothing.
void warnAboutUnread(const io::SmvFile &file, ImageHeader &header) {
  static constexpr std::string_view ofNoEffect[] = {"HEADER_BYTES",
                                                    "DIM",
                                                    "BYTE_ORDER",
                                                    "TYPE",
                                                    "SIZE1",
                                                    "SIZE2",
                                                    "DETECTOR_DIMENSIONS",
                                                    "DETECTOR_SN",
                                                    "BEAMLINE",
                                                    "DATE",
                                                    "TIME",
                                                    "BIN",
                                                    "BIN_TYPE",
                                                    "ADC",
                                                    "ADC_OFFSET",
                                                    "INTFILE_SCALE",
                                                    "UNIF_PED",
                                                    "CREV",
                                                    "CCD",
                                                    "ACC_TIME",
                                                    "CCD_IMAGE_SATURATION",
                                                    "IMAGE_PEDESTAL",
                                                    "OSC_START",
                                                    "TWOTHETA",
                                                    "DIALS_ORIGIN",
                                                    "XDS_ORGX",
                                                    "XDS_ORGY",
                                                    "MOSFLM_CENTER_X",
                                                    "MOSFLM_CENTER_Y",
                                                    "ADXV_CENTER_X",
                                                    "ADXV_CENTER_Y",
                                                    "DENZO_X_BEAM",
                                                    "DENZO_Y_BEAM",
                                                    "DENZO_BEAM_CENTER_X",
                                                    "DENZO_BEAM_CENTER_Y",
                                                    "DENZO_XBEAM",
                                                    "DENZO_YBEAM"};
  std::string unread;
  for (const auto &[name, value] : file.entries) {
    const bool isKnown =
        std::ranges::count(ofNoEffect, name) > 0 ||
        std::ranges::any_of(keys, [&](const Key &key) { return name == key.name; });
    if (!isKnown && io::toNumber(value).value_or(0) != 0)
      unread += (unread.empty() ? "" : ", ") + name + "=" + value;
  }
  if (!unread.empty())
    header.warnings.push_back(
        file.path + ": the header's " + unread +
        " are not used; give the orientations of detector and crystal by flags");
}

/// A warning where the beam is far off the detector: such a centre is mostly one in pixels.
void warnAboutCenter(const io::SmvFile &file, const Options &options, ImageHeader &header) {
  const HeaderValues &v = header.values;
  if (!v.pixelSize || !v.beamCenterX || !v.beamCenterY || options.xBeam || options.yBeam ||
      options.beamCenter || file.number("TWOTHETA").value_or(0) != 0)
    return;
  const double side = *v.pixelSize * double(std::max(file.fastPixels, file.slowPixels));
  const auto isFar = [&](double at) { return at < -side || at > 2 * side; };
  if (isFar(*v.beamCenterX) || isFar(*v.beamCenterY))
    header.warnings.push_back(
        file.path + ": the header has the beam at " + numberText(*v.beamCenterX) + ", " +
        numberText(*v.beamCenterY) + " mm, far off a detector of " + numberText(side) +
        " mm; if these are pixels, give -Xbeam " + numberText(*v.beamCenterX * *v.pixelSize) +
        " -Ybeam " + numberText(*v.beamCenterY * *v.pixelSize));
}

} // namespace

ImageHeader readHeader(const io::SmvFile &file, HeaderOf of, Rule lookup, const Options &options) {
  ImageHeader header;
  header.values.fastPixels = file.fastPixels;
  header.values.slowPixels = file.slowPixels;
  for (const Key &key : keys) {
    const std::optional<double> value =
        lookup == Rule::C ? file.lastNumber(key.name) : file.number(key.name);
    if (value && key.positive && !(*value > 0))
      throw io::FileError(file.path, std::string(key.name) + "=" + numberText(*value) +
                                         " in the header must be greater than 0");
    header.values.*key.value = value;
  }
  if (lookup == Rule::Right) {
    if (of == HeaderOf::Image) {
      takeOwnBeamCenter(file, options.convention.value_or(Convention::Mosflm), header.values);
      warnAboutCenter(file, options, header);
      warnAboutUnread(file, header);
    }
    header.dependsOnLookup = std::any_of(std::begin(keys), std::end(keys), [&](const Key &key) {
      return header.values.*key.value != looseNumber(file, key.name) &&
             matters(key.name, header.values, options);
    });
  }
  if (const std::optional<double> twotheta = file.number("TWOTHETA"); twotheta && *twotheta != 0)
    header.warnings.push_back(file.path + ": TWOTHETA=" + numberText(*twotheta) +
                              " in the header is not used; give -twotheta " +
                              numberText(*twotheta));
  return header;
}

} // namespace nanobragg
