#include "lib/Images/CbfFile.h"

#include "lib/Experiment/Formatted.h"
#include "lib/Experiment/VectorAlgebra.h"

#include <cmath>
#include <cstring>
#include <ctime>

namespace nanobragg::io {
namespace {

template <typename... Values>
void add(std::string &text, const char *format, Values... values) {
  if constexpr (sizeof...(values) == 0)
    text += format;
  else
    text += formatted(format, values...);
  text += "\r\n";
}

constexpr std::size_t padding = 4095;

} // namespace

CbfHeader cbfHeaderOf(const DialsExperiment &e, std::string &why) {
  CbfHeader h;
  if (e.panels.size() != 1) {
    why = "the detector has " + std::to_string(e.panels.size()) + " panels";
    return h;
  }
  const DialsPanel &p = e.panels.front();
  const Vec3 beam = scaled(e.beam.direction, -1);
  constexpr double tiny = 1e-6;
  const Vec3 normal = cross(p.fast, p.slow);
  if (length(difference(normal, beam)) > tiny)
    why = dot(normal, beam) < 0 ? "the image is mirrored, seen from the sample"
                                : "the beam does not meet the detector at a right angle";
  else if (p.pixelSize[0] != p.pixelSize[1])
    why = "its pixels are not square";
  double direction = 1;
  if (e.goniometer && e.scan && e.scan->width != 0) {
    direction = dot(e.goniometer->axis, p.fast);
    if (std::fabs(std::fabs(direction) - 1) > tiny)
      why = "the spindle is not along the fast axis";
    direction = direction < 0 ? -1 : 1;
  }
  h.fastPixels = p.pixels[0];
  h.slowPixels = p.pixels[1];
  h.pixelSize = p.pixelSize[0];
  h.distance = dot(p.origin, normal);
  if (why.empty() && !(h.distance > 0))
    why = "the detector is behind the sample";
  h.beamFast = -dot(p.origin, p.fast) / h.pixelSize;
  h.beamSlow = -dot(p.origin, p.slow) / h.pixelSize;
  h.wavelength = e.beam.wavelength;
  if (e.scan) {
    h.startAngle = direction * e.scan->start;
    h.angleIncrement = direction * e.scan->width;
    h.exposure = e.scan->exposure > 0 ? e.scan->exposure : 1;
  }
  h.polarization = e.beam.polarizationFraction;
  h.thickness = p.thickness;
  h.countCutoff = std::min(p.trustedRange[1], 2147483647.0);
  return h;
}

void compressByteOffset(std::span<const std::int32_t> pixels, std::vector<std::uint8_t> &bytes) {
  constexpr std::size_t most = 7; // bytes for one pixel
  const std::size_t begin = bytes.size();
  bytes.resize(begin + most * pixels.size());
  std::uint8_t *out = bytes.data() + begin;
  std::int32_t previous = 0;
  for (const std::int32_t pixel : pixels) {
    const std::int64_t difference = std::int64_t(pixel) - previous;
    previous = pixel;
    if (difference >= -127 && difference <= 127) {
      *out++ = std::uint8_t(difference);
      continue;
    }
    *out++ = 0x80;
    if (difference >= -32767 && difference <= 32767) {
      const auto two = std::int16_t(difference);
      std::memcpy(out, &two, 2);
      out += 2;
      continue;
    }
    out[0] = 0x00;
    out[1] = 0x80;
    const auto four = std::uint32_t(difference); // wraps, and so does the sum
    std::memcpy(out + 2, &four, 4);
    out += 6;
  }
  bytes.resize(std::size_t(out - bytes.data()));
}

std::vector<std::uint8_t> cbfBytes(const CbfHeader &h, std::span<const std::int32_t> pixels) {
  std::vector<std::uint8_t> data;
  compressByteOffset(pixels, data);
  std::string text;
  add(text, "###CBF: VERSION 1.5, nanobragg-mlir");
  add(text, "");
  add(text, "data_image_1");
  add(text, "");
  add(text, "_array_data.header_convention \"GENERIC_MINI\"");
  add(text, "_array_data.header_contents");
  add(text, ";");
  add(text, "# Detector: simulated, S/N 0 nanobragg-mlir");
  add(text, "# 1970-01-01T00:00:00.000");
  add(text, "# Pixel_size %.9ge-6 m x %.9ge-6 m", h.pixelSize * 1000, h.pixelSize * 1000);
  if (h.thickness > 0)
    add(text, "# Silicon sensor, thickness %.9f m", h.thickness / 1000);
  add(text, "# Exposure_time %.7g s", h.exposure);
  add(text, "# Exposure_period %.7g s", h.exposure);
  add(text, "# Tau = 0 s");
  add(text, "# Count_cutoff %.0f counts", h.countCutoff);
  add(text, "# Threshold_setting: 0 eV");
  add(text, "# Gain_setting: simulated (vrf = 0)");
  add(text, "# N_excluded_pixels = 0");
  add(text, "# Excluded_pixels: (nil)");
  add(text, "# Flat_field: (nil)");
  add(text, "# Trim_file: (nil)");
  add(text, "# Wavelength %.9g A", h.wavelength);
  add(text, "# Detector_distance %.9f m", h.distance / 1000);
  add(text, "# Beam_xy (%.6f, %.6f) pixels", h.beamFast, h.beamSlow);
  add(text, "# Start_angle %.7f deg.", h.startAngle);
  add(text, "# Angle_increment %.7f deg.", h.angleIncrement);
  add(text, "# Phi %.7f deg.", h.startAngle);
  add(text, "# Oscillation_axis X.CW");
  add(text, "# N_oscillations 1");
  add(text, "# Polarization %.6f", h.polarization);
  add(text, ";");
  add(text, "");
  add(text, "_array_data.data");
  add(text, ";");
  add(text, "--CIF-BINARY-FORMAT-SECTION--");
  add(text, "Content-Type: application/octet-stream;");
  add(text, "     conversions=\"x-CBF_BYTE_OFFSET\"");
  add(text, "Content-Transfer-Encoding: BINARY");
  add(text, "X-Binary-Size: %zu", data.size());
  add(text, "X-Binary-ID: 1");
  add(text, "X-Binary-Element-Type: \"signed 32-bit integer\"");
  add(text, "X-Binary-Element-Byte-Order: LITTLE_ENDIAN");
  add(text, "X-Binary-Number-of-Elements: %zu", pixels.size());
  add(text, "X-Binary-Size-Fastest-Dimension: %lld", (long long)h.fastPixels);
  add(text, "X-Binary-Size-Second-Dimension: %lld", (long long)h.slowPixels);
  add(text, "X-Binary-Size-Padding: %zu", padding);
  add(text, "");
  text += "\x0c\x1a\x04\xd5";
  std::vector<std::uint8_t> file(text.begin(), text.end());
  file.insert(file.end(), data.begin(), data.end());
  file.resize(file.size() + padding, 0);
  constexpr std::string_view end = "\r\n--CIF-BINARY-FORMAT-SECTION----\r\n;\r\n";
  file.insert(file.end(), end.begin(), end.end());
  return file;
}

} // namespace nanobragg::io
