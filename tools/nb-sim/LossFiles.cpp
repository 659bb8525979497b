#include "tools/nb-sim/LossFiles.h"

#include "lib/CommandLine/Numbers.h"
#include "lib/CommandLine/UsageError.h"
#include "lib/IO/FileContents.h"
#include "lib/IO/FileError.h"
#include "lib/IO/ImageFile.h"
#include "lib/IO/SmvFile.h"

#include <algorithm>
#include <cmath>

namespace nanobragg {
namespace {

using ImageShape3 = std::array<std::int64_t, 3>;

std::vector<double> readPixels(const std::string &path, const ImageShape3 &shape) {
  Image image = readImage(path, Shape{shape[0] * shape[1], shape[2]});
  if (image.panels * image.slow != shape[0] * shape[1] || image.fast != shape[2])
    throw io::FileError(path, "has " + std::to_string(image.panels * image.slow) + " x " +
                                  std::to_string(image.fast) + " pixels and the experiment " +
                                  std::to_string(shape[0] * shape[1]) + " x " +
                                  std::to_string(shape[2]));
  // The pedestal of a detector's image is no photons, nor are the scaled numbers of -intfile.
  if (io::readBytes(path).starts_with("{\nHEADER_BYTES")) {
    const io::SmvFile smv = io::readSmv(path);
    const double pedestal = smv.number("ADC_OFFSET").value_or(0);
    const double scale = smv.number("INTFILE_SCALE").value_or(1);
    if (!(scale > 0))
      throw io::FileError(path, "has an INTFILE_SCALE that is not above 0");
    for (double &pixel : image.pixels)
      pixel = (pixel - pedestal) / scale;
  }
  return std::move(image.pixels);
}

std::vector<double> readSigma(const std::string &text, const std::vector<double> &data,
                              const ImageShape3 &shape) {
  if (const auto number = parseNumber(text)) {
    if (*number <= 0)
      throw UsageError("--loss: sigma=" + text + " is not positive");
    return {*number};
  }
  if (text != "poisson")
    return readPixels(text, shape);
  std::vector<double> sigma(data.size());
  std::transform(data.begin(), data.end(), sigma.begin(),
                 [](double photons) { return std::sqrt(std::max(photons, 1.0)); });
  return sigma;
}

} // namespace

Loss readLoss(const LossOptions &options, const std::array<std::int64_t, 3> &shape) {
  if (!options.data)
    return Loss::sum();
  std::vector<double> data = readPixels(*options.data, shape);
  std::vector<double> sigma = readSigma(options.sigma.value_or("1"), data, shape);
  std::vector<std::uint8_t> mask;
  if (options.mask)
    for (double pixel : readPixels(*options.mask, shape))
      mask.push_back(pixel != 0);
  return Loss::chiSquare(std::move(data), std::move(sigma), std::move(mask));
}

} // namespace nanobragg
