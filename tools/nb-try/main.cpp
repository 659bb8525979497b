// Nb-try: pipelines as experiments.

#include "tools/nb-try/Command.h"

#include "lib/Compiler/Lab/Judge.h"
#include "lib/Compiler/Lab/TrialText.h"
#include "lib/Compiler/Lab/Tune.h"
#include "lib/Files/OutputFile.h"
#include "runtime/kernels/TunedSchedules.h"
#include "tools/shared/Main.h"
#include "tools/shared/SetFlags.h"

#include "llvm/TargetParser/Host.h"

#include <cstdio>
#include <optional>
#include <stdexcept>
#include <unistd.h>

using namespace nanobragg;
using namespace mlir::nb;

namespace {

class Try {
public:
  explicit Try(TryCommand given)
      : command(std::move(given)), lab(command.words), setup(lab.setup), subject(*lab.subject),
        options(lab.options) {
    options.countInstructions = command.count;
  }

  int run();

private:
  std::vector<NamedPipeline> pipelines();
  void explain(const TrialResult &result);
  void blame(const TrialResult &result);
  int tuneSchedule();
  std::string beginOfTuning();
  bool holdsElsewhere(const std::string &pipeline);
  /// The experiment's program, as schedules name it.
  std::string programText() const {
    const ProgramVariant &variant = setup.complete.experiment.variant;
    return KernelSpecification{variant, {}, {}, options.compile.cull}.toString();
  }
  bool keep(const Tuning &tuning);
  bool isKept() const;
  void writeSchedule(const std::string &name, const Tuning &tuning, const char *gain);
  int answer(const std::vector<TrialResult> &results) const;
  void progress(const std::string &what) const;

  TryCommand command;
  LabSetup lab;
  const RunSetup &setup;
  Subject &subject;
  TrialOptions &options;
  std::string own; ///< the compiler's own pipeline
  std::optional<Expectation> expectation;
};

template <typename T>
T valueOf(llvm::Expected<T> expected) {
  if (!expected)
    throw std::runtime_error(llvm::toString(expected.takeError()));
  return std::move(*expected);
}

void Try::progress(const std::string &what) const {
  if (isatty(STDERR_FILENO) && !setup.line.tool.quiet)
    std::fprintf(stderr, "%s\n", what.c_str());
}

std::vector<NamedPipeline> Try::pipelines() {
  std::vector<NamedPipeline> all;
  for (std::size_t i = 0; i != command.pipelines.size(); ++i)
    all.push_back({command.pipelines.size() == 1 ? "given" : "given " + std::to_string(i + 1),
                   command.pipelines[i]});
  for (const std::string &stage : command.untilAfter) {
    Pipeline pipeline = valueOf(ownPipeline(subject, options));
    if (auto error = pipeline.keep("", stage))
      throw UsageError("--until-after: " + llvm::toString(std::move(error)));
    all.push_back({"until " + stage, pipeline.text()});
  }
  for (const std::string &pass : command.leaveOut)
    for (NamedPipeline &one :
         valueOf(leaveOut(pass, command.pipelines.empty() ? own : command.pipelines.front())))
      all.push_back(std::move(one));
  return all;
}

void Try::explain(const TrialResult &r) {
  if (!r.failure.empty())
    std::printf("\n%s: %s\n", r.name.c_str(), r.failure.c_str());
  if (!r.gradientFailure.empty())
    std::printf("\n%s: no gradient: %s\n", r.name.c_str(), r.gradientFailure.c_str());
  for (const auto &[what, d] : {std::pair("image", &r.image), std::pair("gradient", &r.gradient)})
    if (*d && !(*d)->same)
      std::printf("\n%s: the %s is wrong: worst at %s, %.15g where the interpreter has %.15g, %.3g "
                  "times the tolerance\n",
                  r.name.c_str(), what, (*d)->where.c_str(), (*d)->value, (*d)->reference,
                  (*d)->worst);
  if (r.blame)
    blame(r);
}

void Try::blame(const TrialResult &r) {
  const char *name = r.name.c_str();
  struct Words {
    const char *wrong, *right;
  };
  constexpr Words words[] = {{"the image is wrong", "the image is right"},
                             {"the gradient is wrong", "the gradient is right"},
                             {"it does not end in order", "it ends in order"}};
  const Words said = words[size_t(r.blame->fault)];
  const auto &guilty = r.blame->pass;
  if (!guilty)
    std::printf("%s: %s after each of its passes\n", name, said.right);
  else if (guilty->number > 0)
    std::printf("%s: first guilty pass: %s, number %zu of its pipeline\n", name,
                guilty->name.c_str(), guilty->number);
  else if (!guilty->name.empty())
    std::printf("%s: first guilty pass: %s, of --patterns\n", name, guilty->name.c_str());
  else
    std::printf("%s: %s ahead of its first pass already: the fault is in the compiler's own "
                "passes, or in the target\n",
                name, said.wrong);
  if (guilty && guilty->value)
    std::printf("  first value that differs: %s\n", guilty->value->toString().c_str());
}

/// The answer to --is.
int Try::answer(const std::vector<TrialResult> &results) const {
  const TrialResult &first = results.size() > 1 ? results[1] : results[0];
  const std::string &is = command.require;
  bool yes = false;
  if (is.starts_with("slower") && first.compiles() && results[0].compiles() &&
      !(first.instructionsPerSample && results[0].instructionsPerSample))
    throw std::runtime_error("--is=slower counts instructions, which cannot be done here: on "
                             "x86-64 only, and of pixels with fewer than some "
                             "ten thousand samples (-oversample, -mosaic_domains)");
  if (is == "crash")
    yes = first.endsBadly();
  else if (is == "fails")
    yes = first.lacksKernel();
  else if (is == "differs")
    yes = first.differs();
  else
    yes = first.instructionsPerSample && results[0].instructionsPerSample &&
          *first.instructionsPerSample >
              std::atof(is.substr(is.find(':') + 1).c_str()) * *results[0].instructionsPerSample;
  return yes ? Success : Failure;
}

/// Is a schedule kept for runs to come? Only what a run would ask for by itself is.
bool Try::isKept() const {
  return command.words.program.empty() && options.compile.target == KernelTarget() &&
         options.compile.passes.plugins.empty() && TunedSchedules::fromEnvironment();
}

/// The other numbers that a schedule is tried with before it is used for them.
std::vector<std::vector<std::string>> otherShapes(const Experiment &experiment) {
  const auto &[panels, slow, fast] =
      std::array{experiment.detector.panels.size(), std::size_t(experiment.detector.slowPixels),
                 std::size_t(experiment.detector.fastPixels)};
  std::vector<std::vector<std::string>> shapes;
  const auto add = [&](const char *flag, auto count) {
    shapes.push_back({flag, std::to_string(count)});
  };
  add("-oversample", experiment.detector.oversample == 1 ? 3 : 1);
  if (panels <= 1 && slow == fast)
    add("-detpixels", slow > 256 ? slow / 4 : slow * 4);
  if (const auto &n = experiment.crystal.ncells; n[0] == n[1] && n[1] == n[2])
    add("-N", 2 * std::int64_t(n[0]) + 1);
  if (const std::size_t domains = experiment.crystal.mosaicAxis.size(); domains > 1)
    add("-mosaic_domains", 3 * domains);
  if (experiment.goniometer.phiSteps > 1)
    add("-phisteps", 3 * experiment.goniometer.phiSteps);
  return shapes;
}

/// Is the pipeline right, and no slower than the compiler's own, with other counts, too?
bool Try::holdsElsewhere(const std::string &pipeline) {
  bool holds = true;
  unsigned count = 0;
  for (const std::vector<std::string> &flags : otherShapes(setup.complete.experiment)) {
    const std::string name = flags[0] + " " + flags[1];
    LabWords words = command.words;
    words.experiment.insert(words.experiment.end(), flags.begin(), flags.end());
    words.gradient = "none";
    std::string result;
    try {
      const LabSetup other(words);
      if (other.setup.complete.experiment.variant != setup.complete.experiment.variant ||
          other.options.compile.cull != options.compile.cull ||
          other.options.compile.precision != options.compile.precision)
        continue; // it is another kernel's
      TrialOptions quick = other.options;
      quick.countInstructions = false;
      quick.compile.passes.patterns.clear();
      const Expectation right = valueOf(expect(*other.subject, quick));
      const TrialResult tried = judge(*other.subject, right, quick,
                                      {.pipelines = {{"default", ""}, {name, pipeline}},
                                       .repeat = std::max(command.repeat, fewestRounds)})
                                    .back();
      const Ratio change = tried.change.value_or(Ratio());
      const bool slower = change.least > 1 || change.median > 1 + command.leastGain;
      result = !tried.right()   ? "not right"
               : tried.sameCode ? "the same code as the compiler's own passes make"
                                : textOf(change);
      holds = holds && tried.right() && !slower;
      ++count;
    } catch (const std::exception &error) {
      result = "not tried: " + std::string(error.what());
    }
    std::printf("with %-43s %s\n", name.c_str(), result.c_str());
    std::fflush(stdout);
  }
  return holds && count > 0;
}

bool Try::keep(const Tuning &tuning) {
  const auto schedules = TunedSchedules::fromEnvironment();
  TunedSchedule schedule{.variant = programText(),
                         .precision = toString(options.compile.precision),
                         .pipeline = tuning.pipeline,
                         .shape = setup.decided.request.shape,
                         .change = tuning.change.median};
  if (tuning.pipeline == own) {
    schedules->forget(schedule.variant, schedule.precision, schedule.shape);
    return false;
  }
  schedule.everyShape = holdsElsewhere(tuning.pipeline);
  schedules->forget(schedule.variant, schedule.precision, schedule.shape);
  schedules->keep(schedule);
  return schedule.everyShape;
}

/// For nb-sim --schedule.
void Try::writeSchedule(const std::string &name, const Tuning &tuning, const char *gain) {
  std::string words;
  for (const std::string &word : command.words.experiment)
    words += " " + word;
  io::OutputFile file(name);
  file.write("# nb-try --tune" + words + "\n# variant: " + programText() +
             "\n# precision: " + toString(options.compile.precision) + "\n# processor: " +
             llvm::sys::getHostCPUName().str() + "\n# " + gain + "\n" + tuning.pipeline + "\n");
  file.commit();
  std::printf("wrote %s, for nb-sim --schedule=%s\n", name.c_str(), name.c_str());
}

/// The pipeline of --pipeline and --patterns; empty: the compiler's own.
std::string Try::beginOfTuning() {
  Pipeline all = patternsAsPasses(options.compile.passes.patterns);
  if (all.steps.empty() && command.pipelines.empty())
    return {};
  all.append(valueOf(parsePipeline(command.pipelines.empty() ? own : command.pipelines.front())));
  return all.text();
}

int Try::tuneSchedule() {
  const bool kept = isKept(); // a cache that cannot be used is refused ahead of the search
  const std::string begin = beginOfTuning();
  const auto tuning =
      valueOf(tune(subject, *expectation, options, {begin, command.repeat, command.leastGain},
                   [&](const TuningStep &step) {
                     const std::string result =
                         !step.right     ? "not right" + (step.why.empty() ? "" : ": " + step.why)
                         : step.sameCode ? "the same code as the best so far"
                                         : std::to_string(step.nsPerSample) + " ns, best so far " +
                                               std::to_string(step.against) + ": " +
                                               textOf(step.change) + (step.kept ? ": kept" : "");
                     std::printf("%-48s %s\n", step.what.c_str(), result.c_str());
                     std::fflush(stdout);
                   }));
  char numbers[100] = "nothing was faster";
  if (tuning.nsAfter > 0)
    std::snprintf(numbers, sizeof numbers,
                  "%.3f ns per sample, %.3f before, measured in turn: ", tuning.nsAfter,
                  tuning.nsBefore);
  const std::string text = numbers + (tuning.nsAfter > 0 ? textOf(tuning.change) : "");
  std::printf("%s\n", text.c_str());
  if (kept) {
    const bool everyShape = keep(tuning);
    std::puts(
        tuning.pipeline == own
            ? "nothing is faster than the compiler's own passes: no schedule is kept"
        : everyShape
            ? "kept: nb-sim and nb-compile use it for such images automatically"
            : "kept: nb-sim and nb-compile use it automatically for images of this shape only");
  }
  if (!command.output.empty() || !kept)
    writeSchedule(command.output.empty() ? "schedule.txt" : command.output, tuning, text.c_str());
  return Success;
}

int Try::run() {
  lab.tell();
  if (subject.isLowered() &&
      (command.tune || (!command.leaveOut.empty() && command.pipelines.empty())))
    throw UsageError("the program is lowered: most of the compiler's passes do nothing to it. Give "
                     "the program that it came from, or with --leave-out a --pipeline");
  own = valueOf(wholePipeline(subject, options)).text();
  std::vector<NamedPipeline> all = pipelines();
  progress("interpreting " +
           std::to_string(long(std::min(subject.samples(), command.words.checkSamples))) +
           " samples to compare with");
  expectation = valueOf(expect(subject, options));
  if (!expectation->noGradient.empty() && !command.json)
    std::fprintf(stderr, "NOTE: no gradient is looked at: %s\n", expectation->noGradient.c_str());
  if (command.tune)
    return tuneSchedule();
  if (!lab.kept.empty())
    all.insert(all.begin(), {"kept", lab.kept});
  all.insert(all.begin(), {"default", ""});
  Judging judging{.pipelines = std::move(all),
                  .repeat = command.repeat,
                  .blame = command.bisect ? Judging::Whom::All : Judging::Whom::Wrong,
                  .progress = [&](const std::string &what) { progress(what); }};
  if (!command.require.empty()) {
    judging.repeat = 0;
    judging.blame = Judging::Whom::Nobody;
  }
  const std::vector<TrialResult> results = judge(subject, *expectation, options, judging);
  if (!command.require.empty())
    return answer(results);
  bool wrong = false, failed = false;
  for (const TrialResult &r : results) {
    failed |= r.lacksKernel();
    wrong |= r.differs();
  }
  if (command.json) {
    for (const TrialResult &r : results)
      print(toJson(r) + "\n");
  } else {
    print(tableOf(results));
    for (const TrialResult &r : results)
      explain(r);
  }
  return wrong ? Different : failed ? Failure : Success;
}

int run(const std::vector<std::string> &words) { return Try(parseTry(words)).run(); }

} // namespace

int main(int argc, char **argv) {
  return runTool("nb-try", tryUsage, argc, argv, traced<run>, setFlags);
}
