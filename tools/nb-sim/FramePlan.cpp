#include "tools/nb-sim/FramePlan.h"

#include "lib/Experiment/FlagUnits.h"
#include "lib/Experiment/VectorAlgebra.h"
#include "lib/Files/FileError.h"
#include "lib/Formats/ExptFile.h"
#include "lib/Inputs/DialsInput.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>

namespace nanobragg {
bool isSeries(const RunSetup &setup) {
  const SeriesOptions &series = setup.line.series;
  return series.any() || series.lattices || setup.loaded.dials.size() > 1;
}

FramePlan::FramePlan(const RunSetup &runSetup) : setup(runSetup) {
  const CommandLine &line = setup.line;
  const Report &report = setup.complete.report;
  seed = setup.line.options.seed.value_or(-setup.complete.noiseSeed);
  phi = units::degrees(report.phi0);
  osc = line.series.oscPerFrame.value_or(units::degrees(std::max(report.osc, 0.0)));
  // Flags as they were written: their numbers, not those after two conversions.
  if (line.options.phi)
    phi = flagUnit::degrees.fromSI(*line.options.phi);
  if (line.options.osc && !line.series.oscPerFrame)
    osc = flagUnit::degrees.fromSI(*line.options.osc);
  if (line.series.shots)
    readShots(*line.series.shots);
  if (line.series.lattices)
    readLattices(*line.series.lattices);
  if (line.series.shots || !line.series.frames)
    return;
  frames = *line.series.frames;
  if (frames == 0) {
    if (setup.loaded.dials.empty() || !setup.loaded.dials.front().scan)
      throw UsageError("--frames=scan needs the scan of an --expt; give a number of frames");
    frames = setup.loaded.dials.front().scan->images();
  }
}

void FramePlan::readShots(const std::string &path) {
  if (areExperiments(setup.tables.shots)) {
    readExperiments(path);
    return;
  }
  shots = readShotTable(path, setup.tables.shots, setup.line);
  frames = std::int64_t(shots.size());
}

void FramePlan::readExperiments(const std::string &path) {
  std::map<std::int64_t, std::size_t> images; // image set to shot
  for (io::DialsExperiment &e : io::readExpt(path)) {
    if (!e.crystal)
      throw io::FileError(path, "has an experiment without a crystal; index it first");
    if (e.beam.wavelengthRange && !setup.line.files.spectrum && !setup.line.options.dispersion)
      throw io::FileError(path,
                          "has shots of a polychromatic beam and does not contain their spectrum; "
                          "give it with --spectrum=FILE, or its width with -dispersion");
    const auto known = e.imageSet >= 0 ? images.find(e.imageSet) : images.end();
    if (known != images.end()) {
      experiments[known->second].push_back(std::move(e));
      continue;
    }
    if (e.imageSet >= 0)
      images[e.imageSet] = experiments.size();
    experiments.push_back({});
    experiments.back().push_back(std::move(e));
  }
  frames = std::int64_t(experiments.size());
}

namespace {

/// The angles of -misset, degrees, that turn as `misset` (rad) does and then about `turn`'s
/// direction by its length (degrees).
std::array<std::string, 3> turned(const Vec3 &misset, const Vec3 &turn) {
  const double angle = units::radians(length(turn));
  std::array<Vec3, 3> columns; // where the rotation brings x, y and z
  for (int i = 0; i < 3; ++i) {
    Vec3 axis{};
    axis[i] = 1;
    columns[i] = rotatedXYZ(misset, axis);
    if (angle > 0)
      columns[i] = rotatedAbout(unit(turn), angle, columns[i]);
  }
  const double about[] = {std::atan2(columns[1][2], columns[2][2]),
                          std::asin(std::clamp(-columns[0][2], -1.0, 1.0)),
                          std::atan2(columns[0][1], columns[0][0])};
  std::array<std::string, 3> words;
  for (int i = 0; i < 3; ++i) {
    char text[32];
    words[i].assign(text, std::to_chars(text, text + sizeof text, units::degrees(about[i])).ptr);
  }
  return words;
}

} // namespace

void FramePlan::readLattices(const std::string &path) {
  if (setup.loaded.dials.size() > 1)
    throw UsageError("--lattices: the experiments of --expt are several lattices already; choose "
                     "one with --expt=" +
                     exptNameOf(*setup.line.files.expt).path + ":0");
  sharing = readLatticeTable(path, setup.tables.lattices, setup.line);
  for (ShotLattice &lattice : sharing)
    if (lattice.turn != Vec3{}) {
      const auto words = turned(setup.complete.experiment.crystal.misset, lattice.turn);
      lattice.words.push_back("-misset");
      lattice.words.insert(lattice.words.end(), words.begin(), words.end());
    }
}

std::size_t FramePlan::lattices(std::int64_t index) const {
  return !experiments.empty() ? experiments[std::size_t(index)].size()
         : !shots.empty()     ? shots[std::size_t(index)].size()
         : !sharing.empty()   ? sharing.size()
                              : std::max<std::size_t>(setup.loaded.dials.size(), 1);
}

Frame FramePlan::frame(std::int64_t index) const {
  Frame frame{setup.line, {}};
  Options &o = frame.line.options;
  // The shots of one seed, so that none is a shot of another seed. The C programs' generator has
  // seeds alone.
  o.seed = seed;
  const std::int64_t firstShot = frame.line.outputs.counting.shot;
  if (noiseModel(setup.line).generator == NoiseGenerator::Serial)
    o.seed = seed + index;
  else
    frame.line.outputs.counting.shot += index;
  if (stills() && o.missetSeed) // each still has a random orientation of its own
    *o.missetSeed += index;
  if (!experiments.empty()) {
    const auto &lattices = experiments[std::size_t(index)];
    o.lambda = units::wavelengthFromAngstrom(lattices.front().beam.wavelength);
    o.energy.reset();
    for (const io::DialsExperiment &e : lattices)
      frame.lattices.push_back({matrixOf(e, 0)});
    return frame;
  }
  if (!shots.empty()) {
    const Shot &shot = shots[std::size_t(index)];
    applyShot(shot.front(), frame.line);
    if (std::ranges::find(shot.front().words, "-seed") != shot.front().words.end())
      frame.line.outputs.counting.shot = firstShot; // as a run of its own with this seed
    for (const ShotLattice &lattice : shot)
      frame.lattices.push_back({std::nullopt, lattice});
    return frame;
  }
  if (setup.line.series.frames) {
    o.phi = units::radians(phi + double(index) * osc);
    if (osc > 0)
      o.osc = units::radians(osc);
  }
  const std::vector<io::DialsExperiment> &dials = setup.loaded.dials;
  const bool fromExpt = !setup.line.files.matrix && !dials.empty() && dials.front().crystal;
  if (!sharing.empty()) {
    const double middle = phi + (double(index) + 0.5) * osc;
    for (const ShotLattice &lattice : sharing) {
      FrameLattice &added = frame.lattices.emplace_back();
      if (fromExpt)
        added.matrix = matrixOf(dials.front(), index);
      added.own = lattice;
      added.there = lattice.from <= middle && middle <= lattice.to;
    }
    if (std::ranges::none_of(frame.lattices, &FrameLattice::there))
      throw UsageError("--lattices: no crystal of " + *setup.line.series.lattices +
                       " is there at " + std::to_string(middle) +
                       " degrees of the spindle; give one of them no from and to");
    return frame;
  }
  if (!fromExpt)
    frame.lattices.push_back({});
  else
    for (const io::DialsExperiment &e : dials)
      frame.lattices.push_back({matrixOf(e, index)});
  return frame;
}

} // namespace nanobragg
