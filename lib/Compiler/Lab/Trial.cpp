#include "lib/Compiler/Lab/Trial.h"

#include "lib/Compiler/CodeGen/Compilation.h"
#include "lib/Compiler/CodeGen/InnerLoop.h"
#include "lib/Compiler/Lab/Isolated.h"
#include "lib/Compiler/Lab/TrialText.h"
#include "lib/Compiler/Run/KernelRun.h"
#include "runtime/processor/StepCount.h"

#include "dialect/Names.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MD5.h"
#include "llvm/Transforms/Utils/Cloning.h"

#include <chrono>
#include <cmath>
#include <limits>

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

static Expected<std::vector<std::vector<double>>> expectGradient(Subject &subject,
                                                                 const TrialOptions &options) {
  OwningOpRef<ModuleOp> program = subject.get().clone();
  InterpreterPipelineOptions passes;
  passes.derivative = derivativeOf(options).toString();
  if (auto error = runPipeline(interpreterPipeline(passes), *program))
    return error;
  auto function = *program->getOps<func::FuncOp>().begin();
  auto results = interpret(function, subject.arguments(function), {});
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

Expected<Expectation> nb::expect(Subject &subject, const TrialOptions &options) {
  Expectation expectation;
  func::FuncOp function = subject.function();
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
  auto gradient = expectGradient(subject, options);
  if (gradient)
    expectation.gradient = std::move(*gradient);
  else
    expectation.noGradient = llvm::toString(gradient.takeError());
  return expectation;
}

namespace {
/// The largest of differences in units of what is allowed.
class Worst {
public:
  Worst(const EngineTolerance &tolerance, double largest)
      : tolerance(tolerance), largest(largest) {}

  void add(double value, double reference, function_ref<std::string()> where) {
    if (value == reference || (std::isnan(value) && std::isnan(reference)))
      return;
    double off = std::fabs(value - reference);
    double units = off / (tolerance.rtol * std::fabs(reference) + tolerance.atolOfMax * largest);
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
  double largest;
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
      Pixel p = reference.pixelAt(i);
      return llvm::formatv("panel {0}, slow {1}, fast {2}", p.panel, p.slow, p.fast).str();
    });
  return worst.take();
}

static Deviation deviationOf(ArrayRef<std::vector<double>> gradient,
                             ArrayRef<std::vector<double>> reference, const TrialOptions &options) {
  Deviation all;
  all.same = true;
  // Sums over millions of terms of either sign are rounded more than pixels are.
  EngineTolerance tolerance = options.tolerance;
  tolerance.rtol *= 10;
  for (auto [name, value, expected] : llvm::zip(options.gradientBy, gradient, reference)) {
    Worst worst(tolerance, largestOf(expected));
    for (size_t i = 0; i != expected.size(); ++i)
      worst.add(i < value.size() ? value[i] : std::nan(""), expected[i], [&] { return name; });
    Deviation one = worst.take();
    if (one.worst >= all.worst)
      all = one;
  }
  return all;
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
  std::optional<InnerLoop> loop;
  std::string code;
};
} // namespace

static Expected<Made> make(Subject &subject, const std::string &pipeline,
                           const TrialOptions &options, bool gradient, bool lookAtCode) {
  CompileOptions compile = options.compile;
  compile.passes.pipeline = pipeline;
  compile.marksDerivative = true;
  if (gradient)
    compile.derivative = derivativeOf(options);
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
  auto code = (*compilation)->code(llvm::CodeGenFileType::AssemblyFile);
  if (!code)
    return code.takeError();
  made.code = llvm::toHex(
      llvm::MD5::hash(ArrayRef(reinterpret_cast<const uint8_t *>(code->data()), code->size())));
  made.loop = findInnerLoop(StringRef(code->data(), code->size()),
                            (*compilation)->description.function + names::runTile.str());
  return made;
}

static std::vector<const void *> addressesOf(const RunArguments &arguments) {
  std::vector<const void *> addresses;
  for (const InterpreterArgument &argument : arguments)
    addresses.push_back(argument.data);
  return addresses;
}

static std::vector<std::vector<double>> outputsOf(Subject &subject,
                                                  const nb_kernel_descriptor &kernel) {
  KernelRun run(kernel, addressesOf(subject.arguments(kernel)), subject.shape());
  run.prepare();
  run.render();
  run.finish();
  return run.results();
}

/// Of one row in the middle, stepped through.
static std::optional<double> countInstructions(Subject &subject,
                                               const nb_kernel_descriptor &kernel) {
  auto [first, last] = subject.rows();
  const int64_t row = (first + last) / 2;
  KernelRun run(kernel, addressesOf(subject.arguments(kernel)), subject.shape());
  run.prepare();
  nanobragg::StepCounter counter(reinterpret_cast<const void *>(kernel.run_tile));
  counter.start();
  run.render(row, row + 1);
  counter.stop();
  const double all = subject.samples();
  if (counter.count() == 0 || all == 0)
    return std::nullopt;
  // samples() is of the whole image, restricted or not.
  return double(counter.count()) / (all / double(subject.wholeRows()));
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
    result.gradient = deviationOf(gradient, expectation.gradient, options);
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
    result.instructionsPerSample = countInstructions(subject, kernel);
  return result;
}

TrialResult nb::tryPipeline(Subject &subject, const Expectation &expectation,
                            const std::string &name, const std::string &pipeline,
                            const TrialOptions &options) {
  TrialResult result;
  result.name = name;
  result.pipeline = pipeline;
  auto outcome = runIsolated(
      [&]() -> std::string {
        TrialResult inside = result;
        try {
          inside = tryHere(result, subject, expectation, options);
        } catch (const std::exception &error) {
          inside.failure = error.what();
        }
        return toJson(inside);
      },
      options.mostSeconds);
  if (!outcome.problem.empty())
    result.failure = outcome.problem;
  else if (auto read = trialFromJson(outcome.bytes))
    return *read;
  else
    result.failure = "says nothing";
  return result;
}

void nb::timeInTurn(Subject &subject, std::vector<TrialResult> &results,
                    const TrialOptions &options, unsigned repeat) {
  struct Contestant {
    TrialResult *result;
    Made made;
    std::unique_ptr<KernelRun> run;
    double least = std::numeric_limits<double>::infinity();
  };
  std::vector<Contestant> contestants;
  for (TrialResult &result : results) {
    if (!result.compiles())
      continue;
    // It has run in a process of its own, and so may run in this one.
    auto made = make(subject, result.pipeline, options, false, false);
    if (!made) {
      llvm::consumeError(made.takeError());
      continue;
    }
    const nb_kernel_descriptor &kernel = made->kernel->descriptor();
    auto run = std::make_unique<KernelRun>(kernel, addressesOf(subject.arguments(kernel)),
                                           subject.shape());
    run->prepare();
    contestants.push_back({&result, std::move(*made), std::move(run)});
  }
  auto [first, last] = subject.rows();
  const double samples = subject.samples() * double(last - first + 1) / double(subject.wholeRows());
  for (unsigned round = 0; round <= repeat; ++round)
    for (Contestant &c : contestants) {
      auto begin = Clock::now();
      c.run->render();
      // The first one touches the memory.
      if (round > 0)
        c.least = std::min(c.least, secondsSince(begin));
    }
  for (Contestant &c : contestants)
    if (samples > 0 && std::isfinite(c.least))
      c.result->nsPerSample = c.least / samples * 1e9;
}
