#include "lib/Compiler/Pipelines/Pipelines.h"

#include "lib/Quantities/ClosestWord.h"

#include "mlir/Pass/PassRegistry.h"

#include <algorithm>
#include <stdexcept>

using namespace mlir;
using namespace mlir::nb;
using nanobragg::Derivative;

bool llvm::cl::parser<Derivative>::parse(Option &option, StringRef, StringRef text,
                                         Derivative &value) {
  try {
    value = Derivative::fromString(text.str());
    return false;
  } catch (const std::invalid_argument &error) {
    return option.error(error.what());
  }
}

/// A hoisted program has the faster derivative, and the derivative its own invariants.
static void addFusion(Pipeline &p, const Derivative &derivative) {
  stages::average(p);
  stages::fuseResponse(p);
  stages::hoist(p);
  stages::removeBranches(p);
  if (derivative.mode != Derivative::Mode::Value) {
    stages::differentiate(p, derivative);
    stages::hoistDerivative(p);
  }
  stages::fuse(p);
}

Pipeline nb::interpreterPipeline(const InterpreterPipelineOptions &options) {
  Pipeline p;
  stages::simplify(p);
  stages::average(p);
  const Derivative &derivative = options.derivative.getValue();
  if (derivative.mode == Derivative::Mode::Value)
    return p;
  stages::removeBranches(p);
  stages::differentiate(p, derivative);
  return p;
}

Pipeline nb::cpuPipeline(const CpuPipelineOptions &options) {
  Pipeline p;
  const ArithmeticOptions arithmetic{options.precision, options.estimates};
  addFusion(p, options.derivative.getValue());
  stages::setPrecision(p, arithmetic);
  stages::peel(p);
  stages::cull(p);
  stages::vectorize(p, options.width);
  stages::lowerLoops(p, /*warp=*/0);
  stages::lowerArithmetic(p, arithmetic);
  stages::outline(p);
  stages::lowerToLLVM(p);
  return p;
}

static int64_t warpOf(const GpuPipelineOptions &options) {
  if (options.warp != 0)
    return options.warp;
  const nanobragg::GpuVendor *vendor = nanobragg::vendorOfChip(options.chip.getValue());
  return vendor ? vendor->warp(options.chip.getValue()) : nanobragg::usualWarp;
}

/// A chip that no vendor's row knows is NVIDIA's: LLVM says what it is called.
static nanobragg::GpuLanguage languageOf(StringRef chip) {
  const nanobragg::GpuVendor *vendor = nanobragg::vendorOfChip(chip);
  return vendor ? vendor->language : nanobragg::GpuLanguage::PTX;
}

static void addDeviceLowering(Pipeline &p, const GpuPipelineOptions &options) {
  switch (languageOf(options.chip.getValue())) {
  case nanobragg::GpuLanguage::PTX:
    return stages::lowerToNVVM(p, {options.chip, options.features, options.blocks});
  case nanobragg::GpuLanguage::SPIRV:
    return stages::lowerToSPIRV(p, warpOf(options));
  case nanobragg::GpuLanguage::HSACO:
    return stages::lowerToROCDL(p, options.chip.getValue());
  }
}

Pipeline nb::gpuPipeline(const GpuPipelineOptions &options) {
  Pipeline p;
  const ArithmeticOptions arithmetic{options.precision};
  addFusion(p, options.derivative.getValue());
  stages::setPrecision(p, arithmetic);
  stages::peel(p);
  stages::cull(p);
  stages::lowerLoops(p, warpOf(options));
  stages::lowerArithmetic(p, arithmetic);
  stages::outline(p);
  stages::launch(p, options.threads, warpOf(options));
  using Part = GpuPipelineOptions::Part;
  switch (options.part) {
  case Part::Device:
    addDeviceLowering(p, options);
    break;
  case Part::Loops:
    stages::lowerGrid(p);
    stages::lowerToLLVM(p);
    break;
  case Part::Host:
    stages::keepHost(p);
    stages::lowerToLLVM(p);
    break;
  }
  return p;
}

static llvm::StringMap<Stage> stagesOfPasses() {
  llvm::StringMap<Stage> stages;
  const auto add = [&](const Pipeline &pipeline) {
    for (const PipelineStep &step : pipeline.steps)
      stages.try_emplace(step.name(), step.stage);
  };
  InterpreterPipelineOptions interpreted;
  CpuPipelineOptions cpu;
  interpreted.derivative = cpu.derivative = Derivative{Derivative::Mode::VJP, {}};
  Pipeline counts;
  stages::fixCounts(counts, {});
  add(counts);
  add(interpreterPipeline(interpreted));
  add(cpuPipeline(cpu));
  using Part = GpuPipelineOptions::Part;
  for (Part part : {Part::Device, Part::Loops, Part::Host}) {
    GpuPipelineOptions gpu;
    gpu.part = part;
    for (const nanobragg::GpuVendor &vendor : nanobragg::gpuVendors()) {
      gpu.chip = std::string(vendor.chipPrefix);
      add(gpuPipeline(gpu));
    }
  }
  return stages;
}

static const llvm::StringMap<Stage> &knownPasses() {
  static const llvm::StringMap<Stage> stages = stagesOfPasses();
  return stages;
}

std::string nb::closestPass(StringRef name) {
  std::vector<std::string_view> names;
  for (StringRef pass : knownPasses().keys())
    names.push_back(pass);
  std::ranges::sort(names); // the same choice among equally near names in each run
  return std::string(nanobragg::closestWord(name, names));
}

std::optional<Stage> nb::stageOf(StringRef pass) {
  const llvm::StringMap<Stage> &stages = knownPasses();
  const auto found = stages.find(pass);
  return found == stages.end() ? std::nullopt : std::optional(found->second);
}

template <typename Options>
static void registerPipeline(StringRef name, StringRef description,
                             Pipeline (*build)(const Options &)) {
  registerPassPipeline(
      name, description,
      [build, name](OpPassManager &passes, StringRef text,
                    function_ref<LogicalResult(const Twine &)> reportError) -> LogicalResult {
        const auto anchor = passes.getOpName();
        if (anchor && *anchor != ModuleOp::getOperationName())
          return reportError(name + " is of a module, 'builtin.module(" + name +
                             ")', and stands in '" + *anchor + "(...)'");
        Options options;
        if (failed(options.parseFromString(text)))
          return failure();
        Pipeline pipeline = build(options);
        if (llvm::Error error = pipeline.keep(options.untilBefore, options.untilAfter))
          return reportError(llvm::toString(std::move(error)));
        pipeline.moveTo(passes);
        return success();
      },
      [](function_ref<void(const mlir::detail::PassOptions &)> visit) { visit(Options()); });
}

void nb::registerPipelines() {
  registerPipeline("nb-interpreter-pipeline",
                   "an nb program as the interpreter runs it: simplified, with its probes, nothing "
                   "moved",
                   interpreterPipeline);
  registerPipeline("nb-cpu-pipeline",
                   "an nb program to the LLVM dialect: one fused, vectorized CPU kernel",
                   cpuPipeline);
  registerPipeline(
      "nb-gpu-pipeline",
      "an nb program to the NVVM or ROCDL dialect, or for SPIR-V: one fused GPU kernel",
      gpuPipeline);
}
