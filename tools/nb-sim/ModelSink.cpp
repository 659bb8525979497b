#include "tools/nb-sim/ModelSink.h"

#include "lib/Formats/ExptFile.h"

namespace nanobragg {

ModelSink::ModelSink(const RunSetup &setup, const FramePlan &plan, const FrameFiles &files,
                     int part, bool leads, bool writesSpots)
    : setup(setup), plan(plan), files(files), writesSpots(writesSpots),
      spots(setup, plan.count(), plan.stills(), part, writesSpots) {
  if (!setup.line.outputs.exptFile || !leads)
    return;
  expt.emplace(*setup.line.outputs.exptFile);
  if (plan.stills())
    stills.resize(std::size_t(plan.count()));
}

void ModelSink::add(std::int64_t frame, const RenderedFrame &rendered,
                    const FrameRenderer &renderer) {
  for (const RenderedLattice &lattice : rendered.lattices) {
    if (spots.wanted())
      spots.add(frame, lattice.complete, renderer.model(lattice.complete, rendered.line),
                lattice.image, lattice.table);
    if (!stills.empty())
      stills[std::size_t(frame)].push_back(
          renderer.describe(lattice.complete, rendered.line, plan.count()));
  }
}

void ModelSink::take(const std::string &packed, FrameRenderer &renderer) {
  spots.take(packed,
             [&](std::int64_t i, std::size_t lattice) { return renderer.model(i, lattice); });
}

/// Stills, the lattices of each; or a scan of the first frame's lattices. Further lattices of
/// --expt or --lattices are further experiments of the same images.
void ModelSink::writeExpt(const std::vector<io::DialsExperiment> &first) {
  const std::string name = files.imageName();
  const bool nexus = setup.line.outputs.nexusFile.has_value();
  io::ExptImages images;
  std::vector<io::DialsExperiment> list;
  const auto add = [&](const io::DialsExperiment &lattice, std::size_t imageSet) {
    list.push_back(lattice);
    list.back().imageSet = std::int64_t(imageSet);
  };
  if (plan.stills()) {
    for (std::size_t i = 0; i < stills.size(); ++i) {
      for (const io::DialsExperiment &lattice : stills[i])
        add(lattice, i);
      if (!nexus)
        images.names.push_back(absoluteName(files.numbered(name, std::int64_t(i) + 1)));
    }
    if (nexus)
      images.names.push_back(absoluteName(name));
  } else {
    images.pattern = absoluteName(nexus ? name : files.pattern(name));
    add(first.front(), 0);
    for (std::size_t i = 1; i < setup.loaded.dials.size(); ++i) {
      add(first.front(), 0);
      list.back().crystal = setup.loaded.dials[i].crystal;
      list.back().crystalText = setup.loaded.dials[i].crystalText;
    }
    for (std::size_t k = 1; setup.line.series.lattices && k < first.size(); ++k)
      add(first[k], 0);
  }
  io::writeExpt(*expt, list, images);
}

void ModelSink::write(const std::vector<io::DialsExperiment> &first, FrameRenderer &renderer) {
  for (std::size_t i = 0; i < stills.size(); ++i)
    if (stills[i].empty()) // it was there, or another process made it
      stills[i] = renderer.describe(std::int64_t(i), plan.count());
  const std::string name = files.imageName();
  const bool nexus = setup.line.outputs.nexusFile.has_value();
  if (expt)
    writeExpt(first);
  if (spots.wanted() && writesSpots) {
    spots.write(
        [&](std::int64_t i) {
          return nexus ? SpotLabels::ImageName{absoluteName(name), "//" + std::to_string(i)}
                       : SpotLabels::ImageName{absoluteName(files.numbered(name, i + 1)), ""};
        },
        [&](std::int64_t i) { return plan.lattices(i); },
        first.front().scan ? first.front().scan->first - 1 : 0);
  }
  if (expt)
    expt->commit();
  spots.publish();
}

} // namespace nanobragg
