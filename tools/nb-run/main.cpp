// Nb-run: one function of an nb program, on either engine.

#include "tools/shared/Main.h"
#include "tools/nb-run/Arguments.h"
#include "tools/nb-run/LoadProgram.h"
#include "tools/nb-run/Results.h"
#include "tools/shared/RunSetup.h"
#include "tools/shared/SetFlags.h"

#include "lib/CommandLine/OwnFlags.h"
#include "lib/Compiler/Compare/CompareEngines.h"
#include "lib/Compiler/Pipelines/Dialects.h"
#include "lib/Compiler/Pipelines/MLIRFlags.h"
#include "lib/Compiler/Pipelines/RegisterPasses.h"
#include "lib/Compiler/Run/CheckReads.h"
#include "lib/Experiment/CheckedSize.h"
#include "lib/Files/MemoryLimit.h"
#include "lib/Runs/ExperimentOf.h"
#include "lib/Transforms/Passes.h"
#include "nanobragg/Engine.h"
#include "runtime/processor/KernelRunner.h"

#include <algorithm>
#include <optional>

using namespace mlir;
using namespace mlir::nb;

namespace {

using nanobragg::Failure, nanobragg::Success, nanobragg::Different;

struct Command {
  std::string file, function, plugins;
  std::vector<std::string> arguments, outputs, probes, experiment;
  std::optional<Pixel> tracePixel;
  bool interpret = false, checkFinite = false, checkBounds = false, compare = false;
  bool everyStage = false, json = false;
  int threads = 0;
  EngineTolerance tolerance;

  /// Instrumentation is the interpreter's.
  bool interpreted() const {
    return interpret || checkFinite || !probes.empty() || tracePixel ||
           nanobragg::compilationDisabled();
  }
};

using C = Command;
using Text = std::string;
using nanobragg::countOf, nanobragg::numberOf, nanobragg::Range;

constexpr nanobragg::OwnFlag<C> flags[] = {
    {"--function", "NAME", "function to run; default: the only one",
     nanobragg::keeps<&C::function>},
    {"--arg", "NAME=VALUE",
     "value of an argument: comma-separated numbers, a .npy file, a .hkl file, or for a grid "
     "FILE.npy@H,K,L, whose first node has that index. The name is the argument's nb.name, or argN",
     nanobragg::keeps<&C::arguments>},
    {"--out", "FILE", ".npy file for a result, once for each result; default: print",
     nanobragg::keeps<&C::outputs>},
    {"--plugin", "FILES", "comma-separated shared objects with dialects of the program",
     nanobragg::keeps<&C::plugins>},
    {"--threads", "N", "threads of the interpreter; 0: one per core",
     [](C &c, const Text &v) { c.threads = int(countOf("--threads", v, 0, 4096)); }},
    {"--no-fuse", "", "run the reference interpreter, not a compiled kernel",
     nanobragg::keeps<&C::interpret>},
    {"--probe", "PATTERN",
     "the interpreter reports on the values whose names match; * stands for any text",
     nanobragg::keeps<&C::probes>},
    {"--json", "", "print the report of --probe as JSON", nanobragg::keeps<&C::json>},
    {"--trace-pixel", "SLOW,FAST", "the interpreter prints every named value of one pixel",
     [](C &c, const Text &v) {
       const std::vector<Text> place = nanobragg::listOf(v);
       if (place.size() != 2)
         throw nanobragg::UsageError("--trace-pixel: '" + v + "' is not SLOW,FAST");
       c.tracePixel = Pixel{0, countOf("--trace-pixel", place[0], -1e9, 1e9),
                            countOf("--trace-pixel", place[1], -1e9, 1e9)};
     }},
    {"--check-bounds", "",
     "before the kernel is run, let the interpreter look for reads outside of tables; the kernel "
     "itself checks only counts and constant indices",
     nanobragg::keeps<&C::checkBounds>},
    {"--check-finite", "", "the interpreter stops at the first value that is not finite",
     nanobragg::keeps<&C::checkFinite>},
    {"--compare-engines", "",
     "run both engines; name the first pass and the first value that differ",
     nanobragg::keeps<&C::compare>},
    {"--compare-stages", "", "the same, but compare after each pass, also where the results agree",
     nanobragg::keeps<&C::everyStage>},
    {"--rtol", "X", "relative tolerance of these comparisons",
     [](C &c, const Text &v) { c.tolerance.rtol = numberOf("--rtol", v, Range::notNegative()); }},
    {"--atol-of-max", "X", "their absolute tolerance, as a fraction of the largest pixel",
     [](C &c, const Text &v) {
       c.tolerance.atolOfMax = numberOf("--atol-of-max", v, Range::notNegative());
     }},
};

std::string usage() {
  constexpr std::size_t column = 24;
  return "usage: nb-run FILE [--arg=NAME=VALUE]... [-- FLAGS OF nb-sim]\n\n"
         "Runs a function of an nb program, compiled or in the reference interpreter. FILE is "
         "MLIR\n"
         "text or bytecode; -: standard input. FLAGS describe an experiment: an argument whose\n"
         "nb.name is that of a parameter gets its value, unless --arg gives another.\n\n" +
         nanobragg::describeOwnFlags<C>(flags, column) +
         nanobragg::describeCommonFlags(column, true) +
         "\nExit status: 0; 1 something failed; 2 a command line that cannot be used; 3 the "
         "engines differ.\n";
}

Command parse(const std::vector<Text> &words) {
  Command command;
  const auto behind = std::ranges::find(words, "--");
  const std::vector<Text> names = nanobragg::takeOwnFlags<C>(flags, {words.begin(), behind},
                                                             command, nanobragg::OtherWords::Names);
  if (behind != words.end())
    command.experiment.assign(behind + 1, words.end());
  if (names.size() != 1)
    throw nanobragg::UsageError(names.empty()
                                    ? "nothing to run: name a program FILE"
                                    : "unexpected argument '" + names[1] + "': one program is run");
  command.file = names[0];
  return command;
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
  FlaggedPassManager passes(program.getContext());
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
  if (command.tracePixel) {
    options.trace = command.tracePixel;
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

int run(const std::vector<std::string> &words) {
  const Command command = parse(words);
  DialectRegistry registry;
  if (auto error = loadPlugins(command.plugins, registry))
    throw std::runtime_error(llvm::toString(std::move(error)));
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
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
  if (command.tracePixel)
    return Success; // a trace makes no results
  if (command.outputs.empty())
    llvm::outs() << describeResults(results);
  else
    writeResults(results, command.outputs);
  return Success;
}

} // namespace

int main(int argc, char **argv) {
  return nanobragg::runTool("nb-run", usage, argc, argv, nanobragg::traced<run>,
                            nanobragg::setFlags);
}
