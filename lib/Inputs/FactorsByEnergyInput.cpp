#include "lib/Inputs/FactorsByEnergyInput.h"

#include "lib/Files/FileContents.h"
#include "lib/Formats/AnomalousFiles.h"
#include "lib/Formats/GridSize.h"

#include <algorithm>
#include <utility>

namespace nanobragg {
namespace {

HklGrid boxAround(const std::vector<std::shared_ptr<const HklGrid>> &grids) {
  HklGrid box = *grids.front();
  box.values.clear();
  for (const auto &grid : grids) {
    box.hMin = std::min(box.hMin, grid->hMin);
    box.hMax = std::max(box.hMax, grid->hMax);
    box.kMin = std::min(box.kMin, grid->kMin);
    box.kMax = std::max(box.kMax, grid->kMax);
    box.lMin = std::min(box.lMin, grid->lMin);
    box.lMax = std::max(box.lMax, grid->lMax);
  }
  return box;
}

/// Writes the values of a grid into those of a larger box, which begin there.
void copyInto(std::vector<double>::iterator values, const HklGrid &box, const HklGrid &grid) {
  auto from = grid.values.begin();
  for (std::int64_t h = grid.hMin; h <= grid.hMax; ++h)
    for (std::int64_t k = grid.kMin; k <= grid.kMax; ++k) {
      const std::int64_t row = (h - box.hMin) * (box.kMax - box.kMin + 1) + (k - box.kMin);
      const std::int64_t first = row * (box.lMax - box.lMin + 1) + (grid.lMin - box.lMin);
      const std::int64_t length = grid.lMax - grid.lMin + 1;
      std::copy_n(from, length, values + first);
      from += length;
    }
}

} // namespace

void loadChannels(const std::string &path, const std::function<void(const std::string &)> &load,
                  LoadedInputs &loaded) {
  auto byEnergy = std::make_shared<FactorsByEnergy>();
  byEnergy->file = path;
  std::vector<std::shared_ptr<const HklGrid>> grids;
  std::size_t reflections = 0;
  for (const io::ChannelFile &channel : io::readChannels(path)) {
    byEnergy->energies.push_back(channel.energy);
    io::requireRegular(io::splitLabel(channel.hkl).name);
    load(channel.hkl);
    reflections += loaded.reflections;
    grids.push_back(std::exchange(loaded.inputs.grid, nullptr));
  }
  loaded.reflections = reflections;
  HklGrid box = boxAround(grids);
  const std::size_t nodes = io::gridNodes(path, box, reflections);
  HklGrid all = stackedBounds(box, grids.size());
  io::gridNodes(path, all, grids.size() * nodes);
  all.values.assign(grids.size() * nodes, loaded.options.defaultF);
  for (std::size_t i = 0; i < grids.size(); ++i) {
    copyInto(all.values.begin() + std::ptrdiff_t(i * nodes), box, *grids[i]);
    grids[i].reset();
  }
  box.values.assign(all.values.begin(), all.values.begin() + std::ptrdiff_t(nodes));
  byEnergy->channels = std::make_shared<const HklGrid>(std::move(all));
  loaded.inputs.grid = std::make_shared<HklGrid>(std::move(box));
  loaded.inputs.byEnergy = std::move(byEnergy);
}

void takePhasedFactors(io::StructureFactors &factors, LoadedInputs &loaded) {
  auto byEnergy = std::make_shared<FactorsByEnergy>();
  byEnergy->real = std::move(factors.real);
  byEnergy->imaginary = std::move(factors.imaginary);
  loaded.inputs.byEnergy = std::move(byEnergy);
}

void loadPhasedHkl(const std::string &path, const std::string &content, LoadedInputs &loaded) {
  io::StructureFactors factors = io::parsePhasedHkl(path, content, loaded.options.defaultF);
  loaded.reflections = factors.reflections;
  if (factors.duplicates > 0)
    loaded.warnings.push_back(path + ": " + std::to_string(factors.duplicates) +
                              " reflections are listed again; the last of each is used");
  takePhasedFactors(factors, loaded);
  loaded.inputs.grid = std::make_shared<HklGrid>(std::move(factors.grid));
}

} // namespace nanobragg
