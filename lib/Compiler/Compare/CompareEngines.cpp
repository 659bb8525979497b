#include "lib/Compiler/Compare/CompareEngines.h"

#include "lib/Compiler/CodeGen/Compilation.h"
#include "lib/Compiler/CodeGen/Progress.h"
#include "lib/Compiler/Compare/RecordStages.h"
#include "lib/Compiler/Pipelines/Dialects.h"
#include "lib/Compiler/Pipelines/MLIRFlags.h"
#include "lib/Compiler/Pipelines/RegisterPasses.h"
#include "lib/Compiler/Run/ResultsAsImage.h"
#include "lib/Frontend/Frontend.h"
#include "lib/Program/Parameters.h"

#include "mlir/Pass/PassRegistry.h"
#include "llvm/Support/FormatVariadic.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace mlir::nb;
using llvm::Expected;

static ImageDifference difference(StringRef stage, const RenderedImage &image,
                                  const RenderedImage &reference,
                                  const EngineTolerance &tolerance) {
  double maximum = 0;
  for (double value : reference.pixels)
    if (std::isfinite(value))
      maximum = std::max(maximum, std::fabs(value));
  ImageDifference result;
  result.stage = stage.str();
  for (auto [i, pair] : llvm::enumerate(llvm::zip_equal(image.pixels, reference.pixels))) {
    auto [value, expected] = pair;
    if (value == expected || (std::isnan(value) && std::isnan(expected)))
      continue;
    double off = std::fabs(value - expected);
    double allowed = tolerance.rtol * std::fabs(expected) + tolerance.atolOfMax * maximum;
    if (!std::isfinite(value) || !std::isfinite(expected)) {
      off = std::numeric_limits<double>::infinity();
      allowed = 0;
    }
    result.beyond += off > allowed;
    result.largest = std::max(result.largest, off);
    if (off / allowed > result.worst) {
      result.worst = off / allowed;
      result.pixel = image.pixelAt(i);
      result.value = value;
      result.reference = expected;
    }
  }
  return result;
}

namespace {
class EngineComparer {
public:
  EngineComparer(StringRef function, const RunArguments &arguments, const CompileOptions &compile,
                 const CompareOptions &options)
      : function(function), arguments(arguments), compile(compile), options(options) {}

  Expected<EngineComparison> run(ModuleOp program);

private:
  Expected<RenderedImage> interpretStage(const RecordedProgram &stage) {
    return interpretImage(stage.program.get().lookupSymbol<func::FuncOp>(function), arguments,
                          options.threads);
  }
  /// Runs the pass that a test injects into the kernel alone.
  llvm::Error breakKernel(ModuleOp fused);
  llvm::Error compareStages(EngineComparison &result, const std::vector<RecordedProgram> &stages,
                            const RenderedImage &reference);

  StringRef function;
  const RunArguments &arguments;
  const CompileOptions &compile;
  const CompareOptions &options;
};
} // namespace

/// Empty: the compiler's.
static Expected<Pipeline> ownPasses(const nanobragg::OwnPasses &passes) {
  Pipeline all;
  for (StringRef file : llvm::split(passes.patterns, ','))
    if (!file.empty())
      all.steps.push_back({Stage::User, "", nullptr,
                           "builtin.module(nb-apply-patterns{files=" + file.str() + "})"});
  if (passes.pipeline.empty())
    return std::move(all);
  auto own = parsePipeline(passes.pipeline);
  if (!own)
    return own.takeError();
  all.append(std::move(*own));
  return std::move(all);
}

/// Is it past images and sums, which the interpreter runs?
static bool isLowered(ModuleOp program) {
  auto progress = progressOf(program);
  if (progress)
    return *progress != Progress::Program && *progress != Progress::Lanes;
  llvm::consumeError(progress.takeError());
  return true;
}

Expected<EngineComparison> EngineComparer::run(ModuleOp program) {
  bool breaksKernel = StringRef(options.inject).starts_with("kernel:");
  auto own = ownPasses(compile.passes);
  if (!own)
    return own.takeError();
  const bool isOwn = !own->steps.empty();
  auto stages = recordStages(program, breaksKernel ? "" : options.inject, std::move(*own));
  if (!stages)
    return stages.takeError();
  auto reference = interpretStage(stages->front());
  if (!reference)
    return reference.takeError();
  const RecordedProgram &beforeLanes = *std::prev(stages->end(), 2);
  OwningOpRef<ModuleOp> fused = beforeLanes.program.get().clone();
  if (auto error = breakKernel(*fused))
    return error;
  auto kernel = isOwn ? compileFunction(program, function, /*fused=*/false, compile)
                      : compileFunction(*fused, function, /*fused=*/true, compile);

  EngineComparison result;
  result.ownPasses = isOwn;
  result.pixels = reference->pixels.size();
  result.tolerance = options.tolerance;
  if (kernel) {
    RenderedImage image = renderImage((*kernel)->descriptor(), arguments, reference->shape);
    result.kernel = difference("kernel", image, *reference, options.tolerance);
  }
  if (options.everyStage || !kernel || result.kernel.beyond > 0)
    if (auto error = compareStages(result, *stages, *reference))
      return llvm::joinErrors(std::move(error), kernel.takeError());
  if (!kernel && !result.firstStage)
    return kernel.takeError();
  llvm::consumeError(kernel.takeError()); // it is no wonder then
  if (result.kernel.beyond == 0 || result.firstStage)
    return result;
  result.firstStage = "kernel";
  if (isOwn)
    return result;
  auto value = firstKernelDifference(beforeLanes.program.get(), function, arguments,
                                     result.kernel.pixel, options.tolerance.rtol, compile,
                                     [&](ModuleOp program) { return breakKernel(program); });
  if (!value)
    return value.takeError();
  result.kernelValue = *value;
  return result;
}

llvm::Error EngineComparer::breakKernel(ModuleOp fused) {
  StringRef pass = options.inject;
  if (!pass.consume_front("kernel:"))
    return llvm::Error::success();
  FlaggedPassManager passes(fused.getContext());
  if (failed(parsePassPipeline(pass, passes)) || failed(passes.run(fused)))
    return llvm::createStringError("cannot inject '" + options.inject + "'");
  return llvm::Error::success();
}

llvm::Error EngineComparer::compareStages(EngineComparison &result,
                                          const std::vector<RecordedProgram> &stages,
                                          const RenderedImage &reference) {
  for (size_t i = 1; i < stages.size() && !result.firstStage; ++i) {
    if (!stages[i].changed && !result.stages.empty()) {
      result.stages.push_back(result.stages.back());
      result.stages.back().stage = stages[i].name;
      continue;
    }
    auto image = interpretStage(stages[i]);
    if (!image && result.ownPasses && isLowered(stages[i].program.get())) {
      llvm::consumeError(image.takeError()); // from here on the kernel alone can be run
      break;
    }
    if (!image) {
      result.firstStage = stages[i].name;
      result.failure = llvm::toString(image.takeError());
      break;
    }
    result.stages.push_back(difference(stages[i].name, *image, reference, options.tolerance));
    const ImageDifference &stage = result.stages.back();
    if (stage.beyond == 0)
      continue;
    result.firstStage = stage.stage;
    auto value = firstDifference(*stages[i - 1].program, *stages[i].program, function, arguments,
                                 stage.pixel, options.tolerance.rtol);
    if (!value)
      return value.takeError();
    result.firstValue = *value;
  }
  return llvm::Error::success();
}

Expected<EngineComparison> nb::compareEngines(ModuleOp program, StringRef function,
                                              const RunArguments &arguments,
                                              const CompileOptions &compile,
                                              const CompareOptions &options) {
  OwningOpRef<ModuleOp> isolated = isolate(program.lookupSymbol<func::FuncOp>(function));
  if (auto error = inlineCalls(*isolated))
    return error;
  auto kernelFunction = isolated->lookupSymbol<func::FuncOp>(function);
  const auto isImage = [](Type type) { return isa<RankedTensorType>(type); };
  if (kernelFunction.getNumResults() > 1 && llvm::any_of(kernelFunction.getResultTypes(), isImage))
    return llvm::createStringError("'" + function + "' returns " +
                                   Twine(kernelFunction.getNumResults()) +
                                   " results, images among them, and engines are compared by one "
                                   "image; return the one to compare alone");
  if (!returnsImage(kernelFunction))
    if (auto error = packResults(kernelFunction))
      return error;
  return EngineComparer(function, arguments, compile, options).run(*isolated);
}

Expected<EngineComparison> nb::compareEngines(const nanobragg::ProgramVariant &variant,
                                              const void *const *arguments,
                                              const CompileOptions &compile,
                                              const CompareOptions &options) {
  // In single precision the image would hide differences that are well beyond the tolerance.
  nanobragg::ProgramVariant precise = variant;
  precise.imageType = nanobragg::ImageType::F64;
  MLIRContext context(MLIRContext::Threading::DISABLED);
  loadForInterpreter(context);
  if (compile.passes.any()) {
    registerPassesOnce();
    DialectRegistry registry;
    if (auto error = loadPlugins(compile.passes.plugins, registry))
      return error;
    context.appendDialectRegistry(registry);
  }
  RunArguments run(nanobragg::parametersOf(precise).size());
  for (auto [i, argument] : llvm::enumerate(run))
    argument.data = arguments[i];
  // Without culling: lists of what is lit are the runtime's.
  return compareEngines(*buildProgram(context, precise), "image", run, compile, options);
}

static std::string sentenceOn(const ImageDifference &d) {
  if (d.largest == 0)
    return "identical";
  std::string text = llvm::formatv(
      "largest difference {0:e3}; worst at panel {1}, slow {2}, fast {3}: {4:e15}, reference "
      "{5:e15}, {6:e3} times the tolerance",
      d.largest, d.pixel.panel, d.pixel.slow, d.pixel.fast, d.value, d.reference, d.worst);
  return text;
}

std::string EngineComparison::toString() const {
  std::string text = "no kernel could be made\n";
  if (!kernel.stage.empty())
    text = llvm::formatv("interpreter and kernel: {0} pixels, {1}\n", pixels, sentenceOn(kernel));
  if (kernel.beyond > 0)
    text += llvm::formatv("{0} pixels are beyond the tolerance, {1:e0} * |reference| + {2:e0} * "
                          "largest reference\n",
                          kernel.beyond, tolerance.rtol, tolerance.atolOfMax);
  for (const ImageDifference &stage : stages)
    text += llvm::formatv("after {0}: {1}\n", stage.stage, sentenceOn(stage));
  if (agree())
    return text + "the engines agree\n";
  if (*firstStage == "kernel")
    text += std::string("first stage that differs: kernel, that is what follows ") +
            (ownPasses ? "the passes that can be interpreted" : "nb-vectorize") + "\n";
  else
    text += "first stage that differs: " + *firstStage + "\n";
  if (!failure.empty())
    text += "the interpreter cannot run the program after it: " + failure + "\n";
  if (firstValue)
    text += "first value that differs: " + firstValue->toString() + "\n";
  if (kernelValue)
    text += "first value that differs: " + kernelValue->toString() + "\n";
  return text;
}
