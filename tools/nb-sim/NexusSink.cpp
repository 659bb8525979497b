#include "tools/nb-sim/NexusSink.h"

#include "lib/Files/FileError.h"
#include "lib/Inputs/SpectrumInput.h"
#include "lib/Quantities/Printable.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <map>
#include <unistd.h>
#include <utility>

namespace nanobragg {

/// With the spectra of all shots where they differ.
static io::DialsExperiment withSpectra(io::DialsExperiment described, const RunSetup &setup,
                                       std::int64_t frames) {
  if (!setup.loaded.hasSpectraOfShots || frames == 1)
    return described;
  SpectraOfShots spectra =
      spectraOfShots(*setup.line.files.spectrum, std::size_t(frames), setup.loaded);
  if (!spectra.first.empty()) {
    described.beam.spectrum = std::move(spectra.first);
    described.beam.weightsOfShots = std::move(spectra.weights);
  }
  return described;
}

NexusSink::NexusSink(const RunSetup &setup, std::int64_t frames, bool stills,
                     const SeriesJournal *journal, io::DialsExperiment described)
    : name(*setup.line.outputs.nexusFile), first(withSpectra(std::move(described), setup, frames)),
      part(journal ? journal->part() : alone) {
  const CommandLine &line = setup.line;
  const Detector &detector = setup.complete.experiment.detector;
  options.frames = std::size_t(frames);
  options.stills = stills;
  options.floats = !line.outputs.noise;
  options.bitshuffle = line.outputs.nexusBitshuffle && io::canBitshuffle();
  if (line.outputs.nexusBitshuffle && !options.bitshuffle && !line.tool.quiet)
    std::fprintf(stderr,
                 "WARNING: --nexus-bitshuffle: HDF5 finds no plugin for bitshuffle (in wheels for "
                 "pip it takes none to write), so that the frames are shuffled and deflated; "
                 "install one (Debian: bitshuffle) or set HDF5_PLUGIN_PATH\n");
  options.frameFast = std::size_t(detector.fastPixels);
  options.frameSlow = std::size_t(detector.slowPixels);
  options.mask = detector.mask;
  options.complete = !journal;
  options.resume = journal && journal->goesOn();
  if (part != alone)
    keepFileOfOne(*journal);
  own = io::openNexus(partName(name, part), first, options);
}

/// A series that one process began and parts go on with: its file gets a second name before the
/// first becomes that of the view. A link, since of several shards the first one makes it.
void NexusSink::keepFileOfOne(const SeriesJournal &journal) const {
  if (std::ranges::none_of(journal.finishedBefore(),
                           [](const auto &entry) { return entry.second == alone; }))
    return;
  if (::link(name.c_str(), keptName(name).c_str()) != 0 && errno != EEXIST && errno != ENOENT)
    throw io::FileError(name, std::string("cannot be given the name ") + keptName(name) + " (" +
                                  std::strerror(errno) +
                                  "); finish this series with one process, without --shard");
}

std::string NexusSink::nameOf(int which) const {
  return which == alone && part != alone ? keptName(name) : partName(name, which);
}

bool NexusSink::isThere(int which) const {
  std::error_code ignored;
  return std::filesystem::exists(nameOf(which), ignored);
}

bool NexusSink::has(std::int64_t frame, int finishedBy) const {
  return finishedBy == part ? own->isDone(std::size_t(frame)) : isThere(finishedBy);
}

void NexusSink::write(std::int64_t frame, const RenderedImage &image, const CommandLine &line,
                      const CompleteExperiment &complete) {
  if (line.outputs.noise)
    own->write(std::size_t(frame),
               std::as_bytes(std::span<const std::int32_t>(countsOf(image, line, complete))));
  else
    own->write(std::size_t(frame), std::as_bytes(image.pixels));
}

void NexusSink::join(const Finished &finished) {
  if (part == alone)
    return;
  const auto usable = [&](int which) { return isThere(which); };
  // A shard that ends meanwhile may put its view into place before this one.
  for (FinishedImages now = finished(usable), shown; now.size() != shown.size();
       now = finished(usable)) {
    shown = now;
    std::map<int, io::NexusPart> parts;
    for (const auto &[image, which] : shown)
      if (std::size_t(image) <= options.frames)
        parts[which].frames.push_back(std::size_t(image - 1));
    io::NexusOptions view = options;
    view.resume = false;
    view.complete = true;
    for (auto &[which, of] : parts) {
      of.file = std::filesystem::path(nameOf(which)).filename().string();
      view.parts.push_back(std::move(of));
    }
    joined = shown.size();
    if (!view.parts.empty())
      io::openNexus(name, first, view)->finish();
  }
}

void NexusSink::printNames() const {
  if (part != alone)
    std::printf("wrote %s, a view of %zu of %zu frames in %s and so on\n", printable(name).c_str(),
                joined, options.frames, printable(nameOf(part)).c_str());
  else
    std::printf("wrote %s\n", printable(name).c_str());
}

} // namespace nanobragg
