#include "lib/Compiler/Lab/PipelineVariants.h"

#include "lib/Compiler/CodeGen/Compilation.h"
#include "lib/Compiler/Pipelines/RegisterPasses.h"

using namespace mlir;
using namespace mlir::nb;
using llvm::Expected;

Expected<Pipeline> nb::ownPipeline(Subject &subject, const TrialOptions &options) {
  auto compilation = Compilation::start(subject.get(), options.compile);
  if (!compilation)
    return compilation.takeError();
  return (*compilation)->pipeline();
}

Expected<Pipeline> nb::wholePipeline(Subject &subject, const TrialOptions &options) {
  auto own = ownPipeline(subject, options);
  return own ? parsePipeline(own->text()) : std::move(own);
}

static std::string without(StringRef pass, const Pipeline &pipeline) {
  Pipeline rest;
  for (const PipelineStep &step : pipeline.steps)
    if (step.name() != pass)
      rest.steps.push_back(step.copy());
  return rest.text();
}

Expected<std::vector<NamedPipeline>> nb::leaveOut(StringRef pass, StringRef text) {
  auto pipeline = parsePipeline(text);
  if (!pipeline)
    return pipeline.takeError();
  std::vector<std::string> names;
  for (const PipelineStep &step : pipeline->steps)
    if (!llvm::is_contained(names, step.name()))
      names.push_back(step.name());
  std::vector<NamedPipeline> variants;
  for (const std::string &name : names)
    // A lowering that is left out leaves no kernel, and averages are closed in any case.
    if (const std::optional<Stage> stage = stageOf(name);
        pass == name ||
        (pass == "each" && StringRef(name).starts_with("nb-") && stage != Stage::Outline &&
         stage != Stage::Average && stage != Stage::Differentiate))
      variants.push_back({"without " + name, without(name, *pipeline)});
  if (!variants.empty())
    return variants;
  return llvm::createStringError("there is no pass '" + pass.str() + "' to leave out; there are " +
                                 llvm::join(names, ", ") + ", and 'each' for all of nb-* in turn");
}

/// The program after some passes; null where one of them fails.
static OwningOpRef<ModuleOp> after(ModuleOp program, StringRef text) {
  OwningOpRef<ModuleOp> copy = program.clone();
  auto pipeline = parsePipeline(text);
  llvm::Error error = pipeline ? runPipeline(std::move(*pipeline), *copy) : pipeline.takeError();
  if (!error)
    return copy;
  llvm::consumeError(std::move(error));
  return {};
}

/// The program of the gradient after some passes; null where one of them fails.
static OwningOpRef<ModuleOp> gradientAfter(ModuleOp program, StringRef text,
                                           const TrialOptions &options) {
  CompileOptions compile = options.compile;
  compile.passes.pipeline = text.str();
  compile.passes.tell = nullptr;
  compile.marksDerivative = true;
  compile.derivative = {nanobragg::Derivative::Mode::VJP, options.gradientBy};
  compile.fixed.clear();
  auto compilation = Compilation::start(program, compile);
  llvm::Error error = compilation ? (*compilation)->fuse() : compilation.takeError();
  if (!error)
    return OwningOpRef<ModuleOp>((*compilation)->get().clone());
  llvm::consumeError(std::move(error));
  return {};
}

/// Nothing where the interpreter cannot run one of them.
static std::optional<NamedDifference> differenceOf(Subject &subject, ModuleOp first,
                                                   ModuleOp second, Pixel pixel, double rtol,
                                                   StringRef prefix) {
  func::FuncOp function;
  if (first && second)
    function = *first.getOps<func::FuncOp>().begin();
  if (!function || !second.lookupSymbol<func::FuncOp>(function.getName()))
    return std::nullopt;
  RunArguments arguments;
  try {
    arguments = subject.arguments(function);
  } catch (const std::exception &) { // an entry point, which takes memory
    return std::nullopt;
  }
  auto found = firstDifference(first, second, function.getName(), arguments, pixel, rtol, prefix);
  if (found)
    return *found;
  llvm::consumeError(found.takeError());
  return std::nullopt;
}

/// The pixel that is the farthest off; of an image that is right, the brightest.
static Pixel worstPixel(const Deviation &image, const Expectation &expectation) {
  Pixel pixel;
  if (!image.same && std::sscanf(image.where.c_str(), "panel %ld, slow %ld, fast %ld", &pixel.panel,
                                 &pixel.slow, &pixel.fast) == 3)
    return pixel;
  const auto &pixels = expectation.image.pixels;
  return expectation.image.pixelAt(std::max_element(pixels.begin(), pixels.end()) - pixels.begin());
}

Pipeline nb::patternsAsPasses(std::string &patterns) {
  Pipeline passes;
  for (StringRef file : llvm::split(patterns, ','))
    if (!file.empty())
      passes.steps.push_back({Stage::User, "", nullptr,
                              "builtin.module(nb-apply-patterns{files=" + file.str() + "})"});
  patterns.clear();
  return passes;
}

std::optional<GuiltyPass> nb::findGuiltyPass(Subject &subject, const Expectation &expectation,
                                             const std::string &text, const TrialOptions &options,
                                             Fault fault) {
  auto pipeline = parsePipeline(text);
  if (!pipeline) {
    llvm::consumeError(pipeline.takeError());
    return std::nullopt;
  }
  TrialOptions quick = options;
  if (fault != Fault::Gradient)
    quick.gradientBy.clear();
  quick.countInstructions = false;
  Pipeline all = patternsAsPasses(quick.compile.passes.patterns);
  const size_t patterns = all.steps.size();
  all.append(std::move(*pipeline));
  Pipeline begin;
  std::string before = begin.text();
  for (size_t i = 0; i <= all.steps.size(); ++i) {
    // A stage that the kernel lacks is the compiler's own, and taken to be right.
    TrialResult result = tryPipeline(subject, expectation, "", begin.text(), quick);
    auto judged = fault == Fault::Gradient ? result.gradient : result.image;
    // Only a sweep that has been fused becomes a kernel.
    if (fault == Fault::Gradient && !result.gradientFailure.empty())
      if (auto program = gradientAfter(subject.get(), begin.text(), quick))
        judged = interpretedDeviation(*program, subject, expectation, quick);
    const bool wrong = result.compiles() && judged && !judged->same;
    if (fault == Fault::Ends ? result.endsBadly() : wrong) {
      GuiltyPass guilty{0, "", std::nullopt};
      if (i > patterns)
        guilty = {i - patterns, all.steps[i - 1].name(), std::nullopt};
      else if (i > 0)
        guilty.name = insideModule(all.steps[i - 1].text()).str();
      if (!wrong || i == 0)
        return guilty;
      // Derivatives that differ may be computed from values that rightly do.
      const bool derivesLater =
          fault == Fault::Gradient && !StringRef(before).contains("nb-differentiate");
      const auto programAfter = [&](StringRef text) {
        return fault == Fault::Image ? after(subject.get(), text)
                                     : gradientAfter(subject.get(), text, quick);
      };
      guilty.value =
          differenceOf(subject, programAfter(before).get(), programAfter(begin.text()).get(),
                       worstPixel(*result.image, expectation), options.tolerance.rtol,
                       derivesLater ? "adj_" : "");
      return guilty;
    }
    before = begin.text();
    if (i < all.steps.size()) {
      begin.steps.push_back(all.steps[i].copy());
    }
  }
  return std::nullopt;
}
