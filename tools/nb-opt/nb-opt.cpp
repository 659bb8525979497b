// Run passes on nb programs.

#include "dialect/FlagLocations.h"
#include "dialect/NB.h"
#include "lib/Compiler/Pipelines/MLIRFlags.h"
#include "lib/Compiler/Pipelines/RegisterPasses.h"
#include "lib/Compiler/Pipelines/Registration.h"
#include "lib/Compiler/Pipelines/TraceSpans.h"
#include "lib/Compiler/Pipelines/ValueNames.h"
#include "lib/Files/PrintableErrors.h"
#include "lib/Files/TraceFile.h"
#include "tools/nb-opt/Help.h"
#include "tools/nb-opt/RunningPasses.h"

#include "lib/Transforms/OpenText.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassInstrumentation.h"
#include "mlir/Pass/PassManager.h"

#include "mlir/Support/FileUtilities.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/ToolOutputFile.h"

#include <string>
#include <vector>

using namespace mlir;

namespace {
using SharedText = std::shared_ptr<const std::string>;

/// Names values when the first pass runs, and is in no pipeline that is printed.
struct NameBeforePasses : PassInstrumentation {
  explicit NameBeforePasses(SharedText text) : text(std::move(text)) {}
  void runBeforePass(Pass *, Operation *op) override {
    // The first is over all of the program, or over parts of it that follow one another.
    if (!named && isa<ModuleOp>(op) && !op->getParentOp()) {
      nb::nameFromText(op, *text);
      named = true;
    }
  }

  SharedText text;
  bool named = false;
};

/// Where there are no passes.
struct NameValues : PassWrapper<NameValues, OperationPass<>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(NameValues)
  explicit NameValues(SharedText text) : text(std::move(text)) {}
  StringRef getArgument() const override { return "nb-name-values"; }
  void runOnOperation() override { nb::nameFromText(getOperation(), *text); }

  SharedText text;
};

/// An error at an op, with the flags of the experiment that the op is about.
LogicalResult noteFlags(Diagnostic &diagnostic) {
  const StringRef flags = nb::flagsAt(diagnostic.getLocation());
  if (!flags.empty() && diagnostic.getSeverity() == DiagnosticSeverity::Error)
    diagnostic.attachNote() << "this comes from " << flags;
  return failure(); // who prints it is next
}

/// Replaces the options of the project's other tools by nb-opt's, and adds those that these need.
/// Loads the plugins of --plugin.
llvm::Expected<std::vector<char *>>
translate(int argc, char **argv, std::vector<std::string> &words, DialectRegistry &registry) {
  bool prefix = false;
  for (int i = 0; i < argc; ++i) {
    StringRef word = argv[i];
    prefix |= word.contains("mlir-use-nameloc-as-prefix");
    if (auto error = nb::checkDebugCounter(word))
      return error;
    if (nb::takePassStatistics(word))
      continue;
    if (word.starts_with("--debug-only=")) {
      if (auto error = nb::setDebugTypes(word.split('=').second))
        return error;
    } else if (word == "--no-fuse") // wherever a pipeline is chosen, it selects the interpreter's
      words.push_back("--nb-interpreter-pipeline");
    else if (word == "--pipeline" || word.starts_with("--pipeline="))
      words.push_back("--pass-pipeline" + word.drop_front(strlen("--pipeline")).str());
    else if (word.consume_front("--plugin=")) {
      if (auto error = nb::loadPlugins(word, registry))
        return error;
    } else if (word.consume_front("--patterns="))
      words.push_back("--nb-apply-patterns=files=" + word.str());
    else
      words.push_back(word.str());
  }
  if (!prefix)
    words.insert(words.begin() + 1, "--mlir-use-nameloc-as-prefix");
  std::vector<char *> pointers;
  pointers.reserve(words.size() + 1);
  for (std::string &word : words)
    pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return pointers;
}

/// May a word of the command line hold such bytes, or a file that it names, as one of patterns?
bool mayHoldUnprintable(StringRef word) {
  if (nanobragg::io::mayHoldUnprintable(word))
    return true;
  for (const StringRef name : llvm::split(word.substr(word.find('=') + 1), ',')) {
    if (!llvm::sys::fs::is_regular_file(name))
      continue;
    const auto file = llvm::MemoryBuffer::getFile(name);
    if (file && nanobragg::io::mayHoldUnprintable((*file)->getBuffer()))
      return true;
  }
  return false;
}

LogicalResult run(int argc, char **argv, DialectRegistry &registry) {
  auto [input, output] =
      registerAndParseCLIOptions(argc, argv, "nb-opt: passes on diffraction programs\n", registry);
  MlirOptMainConfig config = MlirOptMainConfig::createFromCLOptions();
  if (config.shouldShowDialects() || config.shouldListPasses())
    return MlirOptMain(argc, argv, input, output, registry);
  std::string error;
  auto file = nb::openText(input, &error);
  auto out = file ? openOutputFile(output, &error) : nullptr;
  if (!out) {
    llvm::errs() << error << "\n";
    return failure();
  }
  if (nanobragg::io::mayHoldUnprintable(file->getBuffer()))
    nanobragg::io::makeErrorsPrintable();
  const auto text = std::make_shared<const std::string>(file->getBuffer());
  const MlirOptMainConfig given = config;
  config.setPassPipelineSetupFn([given, text](PassManager &passes) {
    if (failed(given.setupPassPipeline(passes)))
      return failure();
    nb::addPassSpans(passes);
    if (!given.shouldVerifyDiagnostics()) {
      passes.getContext()->getDiagEngine().registerHandler(noteFlags);
      nb::nameRunningPasses(passes);
    }
    if (passes.empty())
      passes.addPass(std::make_unique<NameValues>(text));
    else
      passes.addInstrumentation(std::make_unique<NameBeforePasses>(text));
    return success();
  });
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.allowUnregisteredDialects(config.shouldAllowUnregisteredDialects());
  if (const std::string crash = nb::crashOfReading(file->getMemBufferRef(), context);
      !crash.empty()) {
    llvm::errs() << "nb-opt: error: " << (input == "-" ? "standard input" : "'" + input + "'")
                 << " " << crash << "\n";
    return failure();
  }
  const LogicalResult done = MlirOptMain(out->os(), std::move(file), registry, config);
  nb::printPassStatistics();
  if (failed(done))
    return failure();
  out->keep();
  return success();
}

/// With the record of NB_TRACE_EVENTS, where that is set.
int runTraced(const std::vector<std::string> &words, std::vector<char *> &pointers,
              DialectRegistry &registry) {
  namespace trace = nanobragg::trace;
  try {
    if (const std::string file = trace::fileOfEnvironment(); !file.empty())
      trace::recordTo(file);
    LogicalResult done = success();
    {
      const nb::TraceSpans spans(trace::isOn() ? trace::addCompilerSpan : nullptr);
      done = run(int(words.size()), pointers.data(), registry);
    }
    failed(done) ? trace::dropRecord() : trace::writeRecord("nb-opt");
    return asMainReturnCode(done);
  } catch (const std::exception &error) {
    llvm::errs() << "nb-opt: error: " << error.what() << "\n";
    return EXIT_FAILURE;
  }
}
} // namespace

int main(int argc, char **argv) {
  llvm::InitLLVM setup(argc, argv);
  DialectRegistry registry;
  registerAllDialects(registry);
  registerAllExtensions(registry);
  nb::registerAllDialects(registry);
  nb::registerPassesOnce();

  if (std::any_of(argv + 1, argv + argc, mayHoldUnprintable))
    nanobragg::io::makeErrorsPrintable();
  std::vector<std::string> words;
  llvm::Expected<std::vector<char *>> pointers = translate(argc, argv, words, registry);
  if (!pointers) {
    llvm::errs() << "nb-opt: error: " << llvm::toString(pointers.takeError()) << "\n";
    return EXIT_FAILURE;
  }
  const auto runWords = [&] { return runTraced(words, *pointers, registry); };
  const bool help = llvm::any_of(words, [](StringRef word) {
    return word.starts_with("-") && is_contained({"h", "help", "help-hidden"}, word.ltrim('-'));
  });
  return help ? nb::printGrouped(runWords) : runWords();
}
