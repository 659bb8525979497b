#include "lib/Images/SmvFile.h"

#include "lib/Experiment/CheckedSize.h"
#include "lib/Files/TextScanner.h"

#include <bit>
#include <stdexcept>

namespace nanobragg::io {
namespace {

std::string headerLines(const SmvHeader &header, std::size_t headerBytes) {
  std::string text = "{\n";
  const auto entry = [&](const char *key, const std::string &value) {
    text += std::string(key) + "=" + value + ";\n";
  };
  const auto number = [&](const char *key, double value) { entry(key, shortNumber(value)); };

  entry("HEADER_BYTES", std::to_string(headerBytes));
  entry("DIM", "2");
  entry("BYTE_ORDER", std::endian::native == std::endian::little ? "little_endian" : "big_endian");
  entry("TYPE", header.wide ? "long_integer" : "unsigned_short");
  entry("SIZE1", std::to_string(header.fastPixels));
  entry("SIZE2", std::to_string(header.slowPixels));
  number("PIXEL_SIZE", header.pixelSize);
  number("DISTANCE", header.distance);
  number("WAVELENGTH", header.wavelength);
  number("BEAM_CENTER_X", header.beamCenterX);
  number("BEAM_CENTER_Y", header.beamCenterY);
  number("ADXV_CENTER_X", header.adxvCenterX);
  number("ADXV_CENTER_Y", header.adxvCenterY);
  number("MOSFLM_CENTER_X", header.mosflmCenterX);
  number("MOSFLM_CENTER_Y", header.mosflmCenterY);
  number("DENZO_X_BEAM", header.denzoBeamX);
  number("DENZO_Y_BEAM", header.denzoBeamY);
  const auto &[x, y, z] = header.dialsOrigin;
  text += "DIALS_ORIGIN=" + shortNumber(x) + "," + shortNumber(y) + "," + shortNumber(z) +
          (header.form == Rule::C ? "\n" : ";\n");
  number("XDS_ORGX", header.xdsOrgX);
  number("XDS_ORGY", header.xdsOrgY);
  number("CLOSE_DISTANCE", header.closeDistance);
  number("PHI", header.phi);
  number("OSC_START", header.phi);
  number("OSC_RANGE", header.oscRange);
  number("TWOTHETA", header.twotheta);
  if (header.adcOffset)
    number("ADC_OFFSET", *header.adcOffset);
  if (header.intScale)
    number("INTFILE_SCALE", *header.intScale);
  entry("DETECTOR_SN", "000");
  // dxtbx recognises simulated images by this.
  entry("BEAMLINE", "fake");
  return text + "}\f";
}

} // namespace

std::string smvHeaderText(const SmvHeader &header) {
  std::size_t bytes = 512;
  std::string text = headerLines(header, bytes);
  if (text.size() > bytes)
    text = headerLines(header, bytes = 1024);
  text.resize(bytes, ' ');
  return text;
}

void setDxtbxBeamCenter(SmvHeader &header, double fastBeam, double slowBeam) {
  header.beamCenterX = fastBeam - header.pixelSize;
  header.beamCenterY = header.pixelSize * double(header.slowPixels) + header.pixelSize - slowBeam;
}

template <typename T>
static void writeImage(OutputFile &out, const SmvHeader &header, std::span<const T> pixels) {
  if (header.wide != (sizeof(T) == 4))
    throw std::invalid_argument("the pixels are not as wide as the header of the SMV image says");
  if (pixels.size() !=
      std::size_t(productOf({header.slowPixels, header.fastPixels}, "an SMV image")))
    throw std::invalid_argument("the pixels do not fill the SMV image");
  out.write(smvHeaderText(header));
  out.write(pixels);
}

void writeSmv(OutputFile &out, const SmvHeader &header, std::span<const std::uint16_t> pixels) {
  writeImage(out, header, pixels);
}

void writeSmv(OutputFile &out, const SmvHeader &header, std::span<const std::uint32_t> pixels) {
  writeImage(out, header, pixels);
}

} // namespace nanobragg::io
