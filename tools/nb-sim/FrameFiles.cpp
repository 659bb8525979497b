#include "tools/nb-sim/FrameFiles.h"

#include "lib/CommandLine/OutputNames.h"
#include "lib/Files/FileError.h"
#include "lib/Files/InterruptGuard.h"
#include "lib/Files/OutputFile.h"
#include "lib/Images/CbfFile.h"
#include "lib/Images/ImageStatistics.h"
#include "tools/nb-sim/Outputs.h"

#include <cmath>
#include <filesystem>

namespace nanobragg {

namespace fs = std::filesystem;

std::string absoluteName(const std::string &name) {
  std::error_code error;
  const fs::path absolute = fs::absolute(name, error);
  return error ? name : absolute.lexically_normal().string();
}

FrameFiles::FrameFiles(const CommandLine &line, std::int64_t frames)
    : floats(isGiven(line, "-floatfile")), ints(isGiven(line, "-intfile")),
      pgm(line.outputs.pgm && isGiven(line, "-pgmfile")),
      noise(line.outputs.noise && isGiven(line, "-noisefile")), png(line.outputs.pngFile),
      cbf(line.outputs.cbfFile), map(line.outputs.mapFile), outputs(line.outputs),
      series(line.series.any()) {
  if (!silent)
    throw io::FileError("/dev/null", "cannot be opened");
  const bool none = !floats && !ints && !pgm && !noise && !png && !cbf && !outputs.nexusFile;
  if (none && line.outputs.noise)
    noise = true;
  else if (none)
    ints = true;
  while (digits < 9 && frames >= std::int64_t(std::pow(10, digits)))
    ++digits;
}

std::string FrameFiles::numbered(const std::string &name, std::int64_t frame) const {
  if (!series)
    return name;
  fs::path path(name);
  const std::string extension = path.extension().string();
  path.replace_extension();
  std::string number = std::to_string(frame);
  number.insert(0, std::size_t(std::max(0, digits - int(number.size()))), '0');
  return path.string() + "_" + number + extension;
}

std::string FrameFiles::pattern(const std::string &name) const {
  fs::path path(name);
  const std::string extension = path.extension().string();
  path.replace_extension();
  return path.string() + "_" + std::string(std::size_t(digits), '#') + extension;
}

std::string FrameFiles::imageName() const {
  if (outputs.nexusFile)
    return *outputs.nexusFile;
  return cbf      ? *outputs.cbfFile
         : noise  ? outputs.noiseFile
         : ints   ? outputs.intFile
         : floats ? outputs.floatFile
         : png    ? *outputs.pngFile
                  : outputs.pgmFile;
}

std::string FrameFiles::journalName() const {
  return fs::path(imageName()).replace_extension(".series").string();
}

std::vector<std::string> FrameFiles::given() const {
  std::vector<std::string> all;
  for (const auto &[wanted, name] :
       {std::pair(floats, outputs.floatFile), std::pair(ints, outputs.intFile),
        std::pair(pgm, outputs.pgmFile), std::pair(noise, outputs.noiseFile),
        std::pair(png, outputs.pngFile.value_or("")), std::pair(cbf, outputs.cbfFile.value_or("")),
        std::pair(map, outputs.mapFile.value_or(""))})
    if (wanted)
      all.push_back(name);
  return all;
}

ImageNames FrameFiles::imageNames(std::int64_t frame, const Detector &detector) const {
  ImageNames names;
  const auto one = [&](bool wanted, const std::string &name) {
    return wanted ? numbered(name, frame) : "";
  };
  const auto ofPanels = [&](bool wanted, const std::string &name) {
    std::vector<std::string> all;
    if (wanted && detector.panels.empty())
      all.push_back(numbered(name, frame));
    for (std::size_t i = 0; wanted && i < detector.panels.size(); ++i)
      all.push_back(numbered(nameOfPanel(name, std::int64_t(i)), frame));
    return all;
  };
  names.floats = one(floats, outputs.floatFile);
  names.ints = ofPanels(ints, outputs.intFile);
  names.pgm = one(pgm, outputs.pgmFile);
  names.noise = ofPanels(noise, outputs.noiseFile);
  names.png = one(png, outputs.pngFile.value_or(""));
  names.map = one(map, outputs.mapFile.value_or(""));
  return names;
}

std::vector<std::string> FrameFiles::names(std::int64_t frame, const Detector &detector) const {
  const ImageNames names = imageNames(frame, detector);
  std::vector<std::string> all = {names.floats};
  all.insert(all.end(), names.ints.begin(), names.ints.end());
  all.push_back(names.pgm);
  all.insert(all.end(), names.noise.begin(), names.noise.end());
  all.insert(all.end(), {names.png, cbf ? numbered(*outputs.cbfFile, frame) : "", names.map});
  std::erase(all, "");
  return all;
}

bool FrameFiles::allThere(std::int64_t frame, const Detector &detector) const {
  std::error_code ignored;
  for (const std::string &name : names(frame, detector))
    if (!fs::is_regular_file(name, ignored))
      return false;
  return true;
}

void FrameFiles::write(std::int64_t frame, const RenderedImage &rendered, const CommandLine &line,
                       CompleteExperiment &complete, const io::DialsExperiment &description) const {
  const Experiment &e = complete.experiment;
  Outputs images(imageNames(frame, e.detector));
  std::optional<io::OutputFile> cbfFile;
  if (cbf) { // before the noise image, which draws the same deviates on
    std::string why;
    const io::CbfHeader header = io::cbfHeaderOf(description, why);
    const auto bytes = io::cbfBytes(header, countsOf(rendered, line, complete));
    cbfFile.emplace(numbered(*outputs.cbfFile, frame)).write(bytes.data(), bytes.size());
  }
  io::ImageStatistics statistics;
  if (ints || pgm)
    statistics = io::computeStatistics(rendered.pixels, io::ImageRegion::of(e), e.detector.mask);
  images.write(rendered, statistics, line, complete, silent.get(), 1);
  const io::UninterruptedSection together;
  if (cbfFile)
    cbfFile->commit();
  images.publish();
}

} // namespace nanobragg
