#include "test/engines/Engines.h"

#include "lib/Compiler/Pipelines/Dialects.h"
#include "lib/Frontend/Frontend.h"
#include "lib/Program/Parameters.h"

using namespace mlir;
using namespace mlir::nb;

MLIRContext &nb::testContext() {
  static MLIRContext *context = [] {
    DialectRegistry registry;
    registerCompilerDialects(registry);
    registerInterpreter(registry);
    auto *made = new MLIRContext(registry, MLIRContext::Threading::DISABLED);
    made->loadAllAvailableDialects();
    return made;
  }();
  return *context;
}

OwningOpRef<ModuleOp> nb::programOf(const nanobragg::ProgramVariant &variant) {
  return buildProgram(testContext(), variant);
}

BoundArguments::BoundArguments(const nanobragg::Experiment &experiment) {
  for (const nanobragg::Parameter *parameter : nanobragg::parametersOf(experiment.variant))
    parameters.push_back({parameter->name, parameter->kind(), parameter->unit});
  nb_kernel_descriptor descriptor = {};
  descriptor.name = "image";
  descriptor.num_parameters = uint32_t(parameters.size());
  descriptor.parameters = parameters.data();
  bound = std::make_unique<nanobragg::BoundParameters>(descriptor, experiment);
  arguments.resize(parameters.size());
  for (auto [i, argument] : llvm::enumerate(arguments))
    argument.data = addresses()[i];
}

BothEngines::BothEngines(const nanobragg::ProgramVariant &variant)
    : program(programOf(variant)),
      kernel(valueOf(compileFunction(*program, "image", /*fused=*/false, {}))) {}

RenderedImage BothEngines::interpreted(const nanobragg::Experiment &experiment) {
  const BoundArguments arguments(experiment);
  return valueOf(
      interpretImage(program->lookupSymbol<func::FuncOp>("image"), arguments.get(), /*threads=*/1));
}

RenderedImage BothEngines::compiled(const nanobragg::Experiment &experiment) {
  const BoundArguments arguments(experiment);
  const nanobragg::Detector &d = experiment.detector;
  return renderImage(kernel->descriptor(), arguments.get(),
                     {experiment.panelCount(), d.slowPixels, d.fastPixels});
}
