#include "tools/nb-sim/FramePlan.h"

#include "lib/CommandLine/DialsInput.h"
#include "lib/CommandLine/Flag.h"
#include "lib/Experiment/Units.h"
#include "lib/IO/ExptFile.h"
#include "lib/IO/FileContents.h"
#include "lib/IO/FileError.h"
#include "lib/IO/TextScanner.h"

#include <algorithm>
#include <map>

namespace nanobragg {
namespace {

/// Flags that a table of shots may have: numbers of crystal, beam and spindle.
constexpr std::string_view shotFlags[] = {
    "-misset",     "-cell",     "-fluence", "-flux",     "-seed",        "-lambda",
    "-energy",     "-phi",      "-osc",     "-mosaic",   "-mosaic_seed", "-N",
    "-Na",         "-Nb",       "-Nc",      "-distance", "-xtal_size",   "-misset_seed",
    "-dispersion", "-exposure", "-water",   "-fudge"};

void applyWords(const std::vector<std::string> &words, CommandLine &line) {
  for (std::size_t i = 0; i < words.size();) {
    const Flag *flag = findFlag(words[i]);
    const std::size_t count = flag->maximumValues();
    const std::vector<std::string> values(words.begin() + std::ptrdiff_t(i) + 1,
                                          words.begin() + std::ptrdiff_t(i + 1 + count));
    flag->apply(line, Values(*flag, words[i], values, {}));
    i += count + 1;
  }
}

} // namespace

bool isSeries(const RunSetup &setup) {
  return setup.line.series.any() || setup.loaded.dials.size() > 1;
}

FramePlan::FramePlan(const RunSetup &runSetup) : setup(runSetup) {
  const CommandLine &line = setup.line;
  const Report &report = setup.complete.report;
  seed = -setup.complete.noiseSeed;
  phi = units::degrees(report.phi0);
  osc = line.series.oscPerFrame.value_or(units::degrees(std::max(report.osc, 0.0)));
  // Flags as they were written: their numbers, not those after two conversions.
  if (line.options.phi)
    phi = *line.options.phi;
  if (line.options.osc && !line.series.oscPerFrame)
    osc = *line.options.osc;
  if (line.series.shots)
    readShots(*line.series.shots);
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
  const std::string text = io::readMaybeCompressed(path);
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first != text.npos && text[first] == '{')
    readExperiments(path);
  else
    readTable(path, text);
}

void FramePlan::readTable(const std::string &path, const std::string &text) {
  io::TextLines lines(text);
  std::string_view line;
  std::vector<const Flag *> columns;
  while (lines.next(line)) {
    std::vector<std::string> words;
    for (std::string_view word; !(word = io::nextWord(line, " \t\r,;")).empty();)
      words.emplace_back(word);
    if (words.empty())
      continue;
    if (columns.empty()) {
      for (const std::string &word : words) {
        const Flag *flag = findFlag(word.starts_with('-') ? word : "-" + word);
        if (!flag || std::ranges::find(shotFlags, flag->name()) == std::end(shotFlags))
          throw io::FileError(path, lines.number(),
                              io::quoted(word) +
                                  " is no column of a table of shots; those are flags "
                                  "without dash: misset, cell, fluence, seed, lambda, "
                                  "phi, N, mosaic and their like");
        columns.push_back(flag);
      }
      continue;
    }
    std::vector<std::string> shot;
    std::size_t next = 0;
    for (const Flag *flag : columns) {
      shot.emplace_back(flag->name());
      for (std::size_t i = 0; i < flag->maximumValues(); ++i, ++next)
        shot.push_back(next < words.size() ? words[next] : "");
    }
    if (next != words.size())
      throw io::FileError(path, lines.number(),
                          "has " + std::to_string(words.size()) +
                              " numbers; the columns of the first "
                              "line need " +
                              std::to_string(next) + " (misset has 3, cell 6)");
    try {
      CommandLine trial = setup.line;
      applyWords(shot, trial);
    } catch (const UsageError &error) {
      throw io::FileError(path, lines.number(), error.what());
    }
    shots.push_back(std::move(shot));
  }
  if (shots.empty())
    throw io::FileError(path,
                        "has no shots; its first line names columns (misset fluence seed), the "
                        "others have their numbers");
  frames = std::int64_t(shots.size());
}

void FramePlan::readExperiments(const std::string &path) {
  std::map<std::int64_t, std::size_t> images; // image set to shot
  for (io::DialsExperiment &e : io::readExpt(path)) {
    if (!e.crystal)
      throw io::FileError(path, "has an experiment without a crystal; index it first");
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

Frame FramePlan::frame(std::int64_t index) const {
  Frame frame{setup.line, {}};
  Options &o = frame.line.options;
  o.seed = seed + index;
  if (!experiments.empty()) {
    const auto &lattices = experiments[std::size_t(index)];
    o.lambda = lattices.front().beam.wavelength;
    o.energy.reset();
    for (const io::DialsExperiment &e : lattices)
      frame.lattices.push_back(matrixOf(e, *o.lambda, 0));
    return frame;
  }
  if (!shots.empty()) {
    const std::vector<std::string> &words = shots[std::size_t(index)];
    if (std::ranges::find(words, "-lambda") != words.end())
      o.energy.reset();
    if (std::ranges::find(words, "-energy") != words.end())
      o.lambda.reset();
    applyWords(words, frame.line);
    frame.lattices.push_back(std::nullopt);
    return frame;
  }
  if (setup.line.series.frames) {
    o.phi = phi + double(index) * osc;
    if (osc > 0)
      o.osc = osc;
  }
  const double wavelength = wavelengthOf(setup.line, setup.loaded.inputs);
  const std::vector<io::DialsExperiment> &dials = setup.loaded.dials;
  if (setup.line.files.matrix || dials.empty() || !dials.front().crystal)
    frame.lattices.push_back(std::nullopt);
  else
    for (const io::DialsExperiment &e : dials)
      frame.lattices.push_back(matrixOf(e, wavelength, index));
  return frame;
}

} // namespace nanobragg
