#include "lib/Compiler/Run/InterpretExperiment.h"

#include "lib/Compiler/CodeGen/Compilation.h"
#include "lib/Compiler/CodeGen/DescribeFunction.h"
#include "lib/Compiler/Pipelines/Dialects.h"
#include "lib/Compiler/Pipelines/Pipelines.h"
#include "lib/Frontend/Frontend.h"
#include "lib/Program/KernelSpecification.h"
#include "lib/Program/Parameters.h"

using namespace mlir;
using namespace mlir::nb;
using llvm::createStringError;

/// The interpreter's pipeline, with probes on what the patterns name.
static Pipeline pipelineFor(StringRef probe, const nanobragg::Derivative &derivative) {
  InterpreterPipelineOptions options;
  options.derivative = derivative;
  Pipeline pipeline = interpreterPipeline(options);
  if (!probe.empty())
    stages::probe(pipeline, probe);
  return pipeline;
}

/// Choices of the variant that a trace shows as numbers.
static void printChoices(llvm::raw_ostream &out, const nanobragg::ProgramVariant &variant) {
  using nanobragg::Capture;
  using nanobragg::Evaluation;
  auto flag = [&](const char *key, bool value) {
    out << "TRACE " << key << " " << (value ? 1 : 0) << "\n";
  };
  flag("oversample_thick", variant.capture == Capture::Each);
  flag("oversample_polar", variant.polarization == Evaluation::Each);
  flag("oversample_omega", variant.omega == Evaluation::Each);
  // Factors that the program leaves out are 1.
  if (variant.capture == Capture::None)
    out << "TRACE capture_fraction 1\n";
  if (variant.polarization == Evaluation::None)
    out << "TRACE polar 1\n";
}

static InterpreterOptions toOptions(const nb_interpret_options &c, llvm::raw_ostream &trace,
                                    ProbeRecord *probes, void *image) {
  InterpreterOptions options;
  options.threads = c.threads;
  options.checkFinite = c.check_finite;
  options.image = image;
  if (c.trace)
    options.trace = Pixel{c.trace_panel, c.trace_slow, c.trace_fast};
  options.traceOutput = &trace;
  options.probes = probes;
  if (c.progress)
    options.progress = [&c](double fraction) { c.progress(c.context, fraction); };
  if (c.cancelled)
    options.cancelled = [&c] { return c.cancelled(c.context) != 0; };
  return options;
}

InterpretedExperiment::InterpretedExperiment(const nanobragg::ProgramVariant &variant,
                                             std::string probe)
    : variant(variant), probe(std::move(probe)), context(MLIRContext::Threading::DISABLED) {
  loadForInterpreter(context);
}

void InterpretedExperiment::describe(KernelDescription what) {
  description = std::move(what);
  for (const KernelParameter &p : description.parameters)
    parameters.push_back({p.name.c_str(), p.kind, p.unit.c_str()});
  described.abi_version = NB_KERNEL_ABI_VERSION;
  described.size = sizeof(described);
  described.image_type = description.imageType;
  described.name = description.function.c_str();
  described.variant = variantText.c_str();
  described.target = "interpreter";
  described.precision = "f64";
  described.num_parameters = uint32_t(parameters.size());
  described.parameters = parameters.data();
  for (const KernelOutput &o : description.outputs)
    outputs.push_back({o.name.c_str(), o.kind, o.unit.c_str()});
  described.num_outputs = uint32_t(outputs.size());
  described.outputs = outputs.data();
}

llvm::Error InterpretedExperiment::runOwnPasses(CompileOptions options) {
  options.engine = nanobragg::Engine::Interpreter;
  options.marksDerivative = true;
  auto compilation = Compilation::start(*program, options);
  if (!compilation)
    return compilation.takeError();
  if (llvm::Error error = (*compilation)->fuse())
    return error;
  (*compilation)->tellPasses();
  program = (*compilation)->get().clone();
  if (probe.empty())
    return llvm::Error::success();
  Pipeline probes;
  stages::probe(probes, probe);
  return runPipeline(std::move(probes), *program);
}

llvm::Error InterpretedExperiment::simplify(const CompileOptions &options) {
  std::optional<IRDump> dump;
  if (!options.dumpIR.empty()) {
    auto created = IRDump::create(dumpFolderOf(options));
    if (!created)
      return created.takeError();
    dump = std::move(*created);
  }
  Pipeline pipeline = pipelineFor(probe, options.derivative);
  return runPipeline(std::move(pipeline), *program, dump ? &*dump : nullptr);
}

llvm::Error InterpretedExperiment::build(const CompileOptions &options) {
  program = buildProgram(context, variant, options.cull);
  variantText =
      nanobragg::KernelSpecification{variant, options.derivative, {}, options.cull}.toString();
  if (llvm::Error error = options.passes.any() ? runOwnPasses(options) : simplify(options))
    return createStringError("preparing the program failed: " + toString(std::move(error)));
  std::string message;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    if (message.empty())
      message = diagnostic.str();
  });
  auto function = *program->getOps<func::FuncOp>().begin();
  auto signature = describeFunction(function);
  if (!signature)
    return signature.takeError();
  describe(std::move(*signature));
  auto prepared = Interpreter::prepare(function);
  if (failed(prepared))
    return createStringError(options.passes.any()
                                 ? "the interpreter cannot run what the passes leave: " + message
                                 : message);
  interpreter.emplace(std::move(*prepared));
  return llvm::Error::success();
}

llvm::Expected<std::unique_ptr<InterpretedExperiment>>
InterpretedExperiment::prepare(const nanobragg::ProgramVariant &variant,
                               const CompileOptions &options, std::string probe) {
  std::unique_ptr<InterpretedExperiment> result(
      new InterpretedExperiment(variant, std::move(probe)));
  if (llvm::Error error = result->build(options))
    return error;
  return result;
}

SmallVector<int64_t> InterpretedExperiment::imageShape(const void *const *arguments) const {
  SmallVector<int64_t> shape;
  for (StringRef count : nanobragg::imageCounts)
    for (auto [i, parameter] : llvm::enumerate(parameters))
      if (count == parameter.name)
        shape.push_back(*static_cast<const int64_t *>(arguments[i]));
  return shape;
}

llvm::Expected<std::string> InterpretedExperiment::run(const void *const *arguments,
                                                       const nb_interpret_options &options,
                                                       void *const *outputs) const {
  std::string message;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    if (message.empty())
      message = diagnostic.str();
  });
  std::vector<InterpreterArgument> bound(parameters.size());
  for (auto [i, argument] : llvm::enumerate(bound)) {
    argument.data = arguments[i];
    if (parameters[i].kind == NB_PARAMETER_IMAGE)
      argument.shape = imageShape(arguments);
  }

  std::string report;
  llvm::raw_string_ostream out(report);
  if (options.trace)
    printChoices(out, variant);
  ProbeRecord probes;
  auto results = interpreter->run(bound, toOptions(options, out, probe.empty() ? nullptr : &probes,
                                                   outputs ? outputs[0] : nullptr));
  if (failed(results))
    return createStringError(message);
  if (!options.trace)
    for (auto [i, result] : llvm::enumerate(*results))
      if (!result.values.empty()) // else it is the image that went to outputs[0]
        llvm::copy(result.values, static_cast<double *>(outputs[i]));
  if (!probe.empty() && probes.probes.empty())
    return createStringError("no value of the program is named '" + probe +
                             "'; --no-fuse --emit nb shows their names");
  if (!probe.empty() && options.json)
    probes.printJson(out);
  else if (!probe.empty())
    probes.printTable(out);
  return report;
}
