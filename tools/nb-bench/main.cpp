// Nb-bench: how fast, and how much faster.

#include "runtime/processor/KernelRunner.h"
#include "runtime/processor/Stopwatch.h"
#include "tools/nb-bench/Axes.h"
#include "tools/nb-bench/Baseline.h"
#include "tools/nb-bench/Measurement.h"
#include "tools/nb-bench/Report.h"
#include "tools/nb-bench/Starts.h"
#include "tools/shared/ParseExit.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <stdexcept>
#include <unistd.h>

using namespace nanobragg;

namespace {

constexpr const char *description =
    R"(Times nb-sim's loop over pixels, in this process, and that of a nanoBragg program in turn with it.
Neither the reference's own start-up, measured with one pixel and subtracted, nor file output and
compilation count. Without --quick, --full or --cross the table has every combination of the listed values.)";

constexpr const char *footer =
    R"(Exit status: 0; 1: something failed, or an instruction count rose; otherwise usage.
docs/benchmarks says how the committed tables come about.)";

struct Arguments {
  Axes axes;
  std::vector<int> threads{1, 0}, starts;
  std::vector<std::string> targets{"x86-64-v3", "x86-64-v4"};
  Plan plan;
  std::string reference, hkl, json, markdown, baseline;
  double samples = 1e7, tolerance = 0.02;
  int pixels = 0; ///< 0: as many as make the samples
  bool quick = false, full = false, cross = false, update = false;
};

void addOptions(CLI::App &app, Arguments &a) {
  const auto file = [&](const char *name, std::string &value, const char *help) {
    return app.add_option(name, value, help)->type_name("FILE");
  };
  const auto list = [&](const char *name, auto &values, const std::string &help) {
    return app.add_option(name, values, help)->delimiter(',')->type_name("LIST");
  };
  // The limits are for the error; in the help they would be noise.
  const auto range = [](double least, double most) {
    return CLI::Range(least, most).description("");
  };
  const auto among = [](auto values) { return CLI::IsMember(values).description(""); };
  app.add_flag("--quick", a.quick, "each shape and kind of structure factors, below a minute");
  app.add_flag("--full", a.full,
               "one axis at a time, up to nine sources and a hundred domains: three minutes, five "
               "with a reference");
  app.add_flag("--cross", a.cross,
               "every combination of the values in --full: an hour, many with a reference");
  file("--reference", a.reference,
       "a nanoBragg executable to compare with; OMP_NUM_THREADS is set for it");
  list("--shapes", a.axes.shapes,
       "of the crystal: " + CLI::detail::join(a.axes.shapes, ", ") + " (default: all)")
      ->check(among(a.axes.shapes));
  list("--factors", a.axes.factors,
       "structure factors: constant, or a grid with nearest or tricubic lookup (default: nearest)")
      ->check(among(std::vector<std::string>{"constant", "nearest", "tricubic"}));
  list("--cells", a.axes.cells, "unit cells along each edge of the crystal (default: 10)")
      ->check(range(1, 1000000));
  list("--domains", a.axes.domains, "mosaic domains (default: 10)")->check(range(1, 10000));
  list("--oversample", a.axes.oversample, "sub-pixels along each edge of a pixel (default: 1)")
      ->check(range(1, 20));
  list("--sources", a.axes.sources, "points of the beam, 1 or 9 (default: 1)")
      ->check(among(std::vector{1, 9}));
  list("--phi", a.axes.phiSteps, "steps of the rotation (default: 1)")->check(range(1, 10000));
  list("--threads", a.threads, "0: one per core (default: 1,0)")->check(range(0, 4096));
  list("--precision", a.plan.precisions,
       "as nb-sim's --precision (default: f64; in the three tables also mixed)");
  app.add_option("--samples", a.samples, "of one image; the detector's size follows")
      ->check(range(1e3, 1e10))
      ->type_name("N")
      ->capture_default_str();
  app.add_option("--pixels", a.pixels, "along each edge of the detector, instead of --samples")
      ->check(range(1, 32768))
      ->type_name("N");
  app.add_option("--pipeline", a.plan.pipeline, "as nb-sim's --pipeline: passes of your own")
      ->type_name("TEXT");
  app.add_option("--device", a.plan.device, "as nb-sim's --device: " + DeviceChoice::words())
      ->check([](const std::string &device) {
        return DeviceChoice::fromString(device) ? "" : DeviceChoice::refusal(device);
      })
      ->type_name("DEVICE")
      ->capture_default_str();
  app.add_option("--repeat", a.plan.repeat, "runs of each program, whose median counts")
      ->check(range(1, 1000))
      ->type_name("N")
      ->capture_default_str();
  file("--hkl", a.hkl, "structure factors (default: 445,445 made-up ones)");
  app.add_flag("--instructions", a.plan.countInstructions,
               "count those of one sample, exactly; always in the three tables");
  app.add_flag("--gradients", a.plan.gradients, "time gradients too; always in the three tables");
  list("--starts", a.starts,
       "sizes of the detector: also measure what the first image costs, and the next ones")
      ->check(range(1, 100000));
  file("--markdown", a.markdown, "write the tables to this file");
  file("--json", a.json, "write the numbers to this file");
  file("--baseline", a.baseline,
       "instead: count the guarded instructions and compare them with this file");
  list("--targets", a.targets, "levels of x86-64 that they are counted for (default: both)")
      ->check(among(std::vector<std::string>{"x86-64-v3", "x86-64-v4"}));
  app.add_option("--tolerance", a.tolerance, "the fraction by which they may rise")
      ->check(range(0.0, 1.0))
      ->type_name("FRACTION")
      ->capture_default_str();
  app.add_flag("--update", a.update, "with --baseline: write the counts to the file instead");
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
      workload.fitSamples(a.samples);
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
                  Report &report) {
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
                    Report &report) {
  std::fputs(startsHeading().c_str(), stdout);
  for (int pixels : a.starts)
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

int run(Arguments a, const std::string &command) {
  const ScratchFolder scratch;
  const BenchInputs inputs =
      writeInputs(scratch.path(), a.hkl.empty() ? "" : std::filesystem::absolute(a.hkl));
  KernelProvider kernels;
  if (!a.baseline.empty()) {
    const InstructionCounts counts = countGuarded(a.targets, inputs, *kernels.compiler());
    if (a.update) {
      writeBaseline(counts, a.baseline);
      return 0;
    }
    return checkBaseline(counts, a.baseline, a.tolerance) ? 0 : 1;
  }

  Report report;
  report.machine = describeMachine();
  report.command = command;
  report.repeat = a.plan.repeat;
  if (!a.reference.empty()) {
    a.plan.reference.emplace(a.reference, scratch.path());
    const std::string built = a.plan.reference->compiler();
    report.reference = a.plan.reference->name() + (built.empty() ? "" : ", built with " + built);
  }
  measureSpeed(a, inputs, kernels, report);
  if (!a.starts.empty())
    measureStartUp(a, inputs, scratch, report);
  report.loadSeconds = kernels.counters().compilerLoadSeconds;
  write(a.markdown, report.toMarkdown());
  write(a.json, report.toJson());
  return 0;
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
void choosePreset(const CLI::App &app, Arguments &a) {
  if (a.plan.countInstructions && a.plan.device != "cpu")
    throw CLI::ValidationError("--instructions are those of the processor's kernels");
  if (int(a.quick) + int(a.full) + int(a.cross) > 1)
    throw CLI::ValidationError("--quick, --full and --cross are different tables: choose one");
  if (!a.quick && !a.full && !a.cross)
    return;
  a.plan.countInstructions = a.plan.device == "cpu";
  a.plan.gradients = true;
  if (app.count("--precision") == 0)
    a.plan.precisions = {"f64", "mixed"};
  if (app.count("--starts") == 0)
    a.starts = a.quick ? std::vector{256} : std::vector{256, 512, 1024};
  if (app.count("--samples") == 0)
    a.samples = a.quick ? 1e6 : 4e6;
  if (app.count("--repeat") == 0 && a.quick)
    a.plan.repeat = 3;
}

} // namespace

int main(int argc, char **argv) {
  CLI::App app(description, "nb-bench");
  addVersion(app);
  app.footer(footer);
  app.get_formatter()->column_width(28);
  Arguments arguments;
  addOptions(app, arguments);
  try {
    app.parse(argc, argv);
    choosePreset(app, arguments);
    return run(std::move(arguments), commandOf({argv + 1, argv + argc}));
  } catch (const CLI::ParseError &error) {
    return parseExit(app, error);
  } catch (const std::exception &error) {
    std::fprintf(stderr, "nb-bench: error: %s\n", printable(error.what()).c_str());
    return 1;
  }
}
