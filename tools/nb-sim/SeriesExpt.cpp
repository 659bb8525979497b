#include "tools/nb-sim/SeriesExpt.h"

#include <filesystem>

namespace nanobragg {

std::string absoluteName(const std::string &name) {
  std::error_code ignored;
  return std::filesystem::absolute(name, ignored).lexically_normal().string();
}

void writeScanExpt(io::OutputFile &out, const RunSetup &setup, const FrameFiles &files,
                   const io::DialsExperiment &first,
                   const std::vector<io::DialsExperiment> &others) {
  const std::string name = files.imageName();
  io::ExptImages images;
  images.pattern = absoluteName(setup.line.outputs.nexusFile ? name : files.pattern(name));
  std::vector<io::DialsExperiment> list{first};
  list.front().imageSet = 0;
  for (std::size_t i = 1; i < setup.loaded.dials.size(); ++i) {
    list.push_back(list.front());
    list.back().crystal = setup.loaded.dials[i].crystal;
    list.back().crystalText = setup.loaded.dials[i].crystalText;
  }
  for (const io::DialsExperiment &other : others) {
    list.push_back(other);
    list.back().imageSet = 0;
  }
  io::writeExpt(out, list, images);
}

void writeStillsExpt(io::OutputFile &out, const RunSetup &setup, const FrameFiles &files,
                     const std::vector<std::vector<io::DialsExperiment>> &stills) {
  const std::string name = files.imageName();
  io::ExptImages images;
  std::vector<io::DialsExperiment> list;
  for (std::size_t i = 0; i < stills.size(); ++i) {
    for (const io::DialsExperiment &lattice : stills[i]) {
      list.push_back(lattice);
      list.back().imageSet = std::int64_t(i);
    }
    if (!setup.line.outputs.nexusFile)
      images.names.push_back(absoluteName(files.numbered(name, std::int64_t(i) + 1)));
  }
  if (setup.line.outputs.nexusFile)
    images.names.push_back(absoluteName(name));
  io::writeExpt(out, list, images);
}

} // namespace nanobragg
