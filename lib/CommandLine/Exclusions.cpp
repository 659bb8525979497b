#include "lib/CommandLine/Exclusions.h"

#include "lib/CommandLine/Flag.h"

#include <algorithm>

namespace nanobragg {
namespace {

using Names = std::vector<std::string_view>;

bool isOn(const CommandLine &line, DeviceChoice::Kind kind) {
  return line.tool.simulator.device.kind == kind;
}
bool onGpu(const CommandLine &line) { return isOn(line, DeviceChoice::Kind::Gpu); }
bool gpuOnCpu(const CommandLine &line) { return isOn(line, DeviceChoice::Kind::GpuOnCpu); }
/// --schedule=none asks for what the others ask for, too.
bool namesSchedule(const CommandLine &line) {
  const auto given = std::find_if(line.given.rbegin(), line.given.rend(),
                                  [](const GivenFlag &flag) { return flag.name == "--schedule"; });
  return given != line.given.rend() && given->values != std::vector<std::string>{"none"};
}
bool drawsNoise(const CommandLine &line) { return line.outputs.noise; }
bool gpuProgram(const CommandLine &line) { return onGpu(line) || gpuOnCpu(line); }

/// Actions that a run can take instead of making an image. The names in one list go together.
const std::vector<Names> &actions() {
  static const std::vector<Names> all = {{"--list-parameters"},
                                         {"--check"},
                                         {"--emit", "--print-pipeline"},
                                         {"--compare-engines", "--compare-stages"},
                                         {"--grad", "--jacobian"}};
  return all;
}

/// Collects every pair of two lists of flags.
struct Table {
  std::vector<Exclusion> rows;

  void add(const Names &these, const Names &those, std::string_view why,
           bool (*when)(const CommandLine &) = nullptr, std::string_view values = "") {
    for (std::string_view first : these)
      for (std::string_view second : those)
        rows.push_back({first, second, why, when, values});
  }
};

std::vector<Exclusion> makeTable() {
  Table table;
  const Names compares = {"--compare-engines", "--compare-stages"};
  const Names derives = {"--grad", "--jacobian"}, prints = {"--emit", "--print-pipeline"};
  const Names ownPasses = {"--pipeline", "--plugin", "--patterns"}, schedule = {"--schedule"};
  const Names interprets = {"--no-fuse", "--probe", "--check-finite"};
  for (std::size_t i = 0; i != actions().size(); ++i) {
    for (std::size_t j = i + 1; j != actions().size(); ++j)
      if (!(actions()[i] == prints && actions()[j] == derives)) // it prints the derivative's
        table.add(actions()[i], actions()[j],
                  "each of them is done instead of rendering the image");
    table.add(actions()[i],
              {"--probe", "--check-finite", "--trace-pixel", "-printout", "-printout_pixel"},
              "the second needs the image, which the first does not render");
  }
  table.add(prints, {"--timing"}, "nothing is run");
  table.add({"--beam-center"}, {"-Xbeam", "-Ybeam", "-Xclose", "-Yclose", "-ORGX", "-ORGY"},
            "each of them sets the beam centre");
  table.add({"--list-parameters", "--check"}, {"--timing"}, "nothing is run");
  table.add({"--list-parameters", "--check", "--emit", "--print-pipeline"}, {"--profile"},
            "nothing is run");
  table.add(compares, {"--profile"},
            "most of the time of a comparison is spent in the interpreter");
  table.add(interprets, {"--profile"}, "the interpreter has no machine code to profile");
  table.add({"--profile"}, {"--device"}, "samples are taken on the processor", onGpu, "cuda");
  table.add({"--emit"}, {"--print-pipeline"}, "one of them is printed");
  table.add({"--list-parameters"}, {"--dump-ir"}, "nothing is compiled");
  table.add(compares, {"--timing"}, "a comparison is not timed");
  table.add(compares, {"--no-fuse"}, "a comparison runs both engines");
  table.add(
      compares, {"--device"},
      "engines are compared on the processor; --device=gpu-on-cpu compares the program of a GPU",
      onGpu, "cuda");
  const Names series = {"--frames", "--shots", "--lattices"};
  for (const Names &group : actions())
    if (group != Names{"--check"})
      table.add(series, group, "the second does not render images");
  table.add(
      series,
      {"--probe", "--check-finite", "--trace-pixel", "-printout", "-printout_pixel", "--timing"},
      "the second is for a single run");
  table.add({"--spectrum"}, {"-sourcefile"}, "both list the sources");
  table.add({"--sensor-material"}, {"-detector_absorb"}, "both set the absorption of the sensor");
  table.add({"--hkl-channels"}, {"-hkl", "-dump"}, "both give the structure factors");
  table.add({"--hkl-channels"}, {"--anomalous-atoms", "--anomalous-table"},
            "each makes structure factors depend on the energy");
  table.add({"--geom"}, {"--expt"}, "both describe the detector");
  table.add({"--frames"}, {"--shots"}, "both define the images");
  table.add({"--lattices"}, {"--shots"}, "both define the crystals on an image");
  table.add({"-curved_det"},
            {"--write-refl", "--write-stream", "--png-rings", "--write-expt", "--cbf", "--nexus",
             "--write-map"},
            "the second is for flat panels");
  table.add({"--until-before"}, {"--until-after"}, "a program is printed once");
  table.add(series, {"--reflections"}, "the second is the table of one image");
  table.add({"--pixels"},
            {"-intfile", "-noisefile", "-pgmfile", "--png", "--cbf", "--nexus", "--write-expt",
             "--write-refl", "--reflections", "--write-stream", "--write-map", "--frames",
             "--shots", "--lattices", "--trace-pixel", "-printout", "-printout_pixel"},
            "a list of pixels is not an image");
  table.add({"-dead_time"}, {"-noisefile", "--cbf", "--nexus"},
            "noise is drawn for counts without losses; -nonoise leaves it out", drawsNoise);
  table.add({"--trace-pixel"}, {"-printout", "-printout_pixel"}, "both choose the pixel");

  table.add({"--kernel"}, {"--grad", "--jacobian"},
            "the file contains the kernel of an image, and derivatives need their own");
  table.add({"--kernel"}, prints, "the file contains no program to print");
  table.add({"--kernel"}, {"--list-parameters"},
            "nb-compile --inspect=FILE lists the parameters of a file's kernel");
  table.add({"--kernel"}, compares, "the file contains no program to interpret");
  table.add({"--kernel"}, interprets, "the file contains no program to interpret");
  table.add({"--kernel"}, {"--dump-ir"}, "with a file nothing is compiled");
  table.add({"--pipeline"}, schedule, "the schedule is a pipeline", namesSchedule);
  for (const auto &[passes, when] :
       {std::pair<Names, bool (*)(const CommandLine &)>(ownPasses, nullptr),
        std::pair<Names, bool (*)(const CommandLine &)>(schedule, namesSchedule)}) {
    table.add({"--kernel"}, passes, "with a file nothing is compiled", when);
    table.add({"--list-parameters"}, passes, "nothing is compiled", when);
  }
  table.add({"--kernel"}, {"--device"}, "the file determines the device", gpuOnCpu, "gpu-on-cpu");
  table.add(interprets, {"--device"}, "the interpreter does not run GPU programs", gpuProgram,
            "cuda and gpu-on-cpu");
  return std::move(table.rows);
}

const GivenFlag *find(const CommandLine &line, std::string_view name) {
  const auto found = std::find_if(line.given.begin(), line.given.end(),
                                  [&](const GivenFlag &flag) { return flag.name == name; });
  return found == line.given.end() ? nullptr : &*found;
}

} // namespace

const std::vector<Exclusion> &exclusions() {
  static const std::vector<Exclusion> table = makeTable();
  return table;
}

const GivenFlag *actionOf(const CommandLine &line) {
  for (const Names &group : actions())
    for (std::string_view name : group)
      if (const GivenFlag *flag = find(line, name))
        return flag;
  return nullptr;
}

const GivenFlag *questionOf(const CommandLine &line) {
  const GivenFlag *question = actionOf(line);
  for (std::string_view name :
       {"--probe", "--check-finite", "--trace-pixel", "--timing", "--profile"})
    if (!question)
      question = find(line, name);
  return question;
}

void refuseExclusions(const CommandLine &line) {
  for (const Exclusion &row : exclusions()) {
    const GivenFlag *first = find(line, row.first), *second = find(line, row.second);
    if (first && second && (!row.when || row.when(line)))
      throw UsageError(first->spelling + " and " + second->spelling +
                       " exclude each other: " + std::string(row.why) + "; leave one of them out");
  }
}

namespace idle {
const Idle always{[](const CommandLine &) { return true; },
                  "it exists for compatibility with the C program"};
const Idle noNoiseImage{[](const CommandLine &line) { return !line.outputs.noise; },
                        "no noise image is made"};
const Idle noImage{
    [](const CommandLine &line) { return actionOf(line) != nullptr && !line.tool.check; },
    "this run writes no image"};
const Idle noGreyImage{[](const CommandLine &line) { return !line.outputs.pgm; },
                       "a later -nopgm switches the grey image off"};
} // namespace idle

namespace {

std::vector<std::string> words(std::string_view text) {
  std::vector<std::string> all;
  for (std::string_view rest = text; !rest.empty();) {
    all.emplace_back(rest.substr(0, rest.find(' ')));
    rest.remove_prefix(std::min(rest.size(), all.back().size() + 1));
  }
  return all;
}

std::string named(const std::vector<std::string> &names) {
  std::string all = names.size() == 1 ? "no " : "none of ";
  for (const std::string &name : names)
    all += (name == names.front() ? "" : name == names.back() ? " and " : ", ") + name;
  return all;
}

/// A sentence that says why the flag has no effect; empty: it has one.
std::string effect(const Flag &flag, const CommandLine &line,
                   const std::vector<const Field *> &neverRead) {
  const std::string none = " has no effect: ";
  for (const Idle *idle : flag.idle)
    if (idle->holds(line))
      return none + std::string(idle->why);
  const auto given = [&](const std::string &name) { return isGiven(line, name); };
  const std::vector<std::string> with = words(flag.with), without = words(flag.without);
  if (!with.empty() && std::ranges::none_of(with, given))
    return none + "there is " + named(with);
  if (const auto beside = std::ranges::find_if(without, given); beside != without.end())
    return none + *beside + " takes its place";
  return flag.quantity ? lostEffect(*flag.quantity, line.options, neverRead) : "";
}

} // namespace

std::vector<std::string> flagsOfImageFiles(const CommandLine &line) {
  std::vector<std::string> flags;
  for (const GivenFlag &given : line.given)
    if (std::ranges::count(findFlag(given.name)->idle, &idle::noImage) > 0)
      flags.push_back(given.spelling);
  return flags;
}

std::vector<std::string> flagsWithoutEffect(const CommandLine &line,
                                            const std::vector<const Field *> &neverRead) {
  std::vector<std::string> warnings;
  for (auto given = line.given.begin(); given != line.given.end(); ++given) {
    const auto again = [&](const GivenFlag &other) { return other.name == given->name; };
    if (std::any_of(line.given.begin(), given, again))
      continue;
    if (const std::string what = effect(*findFlag(given->name), line, neverRead); !what.empty())
      warnings.push_back(given->spelling + what);
  }
  return warnings;
}

} // namespace nanobragg
