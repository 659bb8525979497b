#include "lib/Compiler/Lab/Trial.h"

#include "lib/Compiler/CodeGen/Compilation.h"
#include "lib/Compiler/CodeGen/ProgramLines.h"
#include "lib/Compiler/Lab/LabRun.h"
#include "lib/Compiler/Lab/TrialText.h"
#include "lib/Compiler/Pipelines/MLIRFlags.h"

#include "dialect/Names.h"
#include "lib/Process/Isolated.h"

#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MD5.h"
#include "llvm/Support/TimeProfiler.h"
#include "llvm/Transforms/Utils/Cloning.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <random>

using namespace mlir;
using namespace mlir::nb;
using nanobragg::Derivative;
using Clock = std::chrono::steady_clock;
using llvm::Expected;

static double secondsSince(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

static Derivative derivativeOf(const TrialOptions &options) {
  return {Derivative::Mode::VJP, options.gradientBy};
}

//===----------------------------------------------------------------------===//
// Expectation and deviation
//===----------------------------------------------------------------------===//

/// The gradients among the results of a vjp, in the order of the parameters.
static std::vector<std::vector<double>> gradientsIn(ArrayRef<std::string> names,
                                                    ArrayRef<std::vector<double>> values,
                                                    ArrayRef<std::string> parameters) {
  std::vector<std::vector<double>> gradient;
  for (const std::string &parameter : parameters)
    for (auto [name, value] : llvm::zip(names, values))
      if (name == "gradient." + parameter)
        gradient.push_back(value);
  return gradient;
}

/// The numbers among the arguments, each changed by up to a part of itself. `changed` is where they
/// lie.
static void disturb(RunArguments &arguments, func::FuncOp function, double part,
                    std::vector<double> &changed) {
  changed.resize(arguments.size());
  std::minstd_rand random(1);
  std::uniform_real_distribution<double> of(-part, part);
  for (auto [i, type] : llvm::enumerate(function.getArgumentTypes()))
    if (type.isF64() && !argumentName(function, unsigned(i)).starts_with("tangent.")) {
      changed[i] = *static_cast<const double *>(arguments[i].data) * (1 + of(random));
      arguments[i].data = &changed[i];
    }
}

/// The gradient of a program that has been differentiated, with numbers that are changed by up to
/// `disturbance` of themselves.
static Expected<std::vector<std::vector<double>>>
gradientOf(ModuleOp program, Subject &subject, const TrialOptions &options, double disturbance) {
  auto function = *program.getOps<func::FuncOp>().begin();
  RunArguments arguments = subject.arguments(function);
  std::vector<double> changed;
  if (disturbance > 0)
    disturb(arguments, function, disturbance, changed);
  auto results = interpret(function, arguments, {});
  if (!results)
    return results.takeError();
  SmallVector<std::string> names;
  std::vector<std::vector<double>> values;
  for (auto [i, result] : llvm::enumerate(*results)) {
    auto name = function.getResultAttrOfType<StringAttr>(i, names::name);
    names.push_back(name ? name.str() : "");
    values.push_back(std::move(result.values));
  }
  return gradientsIn(names, values, options.gradientBy);
}

static Expected<std::vector<std::vector<double>>>
interpretGradient(Subject &subject, const TrialOptions &options, double disturbance) {
  OwningOpRef<ModuleOp> program = subject.get().clone();
  InterpreterPipelineOptions passes;
  passes.derivative = derivativeOf(options);
  if (auto error = runPipeline(interpreterPipeline(passes), *program))
    return error;
  return gradientOf(*program, subject, options, disturbance);
}

TrialOptions nb::trialOptionsOf(const nanobragg::CompileOptions &decided, const Subject &subject) {
  TrialOptions options;
  options.compile.target = decided.target;
  options.compile.precision = decided.precision;
  options.compile.cull = decided.cull;
  options.compile.passes = decided.passes;
  options.compile.passes.pipeline.clear();
  if (subject.isExperiments())
    options.compile.fixed = decided.fixed;
  using nanobragg::Precision;
  options.tolerance = decided.precision == Precision::F64     ? EngineTolerance{1e-9, 1e-12}
                      : decided.precision == Precision::Mixed ? EngineTolerance{1e-5, 1e-7}
                                                              : EngineTolerance{1e-3, 1e-4};
  // The image of a lowered program is of f32, as nb-sim's, and pixels are rounded to that.
  constexpr double roundedPixel = 1.2e-7;
  if (subject.isLowered())
    options.tolerance.rtol = std::max(options.tolerance.rtol, roundedPixel);
  return options;
}

Expected<Expectation> nb::expect(Subject &subject, const TrialOptions &options) {
  const llvm::TimeTraceScope span("interpret the program");
  Expectation expectation;
  // Averages in closed form are interpreted closed: the draws of such a program are but one.
  OwningOpRef<ModuleOp> program = subject.function()->getParentOfType<ModuleOp>().clone();
  Pipeline closing;
  stages::averageFirst(closing, *program);
  if (auto error = runPipeline(std::move(closing), *program))
    return error;
  func::FuncOp function = subject.function(*program);
  auto image = interpretImage(function, subject.arguments(function), 0);
  if (!image)
    return image.takeError();
  expectation.image = std::move(*image);
  if (options.gradientBy.empty())
    return expectation;
  if (subject.isLowered()) {
    expectation.noGradient = "the program is lowered, and derivatives are taken of nb programs";
    return expectation;
  }
  auto gradient = interpretGradient(subject, options, 0);
  if (!gradient) {
    expectation.noGradient = llvm::toString(gradient.takeError());
    return expectation;
  }
  expectation.gradient = std::move(*gradient);
  // Terms of either sign may leave next to nothing, or nothing at all. How much of that is
  // rounding, numbers with some roundings' worth of change in them tell.
  constexpr double roundings = 1e-4; // 1e-13 in f64
  auto other = interpretGradient(subject, options, options.tolerance.rtol * roundings);
  if (!other)
    return other.takeError();
  constexpr double room = 30;
  for (auto [one, another] : llvm::zip(expectation.gradient, *other)) {
    double &most = expectation.gradientRounding.emplace_back(0);
    for (auto [a, b] : llvm::zip(one, another))
      most = std::max(most, room * std::fabs(a - b));
  }
  return expectation;
}

namespace {
/// The largest of differences in units of what is allowed.
class Worst {
public:
  /// `besides` is allowed anywhere.
  Worst(const EngineTolerance &tolerance, double largest, double besides = 0)
      : tolerance(tolerance), largest(largest), besides(besides) {}

  void add(double value, double reference, function_ref<std::string()> where) {
    if (value == reference || (std::isnan(value) && std::isnan(reference)))
      return;
    double off = std::fabs(value - reference);
    double units =
        off / (tolerance.rtol * std::fabs(reference) + tolerance.atolOfMax * largest + besides);
    if (!std::isfinite(units))
      off = units = std::numeric_limits<double>::max();
    if (units <= result.worst)
      return;
    result.worst = units;
    constexpr double most = std::numeric_limits<double>::max();
    result.relative = largest > 0 && off < most ? std::min(off / largest, most) : off;
    result.where = where();
    result.value = value;
    result.reference = reference;
  }
  Deviation take() {
    result.same = result.worst <= 1;
    return result;
  }

private:
  EngineTolerance tolerance;
  double largest, besides;
  Deviation result;
};
} // namespace

static double largestOf(ArrayRef<double> values) {
  double largest = 0;
  for (double value : values)
    if (std::isfinite(value))
      largest = std::max(largest, std::fabs(value));
  return largest;
}

Deviation nb::deviationOf(const RenderedImage &image, const RenderedImage &reference,
                          const EngineTolerance &tolerance) {
  Worst worst(tolerance, largestOf(reference.pixels));
  for (size_t i = 0; i != reference.pixels.size(); ++i)
    worst.add(image.pixels[i], reference.pixels[i], [&] {
      const auto p = reference.pixelAt(i);
      return llvm::formatv("panel {0}, slow {1}, fast {2}", p.panel, p.slow, p.fast).str();
    });
  return worst.take();
}

static Deviation deviationOf(ArrayRef<std::vector<double>> gradient, const Expectation &expectation,
                             const TrialOptions &options) {
  Deviation all;
  all.same = true;
  // Sums over millions of terms of either sign are rounded more than pixels are.
  EngineTolerance tolerance = options.tolerance;
  tolerance.rtol *= 10;
  for (auto [name, value, expected, rounding] : llvm::zip(
           options.gradientBy, gradient, expectation.gradient, expectation.gradientRounding)) {
    Worst worst(tolerance, largestOf(expected), rounding);
    for (size_t i = 0; i != expected.size(); ++i)
      worst.add(i < value.size() ? value[i] : std::nan(""), expected[i], [&] { return name; });
    Deviation one = worst.take();
    if (one.worst >= all.worst)
      all = one;
  }
  return all;
}

std::optional<Deviation> nb::interpretedDeviation(ModuleOp program, Subject &subject,
                                                  const Expectation &expectation,
                                                  const TrialOptions &options) {
  auto gradient = gradientOf(program, subject, options, 0);
  if (gradient && gradient->size() == expectation.gradient.size())
    return ::deviationOf(*gradient, expectation, options);
  llvm::consumeError(gradient.takeError());
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// A trial
//===----------------------------------------------------------------------===//

namespace {
/// A kernel, and what became known when it was made.
struct Made {
  std::unique_ptr<JitKernel> kernel;
  std::string passes;
  double seconds = 0;
  std::optional<CodeLoop> loop;
  std::string code;
};
} // namespace

static Expected<Made> make(Subject &subject, const std::string &pipeline,
                           const TrialOptions &options, bool gradient, bool lookAtCode) {
  CompileOptions compile = options.compile;
  compile.passes.pipeline = pipeline;
  compile.marksDerivative = true;
  compile.programFile = programFileOfProcess();
  if (gradient) {
    compile.derivative = derivativeOf(options);
    llvm::erase_if(compile.fixed, [&](const nanobragg::FixedCount &count) {
      return llvm::is_contained(compile.derivative.parameters, count.name);
    });
  }
  Made made;
  compile.passes.tell = [&](const std::string &line) { made.passes = line; };
  auto begin = Clock::now();
  auto compilation = Compilation::start(subject.get(), compile);
  if (!compilation)
    return compilation.takeError();
  if (auto error = (*compilation)->lower())
    return error;
  std::unique_ptr<llvm::Module> copy;
  double looking = 0;
  if (lookAtCode) {
    auto beginLook = Clock::now();
    copy = llvm::CloneModule(*(*compilation)->module);
    looking += secondsSince(beginLook);
  }
  auto kernel = loadCompiled(**compilation);
  if (!kernel)
    return kernel.takeError();
  made.seconds = secondsSince(begin) - looking;
  made.kernel = std::move(*kernel);
  if (!copy)
    return made;
  (*compilation)->module = std::move(copy);
  KernelStats stats;
  auto assembly = (*compilation)->assembly(stats);
  if (!assembly)
    return assembly.takeError();
  if (const CodeLoop *inner = stats.inner())
    made.loop = *inner;
  made.code = llvm::toHex(llvm::MD5::hash(
      ArrayRef(reinterpret_cast<const uint8_t *>(assembly->data()), assembly->size())));
  return made;
}

static std::vector<std::vector<double>> outputsOf(Subject &subject,
                                                  const nb_kernel_descriptor &kernel) {
  // With a tolerance the runtime leaves out what the interpreter computes, so it is told that all
  // is lit. An average has too many reflections for that, and gets those that `exact` leaves.
  auto cull = subject.function()->getAttrOfType<FloatAttr>(names::cull);
  const bool leavesOut = kernel.reach && cull && cull.getValueAsDouble() > 0;
  LabRun run(kernel, subject);
  if (leavesOut && !run.runExact())
    return nb::runKernel(kernel, subject.arguments(kernel), subject.shape());
  if (!leavesOut)
    run.run();
  return run.results();
}

static void tryGradient(TrialResult &result, Subject &subject, const Expectation &expectation,
                        const TrialOptions &options) {
  if (options.gradientBy.empty() || !expectation.noGradient.empty())
    return;
  auto made = make(subject, result.pipeline, options, /*gradient=*/true, /*lookAtCode=*/false);
  if (!made) {
    result.gradientFailure = llvm::toString(made.takeError());
    return;
  }
  const nb_kernel_descriptor &kernel = made->kernel->descriptor();
  SmallVector<std::string> names;
  for (unsigned i = 0; i != kernel.num_outputs; ++i)
    names.push_back(kernel.outputs[i].name);
  auto gradient = gradientsIn(names, outputsOf(subject, kernel), options.gradientBy);
  if (gradient.size() != expectation.gradient.size())
    result.gradientFailure = "the kernel of the gradient returns something else";
  else
    result.gradient = deviationOf(gradient, expectation, options);
}

static TrialResult tryHere(TrialResult result, Subject &subject, const Expectation &expectation,
                           const TrialOptions &options) {
  auto made = make(subject, result.pipeline, options, /*gradient=*/false, /*lookAtCode=*/true);
  if (!made) {
    result.failure = llvm::toString(made.takeError());
    return result;
  }
  const nb_kernel_descriptor &kernel = made->kernel->descriptor();
  result.passes = made->passes;
  result.compileSeconds = made->seconds;
  result.codeBytes = made->kernel->codeBytes();
  result.code = made->code;
  if (made->loop) {
    result.loopInstructions = made->loop->instructions();
    result.loopVector = made->loop->vector;
    result.loopSpills = made->loop->spills + made->loop->reloads;
    result.vectorRegisters = made->loop->vectorRegisters;
  }
  RenderedImage image{expectation.image.shape, outputsOf(subject, kernel).front()};
  if (image.pixels.size() != expectation.image.pixels.size()) {
    result.failure = "the kernel returns something other than the image";
    return result;
  }
  result.image = deviationOf(image, expectation.image, options.tolerance);
  tryGradient(result, subject, expectation, options);
  if (options.countInstructions)
    result.instructionsPerSample = countInstructions(kernel, subject);
  return result;
}

TrialResult nb::tryPipeline(Subject &subject, const Expectation &expectation,
                            const std::string &name, const std::string &pipeline,
                            const TrialOptions &options) {
  const llvm::TimeTraceScope span("try a pipeline", name);
  TrialResult result;
  result.name = name;
  result.pipeline = pipeline;
  auto outcome = nanobragg::runIsolated(
      [&]() -> std::string {
        TrialResult inside = result;
        const MLIRReport report("pipeline '" + name + "'");
        try {
          inside = tryHere(result, subject, expectation, options);
        } catch (const std::exception &error) {
          inside.failure = error.what();
        }
        return toJson(inside);
      },
      {options.mostSeconds, std::nullopt, /*withErrors=*/true});
  // The result is the last line, behind what went to standard error.
  const StringRef text = outcome.bytes;
  const size_t line = text.rfind('\n') + 1; // 0 where there is none
  if (!outcome.problem.empty()) {
    result.failure = outcome.problem + (text.empty() ? "" : ": ") + text.trim().str();
  } else if (auto read = trialFromJson(text.substr(line))) {
    llvm::errs() << text.take_front(line);
    return *read;
  } else {
    result.failure = "says nothing";
  }
  return result;
}

void nb::lookWhereLightIs(Subject &subject, const TrialOptions &options) {
  if (!subject.function()->hasAttr(names::cull))
    return;
  auto made = make(subject, "", options, false, false);
  if (!made)
    return llvm::consumeError(made.takeError()); // the trials will say why
  const nb_kernel_descriptor &kernel = made->kernel->descriptor();
  if (!kernel.reach)
    return;
  subject.restrictToAll();
  LabRun run(kernel, subject);
  run.run();
  const std::vector<double> image = run.results().front();
  auto [panels, slow, fast] = subject.shape();
  const auto brightest = std::max_element(image.begin(), image.end()) - image.begin();
  subject.lookAt(brightest / fast % slow, brightest % fast);
}

/// Rows that one run takes long enough for to be timed, but not longer.
static void chooseRowsToTime(Subject &subject, const LabRun &run) {
  constexpr double enoughSeconds = 0.05;
  for (double samples = 2e6;; samples *= 4) {
    subject.restrictTo(samples);
    if (run.run().runSeconds >= enoughSeconds || samples >= subject.samples())
      return;
  }
}

void nb::timeInTurn(Subject &subject, std::vector<TrialResult> &results,
                    const TrialOptions &options, unsigned repeat) {
  struct Contestant {
    TrialResult *result;
    Made made;
    std::unique_ptr<LabRun> run;
    std::vector<double> seconds{};
  };
  std::vector<Contestant> contestants;
  const auto isSame = [&](const TrialResult &result) {
    return !contestants.empty() && !result.code.empty() &&
           result.code == contestants.front().result->code;
  };
  for (TrialResult &result : results) {
    if (!result.compiles())
      continue;
    result.sameCode = isSame(result);
    if (result.sameCode)
      continue;
    // It has run in a process of its own, and so may run in this one.
    auto made = make(subject, result.pipeline, options, false, false);
    if (!made) {
      llvm::consumeError(made.takeError());
      continue;
    }
    auto run = std::make_unique<LabRun>(made->kernel->descriptor(), subject);
    contestants.push_back({&result, std::move(*made), std::move(run)});
  }
  if (contestants.empty())
    return;
  const Subject::Part before = subject.part();
  auto leave = llvm::scope_exit([&] { subject.restrictTo(before); });
  chooseRowsToTime(subject, *contestants.front().run);
  const double samples = subject.samples() * subject.share();
  for (unsigned round = 0; round <= repeat; ++round) {
    for (Contestant &c : contestants) {
      const nanobragg::RunResult run = c.run->run();
      // The first one touches the memory.
      if (round > 0)
        c.seconds.push_back(run.runSeconds);
      if (run.culled)
        c.result->shareComputed = run.samplesEvaluated / samples;
    }
    // Who is timed behind whom is no advantage.
    std::reverse(contestants.begin(), contestants.end());
  }
  if (samples <= 0)
    return;
  TrialResult *const base = &*llvm::find_if(results, [](auto &r) { return r.compiles(); });
  const auto first = llvm::find_if(contestants, [&](auto &c) { return c.result == base; });
  for (Contestant &c : contestants) {
    c.result->nsPerSample = *llvm::min_element(c.seconds) / samples * 1e9;
    if (repeat >= fewestRounds && first != contestants.end() && c.result != base)
      c.result->change = pairedRatio(c.seconds, first->seconds);
  }
  for (TrialResult &result : results)
    if (result.sameCode) {
      result.nsPerSample = base->nsPerSample;
      result.shareComputed = base->shareComputed;
    }
}
