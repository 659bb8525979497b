// Nb-bench: how fast, and how much faster.

#include "tools/shared/Main.h"
#include "lib/CommandLine/OwnFlags.h"
#include "nanobragg/DeviceChoice.h"
#include "runtime/processor/KernelRunner.h"
#include "runtime/processor/Stopwatch.h"
#include "tools/nb-bench/Axes.h"
#include "tools/nb-bench/Baseline.h"
#include "tools/nb-bench/Measurement.h"
#include "tools/nb-bench/Report.h"
#include "tools/nb-bench/Starts.h"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <stdexcept>
#include <unistd.h>

using namespace nanobragg;

namespace {

const std::vector<std::string> guardedTargets{"x86-64-v3", "x86-64-v4", "sm_90",  "gfx90a",
                                              "gfx942",    "gfx1100",   "gfx1201"};

struct Arguments {
  Axes axes;
  std::vector<int> threads{1, 0};
  std::optional<std::vector<int>> starts;
  std::optional<std::vector<std::string>> precisions;
  std::vector<std::string> targets = guardedTargets;
  Plan plan;
  std::string reference, hkl, json, markdown, baseline;
  std::optional<double> samples; ///< samples of one image
  std::optional<int> repeat;
  double tolerance = 0.02;
  int pixels = 0; ///< 0: as many as make the samples
  bool quick = false, full = false, cross = false, update = false;
};

using C = Arguments;
using Text = std::string;

std::vector<int> counts(const char *flag, const Text &v, double least, double most) {
  std::vector<int> numbers;
  for (const Text &word : listOf(v))
    numbers.push_back(int(countOf(flag, word, least, most)));
  return numbers;
}

std::vector<Text> among(const char *flag, const Text &v, const std::vector<Text> &all) {
  const std::vector<std::string_view> words(all.begin(), all.end());
  for (const Text &word : listOf(v))
    choiceOf(flag, word, words);
  return listOf(v);
}

const Text shapesHelp = [] {
  Text words;
  for (const Text &shape : shapesOfFlags())
    words += (words.empty() ? "" : ", ") + shape;
  return "crystal shapes: " + words + " (default: all)";
}();
const Text deviceHelp = "as nb-sim's --device: " + DeviceChoice::words() + "; default: cpu";

const OwnFlag<C> flags[] = {
    {"--quick", "", "each shape and kind of structure factors, below a minute", keeps<&C::quick>},
    {"--full", "",
     "one axis at a time, up to nine sources and a hundred domains: three minutes, five with a "
     "reference",
     keeps<&C::full>},
    {"--cross", "", "every combination of the values in --full: an hour, many with a reference",
     keeps<&C::cross>},
    {"--reference", "FILE", "a nanoBragg executable to compare with; OMP_NUM_THREADS is set for it",
     keeps<&C::reference>},
    {"--shapes", "LIST", shapesHelp,
     [](C &a, const Text &v) { a.axes.shapes = among("--shapes", v, shapesOfFlags()); }},
    {"--factors", "LIST",
     "structure factors: constant, or a grid with nearest or tricubic lookup (default: nearest)",
     [](C &a, const Text &v) {
       a.axes.factors = among("--factors", v, {"constant", "nearest", "tricubic"});
     }},
    {"--cells", "LIST", "unit cells along each edge of the crystal (default: 10)",
     [](C &a, const Text &v) { a.axes.cells = counts("--cells", v, 1, 1e6); }},
    {"--domains", "LIST", "mosaic domains (default: 10)",
     [](C &a, const Text &v) { a.axes.domains = counts("--domains", v, 1, 1e4); }},
    {"--oversample", "LIST", "sub-pixels along each edge of a pixel (default: 1)",
     [](C &a, const Text &v) { a.axes.oversample = counts("--oversample", v, 1, 20); }},
    {"--sources", "LIST", "points of the beam, 1 or 9 (default: 1)",
     [](C &a, const Text &v) {
       among("--sources", v, {"1", "9"});
       a.axes.sources = counts("--sources", v, 1, 9);
     }},
    {"--phi", "LIST", "steps of the rotation (default: 1)",
     [](C &a, const Text &v) { a.axes.phiSteps = counts("--phi", v, 1, 1e4); }},
    {"--threads", "LIST", "0: one per core (default: 1,0)",
     [](C &a, const Text &v) { a.threads = counts("--threads", v, 0, 4096); }},
    {"--precision", "LIST",
     "as nb-sim's --precision (default: f64; with --quick, --full and --cross also mixed)",
     [](C &a, const Text &v) { a.precisions = listOf(v); }},
    {"--samples", "N", "samples of one image, which set the size of the detector (default: 1e7)",
     [](C &a, const Text &v) { a.samples = numberOf("--samples", v, Range::between(1e3, 1e10)); }},
    {"--pixels", "N", "pixels along each edge of the detector, instead of --samples",
     [](C &a, const Text &v) { a.pixels = int(countOf("--pixels", v, 1, 32768)); }},
    {"--pipeline", "TEXT", "as nb-sim's --pipeline: passes of your own",
     keeps<&C::plan, &Plan::pipeline>},
    {"--device", "DEVICE", deviceHelp,
     [](C &a, const Text &v) {
       if (!DeviceChoice::fromString(v))
         throw UsageError("--device: " + DeviceChoice::refusal(v));
       a.plan.device = v;
     }},
    {"--repeat", "N", "runs of each program, of which the median is reported (default: 5)",
     [](C &a, const Text &v) { a.repeat = int(countOf("--repeat", v, 1, 1000)); }},
    {"--hkl", "FILE", "structure factors (default: 445,445 invented ones)", keeps<&C::hkl>},
    {"--instructions", "",
     "count the instructions of one sample exactly, and compute their least cycles by LLVM's "
     "scheduling model; implied by --quick, --full and --cross",
     keeps<&C::plan, &Plan::countInstructions>},
    {"--gradients", "", "time gradients too; implied by --quick, --full and --cross",
     keeps<&C::plan, &Plan::gradients>},
    {"--starts", "LIST",
     "sizes of the detector, for which the time of the first image and of later ones is measured, "
     "too",
     [](C &a, const Text &v) { a.starts = counts("--starts", v, 1, 1e5); }},
    {"--markdown", "FILE", "write the tables to this file", keeps<&C::markdown>},
    {"--json", "FILE", "write the numbers to this file", keeps<&C::json>},
    {"--baseline", "FILE",
     "measure nothing; compare counts of instructions and cycles with those in this file",
     keeps<&C::baseline>},
    {"--targets", "LIST",
     "with --baseline: x86-64 levels and GPU chips whose code is counted, not run (default: all)",
     [](C &a, const Text &v) { a.targets = among("--targets", v, guardedTargets); }},
    {"--tolerance", "FRACTION",
     "with --baseline: fraction by which counts may increase (default: 0.02)",
     [](C &a, const Text &v) { a.tolerance = numberOf("--tolerance", v, Range::between(0, 1)); }},
    {"--update", "", "with --baseline: write the counts to the file instead", keeps<&C::update>},
};

std::string usage() {
  constexpr std::size_t column = 24;
  return "usage: nb-bench [--quick|--full|--cross] [--reference=FILE] ...\n\n"
         "Measures the time of nb-sim's loop over pixels and, with --reference, that of a\n"
         "nanoBragg program, in turn. File output, compilation and the start-up of the reference\n"
         "(measured with one pixel) are not included. Without --quick, --full or --cross the "
         "table\n"
         "contains every combination of the listed values.\n\n" +
         describeOwnFlags<C>(flags, column) + describeCommonFlags(column, true) +
         "\nExit status: 0; 1: something failed, or an instruction count rose; 2: usage.\n"
         "docs/benchmarks contains tables made by this program, with their commands.\n";
}

std::vector<Workload> workloadsOf(const Arguments &a) {
  std::vector<Workload> all = a.quick   ? quickTable()
                              : a.full  ? fullTable()
                              : a.cross ? crossTable()
                                        : a.axes.crossed();
  for (Workload &workload : all)
    if (a.pixels)
      workload.pixels = a.pixels;
    else
      workload.fitSamples(a.samples.value_or(1e7));
  return all;
}

void write(const std::string &path, const std::string &text) {
  if (path.empty())
    return;
  std::ofstream file(path);
  file << text;
  if (!file.flush())
    throw std::runtime_error("cannot write " + path);
}

std::vector<int> distinctThreads(const std::vector<int> &requested) {
  std::vector<int> threads;
  for (int number : requested)
    if (std::find(threads.begin(), threads.end(), resolveThreads(number)) == threads.end())
      threads.push_back(resolveThreads(number));
  return threads;
}

/// How far a long table has come, on standard error: all the time where that is somebody's screen,
/// twice a minute in a file.
class Progress {
public:
  explicit Progress(std::size_t count) : count(count) {}
  void next() {
    const bool screen = ::isatty(STDERR_FILENO);
    if (done > 0 && (screen || sinceSaid.seconds() > 30)) {
      std::fprintf(stderr, "%zu of %zu, about %.0f s left%c", done, count,
                   sinceBegin.seconds() / double(done) * double(count - done),
                   screen ? '\r' : '\n');
      sinceSaid = Stopwatch();
    }
    ++done;
  }

private:
  std::size_t count, done = 0;
  Stopwatch sinceBegin, sinceSaid;
};

void measureSpeed(const Arguments &a, const BenchInputs &inputs, KernelProvider &kernels,
                  BenchReport &report) {
  const std::vector<Workload> workloads = workloadsOf(a);
  const std::vector<int> threads = distinctThreads(a.threads);
  std::fputs(tableHeading(a.plan.reference.has_value()).c_str(), stdout);
  Progress progress(workloads.size() * threads.size());
  for (const Workload &workload : workloads)
    for (int number : threads) {
      progress.next();
      Plan plan = a.plan;
      plan.countInstructions &= number == threads.front();
      for (Measurement &row : measure(workload, inputs, number, plan, kernels)) {
        std::fputs(tableLine(row).c_str(), stdout);
        std::fflush(stdout);
        report.target = row.target;
        report.rows.push_back(std::move(row));
      }
    }
}

void measureStartUp(const Arguments &a, const BenchInputs &inputs, const ScratchFolder &scratch,
                    BenchReport &report) {
  std::fputs(startsHeading().c_str(), stdout);
  for (int pixels : *a.starts)
    for (int threads : distinctThreads(a.threads)) {
      Workload workload;
      workload.pixels = pixels;
      const auto folder = scratch.path() / ("start-" + std::to_string(report.starts.size()));
      report.starts.push_back(measureStarts(workload, inputs, threads, a.plan.precisions.front(),
                                            a.plan.repeat, folder));
      std::fputs(startsLine(report.starts.back()).c_str(), stdout);
      std::fflush(stdout);
    }
}

/// The command line for whoever repeats it elsewhere.
std::string commandOf(const std::vector<std::string> &words) {
  std::string command = "nb-bench";
  for (const std::string &word : words) {
    const bool path = word.starts_with("--reference=") || word.starts_with("--hkl=");
    if (!word.starts_with("--markdown=") && !word.starts_with("--json="))
      command += " " + (path ? word.substr(0, word.find('=')) + "=PATH/" +
                                   std::filesystem::path(word).filename().string()
                             : word);
  }
  return command;
}

/// Options that --quick, --full and --cross choose unless the command line says otherwise.
void choosePreset(Arguments &a) {
  if (a.plan.countInstructions && a.plan.device != "cpu")
    throw UsageError("--instructions are those of the processor's kernels");
  if (int(a.quick) + int(a.full) + int(a.cross) > 1)
    throw UsageError("--quick, --full and --cross are different tables: choose one");
  if (a.quick || a.full || a.cross) {
    a.plan.countInstructions = a.plan.device == "cpu";
    a.plan.gradients = true;
    if (!a.precisions)
      a.precisions = {"f64", "mixed"};
    if (!a.starts)
      a.starts = a.quick ? std::vector{256} : std::vector{256, 512, 1024};
    if (!a.samples)
      a.samples = a.quick ? 1e6 : 4e6;
    if (a.quick && !a.repeat)
      a.repeat = 3;
  }
  a.plan.precisions = a.precisions.value_or(a.plan.precisions);
  a.plan.repeat = a.repeat.value_or(a.plan.repeat);
}

int run(const std::vector<std::string> &words) {
  Arguments a;
  if (const auto others = takeOwnFlags<C>(flags, words, a, OtherWords::Names); !others.empty())
    throw UsageError("'" + others.front() + "' is not a flag");
  choosePreset(a);
  const ScratchFolder scratch;
  const BenchInputs inputs =
      writeInputs(scratch.path(), a.hkl.empty() ? "" : std::filesystem::absolute(a.hkl));
  KernelProvider kernels;
  if (!a.baseline.empty()) {
    const InstructionCounts counts = countGuarded(a.targets, inputs, *kernels.compiler());
    if (a.update) {
      writeBaseline(counts, a.baseline);
      return Success;
    }
    return checkBaseline(counts, a.baseline, a.tolerance) ? Success : Failure;
  }

  BenchReport report;
  report.machine = describeMachine();
  report.command = commandOf(words);
  report.repeat = a.plan.repeat;
  if (!a.reference.empty()) {
    a.plan.reference.emplace(a.reference, scratch.path());
    const std::string built = a.plan.reference->compiler();
    report.reference = a.plan.reference->name() + (built.empty() ? "" : ", built with " + built);
  }
  measureSpeed(a, inputs, kernels, report);
  if (a.starts)
    measureStartUp(a, inputs, scratch, report);
  report.loadSeconds = kernels.counters().compilerLoadSeconds;
  write(a.markdown, report.toMarkdown());
  write(a.json, report.toJson());
  return Success;
}

} // namespace

int main(int argc, char **argv) {
  return runTool("nb-bench", usage, argc, argv, run, CompilerLibrary::setFlags);
}
