// Nb-run: one function of an nb program, on either engine.

#include "tools/nb-run/Arguments.h"
#include "tools/nb-run/LoadProgram.h"
#include "tools/nb-run/Results.h"
#include "tools/shared/ParseExit.h"
#include "tools/shared/RunSetup.h"

#include "lib/Compiler/Compare/CompareEngines.h"
#include "lib/Compiler/Pipelines/Dialects.h"
#include "lib/Compiler/Run/CheckReads.h"
#include "lib/Experiment/CheckedSize.h"
#include "lib/Files/MemoryLimit.h"
#include "lib/Runs/ExperimentOf.h"
#include "lib/Transforms/Passes.h"
#include "nanobragg/Engine.h"
#include "runtime/processor/KernelRunner.h"

#include "mlir/Pass/PassManager.h"

#include <CLI/CLI.hpp>

#include <cstdio>
#include <exception>
#include <optional>

using namespace mlir;
using namespace mlir::nb;

namespace {

enum ExitStatus { Success = 0, Failure = 1, Different = 3 };

struct Command {
  std::string file, function;
  std::vector<std::string> arguments, outputs, probes, experiment;
  std::vector<int64_t> tracePixel; ///< slow, fast
  bool interpret = false, checkFinite = false, checkBounds = false, compare = false;
  bool everyStage = false, json = false;
  int threads = 0;
  EngineTolerance tolerance;

  /// Instrumentation is the interpreter's.
  bool interpreted() const {
    return interpret || checkFinite || !probes.empty() || !tracePixel.empty() ||
           nanobragg::compilationDisabled();
  }
};

void declare(CLI::App &app, Command &c) {
  app.add_option("FILE", c.file, "program as MLIR text or bytecode; -: standard input")->required();
  app.add_option("FLAGS", c.experiment,
                 "behind --: an experiment, as flags of nb-sim; an argument whose nb.name is that "
                 "of a parameter gets its value, unless --arg says another");
  app.add_option("--function", c.function, "function to run; default: the only one");
  app.add_option("--arg", c.arguments,
                 "value of an argument: numbers with commas between, a .npy file, a .hkl file, or "
                 "for a grid FILE.npy@H,K,L, whose first node has that index. The name is the "
                 "argument's nb.name, or argN")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false);
  app.add_option("--out", c.outputs, ".npy file for a result, once for each result; default: print")
      ->type_name("FILE")
      ->allow_extra_args(false);
  app.add_option("--threads", c.threads, "threads of the interpreter; 0: one per core");

  const std::string interpreter = "Interpreter";
  app.add_flag("--no-fuse", c.interpret, "run the reference interpreter, not a compiled kernel")
      ->group(interpreter);
  app.add_option("--probe", c.probes,
                 "report on the values whose names match; * stands for any text")
      ->type_name("PATTERN")
      ->allow_extra_args(false)
      ->group(interpreter);
  app.add_flag("--json", c.json, "print the report of --probe as JSON")->group(interpreter);
  app.add_option("--trace-pixel", c.tracePixel, "print every named value of one pixel")
      ->delimiter(',')
      ->expected(2)
      ->type_name("SLOW,FAST")
      ->group(interpreter);
  app.add_flag("--check-bounds", c.checkBounds,
               "before the kernel is run, let the interpreter look for reads outside of tables; "
               "the kernel itself checks only counts and constant indices")
      ->group(interpreter);
  app.add_flag("--check-finite", c.checkFinite, "stop at the first value that is not finite")
      ->group(interpreter);

  const std::string compare = "Comparison of the engines: the exit status is 3 when they differ";
  app.add_flag("--compare-engines", c.compare,
               "run both engines; name the first pass and the first value that differ")
      ->group(compare);
  app.add_flag("--compare-stages", c.everyStage,
               "the same, but compare after each pass, also where the results agree")
      ->group(compare);
  app.add_option("--rtol", c.tolerance.rtol, "relative tolerance")
      ->capture_default_str()
      ->check(CLI::NonNegativeNumber)
      ->group(compare);
  app.add_option("--atol-of-max", c.tolerance.atolOfMax,
                 "absolute tolerance as a fraction of the largest pixel")
      ->capture_default_str()
      ->check(CLI::NonNegativeNumber)
      ->group(compare);
}

template <typename T>
T valueOf(llvm::Expected<T> expected) {
  if (!expected)
    throw std::runtime_error(llvm::toString(expected.takeError()));
  return std::move(*expected);
}

func::FuncOp choose(ModuleOp program, const std::string &name) {
  std::string known;
  func::FuncOp only;
  for (auto function : program.getOps<func::FuncOp>()) {
    if (function.isDeclaration())
      continue;
    if (function.getName() == name)
      return function;
    known += (known.empty() ? "" : ", ") + function.getName().str();
    only = only ? func::FuncOp() : function;
  }
  if (name.empty() && only)
    return only;
  if (known.empty())
    throw std::runtime_error("the program has no function");
  throw std::runtime_error(name.empty() ? "give --function, one of " + known
                                        : "no function '" + name + "'; there are " + known);
}

void insertProbes(ModuleOp program, const std::vector<std::string> &patterns) {
  PassManager passes(program.getContext());
  InsertProbesOptions options;
  options.names.assign(patterns.begin(), patterns.end());
  options.outside = true;
  passes.addPass(createInsertProbes(options));
  if (failed(passes.run(program)))
    throw std::runtime_error("cannot insert probes");
}

/// An image that a slip in a count makes is refused before memory is taken for it.
void requireMemory(func::FuncOp function, const Arguments &arguments) {
  auto shape = imageShape(function, arguments.get());
  if (!shape)
    return llvm::consumeError(
        shape.takeError()); // there is none, or the run will say what is wrong
  const auto [panels, slow, fast] = *shape;
  const auto bytes = nanobragg::tryProduct({panels, slow, fast, sizeof(double)});
  if (!bytes || std::uint64_t(*bytes) > nanobragg::io::memoryLimit())
    throw std::runtime_error("an image of " + std::to_string(panels) + " x " +
                             std::to_string(slow) + " x " + std::to_string(fast) +
                             " pixels needs more memory than the " +
                             nanobragg::io::sizeText(double(nanobragg::io::memoryLimit())) +
                             " that this process may have; give smaller counts");
}

std::vector<InterpreterResult> runInterpreter(func::FuncOp function, const Arguments &arguments,
                                              const Command &command) {
  InterpreterOptions options;
  options.threads = nanobragg::resolveThreads(command.threads);
  options.checkFinite = command.checkFinite;
  std::string trace;
  llvm::raw_string_ostream traceStream(trace);
  if (!command.tracePixel.empty()) {
    options.trace = Pixel{0, command.tracePixel[0], command.tracePixel[1]};
    options.traceOutput = &traceStream;
  }
  ProbeRecord record;
  if (!command.probes.empty())
    options.probes = &record;
  auto results = valueOf(interpret(function, arguments.get(), options));
  llvm::outs() << trace;
  if (!command.probes.empty())
    command.json ? record.printJson(llvm::outs()) : record.printTable(llvm::outs());
  return results;
}

int run(const Command &command) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  loadForInterpreter(context);

  auto program = loadProgram(command.file, context);
  if (!program)
    return Failure; // the diagnostic says it all
  if (!command.probes.empty())
    insertProbes(*program, command.probes);
  func::FuncOp function = choose(*program, command.function);
  std::optional<nanobragg::RunSetup> setup;
  if (!command.experiment.empty())
    setup.emplace(nanobragg::parseExperiment(command.experiment)).tell();
  const Arguments arguments(function, command.arguments,
                            setup ? &setup->complete.experiment : nullptr);
  requireMemory(function, arguments);

  if (command.compare || command.everyStage) {
    if (auto error = checkReads(function, arguments.get()))
      throw std::runtime_error(llvm::toString(std::move(error)));
    CompareOptions options;
    options.tolerance = command.tolerance;
    options.everyStage = command.everyStage;
    options.threads = command.threads;
    auto comparison =
        valueOf(compareEngines(*program, function.getName(), arguments.get(), {}, options));
    llvm::outs() << comparison.toString();
    return comparison.agree() ? Success : Different;
  }
  // The interpreter refuses what the kernel would read without asking.
  if (command.checkBounds && !command.interpreted())
    valueOf(interpret(function, arguments.get(), {}));
  auto results = command.interpreted()
                     ? runInterpreter(function, arguments, command)
                     : valueOf(runCompiled(function, arguments.get(), CompileOptions()));
  if (!command.tracePixel.empty())
    return Success; // a trace makes no results
  if (command.outputs.empty())
    llvm::outs() << describeResults(results);
  else
    writeResults(results, command.outputs);
  return Success;
}

} // namespace

int main(int argc, char **argv) {
  CLI::App app("Runs a function of an nb program, compiled or in the reference interpreter.",
               "nb-run");
  nanobragg::addVersion(app);
  Command command;
  declare(app, command);
  try {
    app.parse(argc, argv);
    return run(command);
  } catch (const CLI::ParseError &error) {
    return nanobragg::parseExit(app, error) == 0 ? Success : Failure;
  } catch (const std::exception &error) {
    std::fprintf(stderr, "nb-run: error: %s\n", nanobragg::printable(error.what()).c_str());
    return Failure;
  }
}
