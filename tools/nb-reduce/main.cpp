// Nb-reduce: the smallest program that still shows it.

#include "tools/shared/Main.h"
#include "dialect/NB.h"
#include "lib/CommandLine/OwnFlags.h"
#include "lib/Compiler/Lab/Reduction.h"
#include "lib/Compiler/Pipelines/Dialects.h"
#include "lib/Compiler/Pipelines/RegisterPasses.h"
#include "lib/Compiler/Pipelines/ValueNames.h"
#include "lib/Files/OutputFile.h"
#include "lib/Files/PrintableErrors.h"
#include "tools/shared/SetFlags.h"

#include "lib/Transforms/OpenText.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/SourceMgr.h"

#include <cstdio>
#include <stdexcept>
#include <unistd.h>

using namespace nanobragg;
using namespace mlir;

namespace {

struct ReduceCommand {
  bool quiet = false;
  std::string because, output, plugins, program;
};

using C = ReduceCommand;
using Text = std::string;

constexpr OwnFlag<C> flags[] = {
    {"--because", "COMMAND",
     "a shell command that succeeds as long as the program shows the fault. {} stands for the "
     "program's file; without {} the file is added at the end. Examples: 'nb-try --is=differs "
     "--pipeline=...' (also --is=crash, fails or slower:1.5); 'nb-opt --nb-fuse {} 2>&1 | grep -q "
     "TEXT'; for a remark that is missing, '! nb-opt --remarks-filter=nb-fuse --nb-fuse {} 2>&1 | "
     "grep -q merged'",
     keeps<&C::because>},
    {"-o", "FILE", "the program to write; default: standard output", keeps<&C::output>},
    {"--plugin", "FILES", "comma-separated shared objects with dialects of the program",
     keeps<&C::plugins>},
    {"--quiet", "", "print no progress", keeps<&C::quiet>},
};

std::string usage() {
  return "usage: nb-reduce FILE.mlir --because=COMMAND [-o FILE]\n"
         "\n"
         "Makes a program as small as possible, such that a command still succeeds on it.\n"
         "Dimensions, corrections and unused arguments are removed, counts become 1, values\n"
         "become constants. The result is valid IR.\n\n" +
         describeOwnFlags<C>(flags, 22) + describeCommonFlags(22, true) +
         "\nExit status: 0 success, 1 the command fails on the program itself, or something else\n"
         "failed, 2 a command line that cannot be used.\n";
}

std::string textOf(ModuleOp program) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  program->print(stream, OpPrintingFlags().printNameLocAsPrefix());
  stream << '\n';
  return text;
}

/// Runs the shell's command on a program in a temporary file.
class Question {
public:
  explicit Question(std::string command) : command(std::move(command)) {
    llvm::SmallString<128> path;
    if (llvm::sys::fs::createTemporaryFile("nb-reduce", "mlir", path))
      throw std::runtime_error("no temporary file can be made");
    file = path.str().str();
    if (const std::size_t place = this->command.find("{}"); place != std::string::npos)
      this->command.replace(place, 2, file);
    else
      this->command += " " + file;
    // nb-try takes its program first.
    if (this->command.starts_with("nb-try ") ||
        this->command.find("/nb-try ") != std::string::npos) {
      const std::size_t end = this->command.find(' ', this->command.find("nb-try"));
      if (this->command.ends_with(" " + file)) {
        this->command.resize(this->command.size() - file.size() - 1);
        this->command.insert(end, " " + file);
      }
    }
  }
  ~Question() { (void)llvm::sys::fs::remove(file); }
  Question(const Question &) = delete;

  bool ask(ModuleOp program) {
    {
      std::error_code error;
      llvm::raw_fd_ostream stream(file, error);
      stream << textOf(program);
    }
    const std::optional<StringRef> redirects[] = {StringRef(""), StringRef(""), StringRef("")};
    ++asked;
    return llvm::sys::ExecuteAndWait("/bin/sh", {"/bin/sh", "-c", command}, std::nullopt, redirects,
                                     300) == 0;
  }

  std::string command;
  std::size_t asked = 0;

private:
  std::string file;
};

int run(const std::vector<std::string> &words) {
  ReduceCommand command;
  const std::vector<std::string> others = takeOwnFlags<C>(flags, words, command);
  if (others.size() != 1)
    throw UsageError(others.empty()
                         ? "nothing to reduce: name a program FILE.mlir"
                         : "unexpected argument '" + others[1] + "': one program is reduced");
  if (command.because.empty())
    throw UsageError("--because is missing: give a command that succeeds as long as the program "
                     "shows the fault");
  DialectRegistry registry;
  nb::registerCompilerDialects(registry);
  if (auto error = nb::loadPlugins(command.plugins, registry))
    throw std::runtime_error(llvm::toString(std::move(error)));
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  std::string why;
  auto file = nb::openText(others[0], &why);
  if (!file)
    throw std::runtime_error(why);
  if (io::mayHoldUnprintable(file->getBuffer()))
    io::makeErrorsPrintable();
  auto program = nb::parseNamed(std::move(file), context);
  if (!program)
    return Failure; // the diagnostic says it all
  Question question(command.because);
  if (!question.ask(*program))
    throw std::runtime_error("the command fails on '" + others[0] +
                             "' itself, so that there is nothing to keep: " + question.command);
  const std::size_t before = nb::countOps(*program);
  auto smaller = nb::reduce(
      *program, [&](ModuleOp one) { return question.ask(one); },
      [&](const std::string &what, std::size_t ops) {
        if (!command.quiet && isatty(STDERR_FILENO))
          std::fprintf(stderr, "%zu ops left (%s)\n", ops, what.c_str());
      });
  if (!command.quiet)
    std::fprintf(stderr, "NOTE: %zu of %zu ops are left, after %zu questions\n",
                 nb::countOps(*smaller), before, question.asked);
  if (command.output.empty())
    return print(textOf(*smaller));
  io::OutputFile out(command.output);
  out.write(textOf(*smaller));
  out.commit();
  return Success;
}

} // namespace

int main(int argc, char **argv) {
  return runTool("nb-reduce", usage, argc, argv, traced<run>, setFlags);
}
