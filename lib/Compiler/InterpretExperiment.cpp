#include "lib/Compiler/InterpretExperiment.h"

#include "lib/Compiler/Dialects.h"
#include "lib/Compiler/DumpIR.h"
#include "lib/Compiler/Pipelines.h"
#include "lib/Experiment/Parameters.h"
#include "lib/Frontend/Frontend.h"
#include "lib/Interpreter/Interpreter.h"
#include "lib/Transforms/Passes.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/Pass/PassManager.h"

using namespace mlir;
using namespace mlir::nb;
using llvm::createStringError;

/// The interpreter's passes, with probes on the values that the patterns name. Names of ops have a
/// dot, names of values have none.
static void addPasses(PassManager &passes, const nb_interpret_options &options) {
  populateInterpreterPipeline(passes);
  if (!options.probe)
    return;
  InsertProbesOptions byName, byOp;
  for (StringRef pattern : llvm::split(StringRef(options.probe), ','))
    (pattern.contains('.') ? byOp.ops : byName.names).push_back(pattern.str());
  if (!byName.names.empty())
    passes.addPass(createInsertProbes(byName));
  if (!byOp.ops.empty())
    passes.addPass(createInsertProbes(byOp));
}

/// Structural choices that a trace shows as numbers.
static void printChoices(llvm::raw_ostream &out, const nanobragg::Structure &structure) {
  using nanobragg::Capture;
  using nanobragg::Evaluation;
  auto flag = [&](const char *key, bool value) {
    out << "TRACE " << key << " " << (value ? 1 : 0) << "\n";
  };
  flag("oversample_thick", structure.capture == Capture::Each);
  flag("oversample_polar", structure.polarization == Evaluation::Each);
  flag("oversample_omega", structure.omega == Evaluation::Each);
  // Factors that the program leaves out are 1.
  if (structure.capture == Capture::None)
    out << "TRACE capture_fraction 1\n";
  if (structure.polarization == Evaluation::None)
    out << "TRACE polar 1\n";
}

static InterpreterOptions toOptions(const nb_interpret_options &c, llvm::raw_ostream &trace,
                                    ProbeRecord &probes, void *image) {
  InterpreterOptions options;
  options.threads = c.threads;
  options.checkFinite = c.check_finite;
  options.image = image;
  if (c.trace)
    options.trace = Pixel{c.trace_panel, c.trace_slow, c.trace_fast};
  options.traceOutput = &trace;
  if (c.probe)
    options.probes = &probes;
  if (c.progress)
    options.progress = [&c](double fraction) { c.progress(c.context, fraction); };
  if (c.cancelled)
    options.cancelled = [&c] { return c.cancelled(c.context) != 0; };
  return options;
}

llvm::Expected<std::string> nb::interpretExperiment(const nanobragg::Structure &structure,
                                                    const CompileOptions &compile,
                                                    const void *const *arguments,
                                                    const nb_interpret_options &options,
                                                    void *image) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  DialectRegistry registry;
  registerCompilerDialects(registry);
  registerInterpreter(registry);
  context.appendDialectRegistry(registry);
  loadFrontendDialects(context);
  OwningOpRef<ModuleOp> program = buildProgram(context, structure);

  std::string message;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    if (message.empty())
      message = diagnostic.str();
  });
  PassManager passes(&context);
  addPasses(passes, options);
  if (!compile.dumpIR.empty())
    if (llvm::Error error = dumpIRAfterEachPass(passes, *program, compile.dumpIR))
      return error;
  if (failed(passes.run(*program)))
    return createStringError("preparing the program failed: " + message);

  auto function = *program->getOps<func::FuncOp>().begin();
  auto interpreter = Interpreter::prepare(function);
  if (failed(interpreter))
    return createStringError(message);
  std::vector<InterpreterArgument> bound(function.getNumArguments());
  for (auto [i, argument] : llvm::enumerate(bound))
    argument.data = arguments[i];

  std::string report;
  llvm::raw_string_ostream out(report);
  if (options.trace)
    printChoices(out, structure);
  ProbeRecord probes;
  auto results = interpreter->run(bound, toOptions(options, out, probes, image));
  if (failed(results))
    return createStringError(message);
  if (options.probe && probes.probes.empty())
    return createStringError(std::string("no value of the program is named '") + options.probe +
                             "'; --no-fuse --emit nb shows their names");
  if (options.probe && options.json)
    probes.printJson(out);
  else if (options.probe)
    probes.printTable(out);
  return report;
}
