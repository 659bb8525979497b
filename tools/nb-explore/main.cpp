// Nb-explore: a compilation as a page.

#include "tools/shared/Main.h"
#include "lib/CommandLine/OwnFlags.h"
#include "lib/Files/OutputFile.h"
#include "tools/nb-explore/Page.h"
#include "tools/shared/LabSetup.h"
#include "tools/shared/SetFlags.h"

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <unistd.h>

using namespace nanobragg;
using namespace mlir::nb;

namespace {

struct ExploreCommand {
  bool text = false, open = false, judge = true;
  std::string output, pipeline;
  LabWords words;
};

using C = ExploreCommand;
using Text = std::string;

constexpr OwnFlag<C> flags[] = {
    {"-o", "FILE", "the HTML file to write; default: report.html", keeps<&C::output>},
    {"--pipeline", "TEXT", "show these passes instead of the compiler's up to fusion, as in nb-try",
     keeps<&C::pipeline>},
    {"--text", "", "print a version for terminals instead", keeps<&C::text>},
    {"--open", "", "show the file in the browser", keeps<&C::open>},
    {"--no-judge", "",
     "do not make kernels from the end of each stage, and do not check their image and gradient",
     [](C &c, const Text &) { c.judge = false; }},
    {"--grad", "PARAMETERS",
     "comma-separated parameters whose gradient is checked; none: no gradient. Default: up to "
     "three usual ones",
     keeps<&C::words, &LabWords::gradient>},
    {"--target", "CPU", "as nb-compile's: native (default) or an LLVM processor name",
     keeps<&C::words, &LabWords::target>},
};

std::string usage() {
  return "usage: nb-explore FLAGS OF nb-sim [--pipeline=TEXT] [-o report.html]\n"
         "       nb-explore FILE.mlir [FLAGS OF nb-sim] [--pipeline=TEXT] [-o report.html]\n"
         "\n"
         "Writes one HTML file that shows a compilation: the program before and after each pass,\n"
         "what each value depends on, remarks, and counts of ops in the innermost loops; the\n"
         "optimized LLVM IR; the instructions of the inner loop, the values that they compute, "
         "and\n"
         "the pressure on ports; the image. Click a value to follow it through the passes. At the\n"
         "end of each stage, a kernel that is compiled from there is compared with the "
         "interpreter.\n"
         "The file needs no network.\n\n" +
         describeOwnFlags<C>(flags, 22) + describeCommonFlags(22, true) +
         "\nExit status: 0 success, 1 failure, 2 a command line that cannot be used.\n";
}

ExploreCommand parse(const std::vector<std::string> &words) {
  ExploreCommand command;
  command.words.experiment = takeOwnFlags<C>(flags, words, command);
  command.words.takeProgram();
  if (command.words.program.empty() && command.words.experiment.empty())
    throw UsageError("nothing to explore: give the flags of an experiment, as to nb-sim, or a "
                     "program FILE.mlir");
  if (command.text && (!command.output.empty() || command.open))
    throw UsageError("--text prints; leave out -o and --open");
  return command;
}

template <typename T>
T valueOf(llvm::Expected<T> expected) {
  if (!expected)
    throw std::runtime_error(llvm::toString(expected.takeError()));
  return std::move(*expected);
}

/// Without a shell, whose characters a name may have.
void show(const std::string &file) {
  const std::string path = std::filesystem::absolute(file).string();
  if (::fork() == 0) {
    ::execlp("xdg-open", "xdg-open", path.c_str(), nullptr);
    std::fprintf(stderr, "WARNING: there is no xdg-open; open %s in a browser\n", path.c_str());
    std::_Exit(1);
  }
}

int run(const std::vector<std::string> &words) {
  const ExploreCommand command = parse(words);
  LabSetup lab(command.words);
  lab.tell();
  if (isatty(STDERR_FILENO))
    std::fprintf(stderr, "interpreting, compiling, judging each stage: some ten seconds\n");
  const Expectation expectation = valueOf(expect(*lab.subject, lab.options));
  Recording recording =
      valueOf(record(*lab.subject, expectation, command.pipeline, lab.options, command.judge));
  recording.title = command.words.program;
  for (const std::string &word : command.words.experiment)
    if (word != "--quiet")
      recording.title += (recording.title.empty() ? "" : " ") + word;
  recording.bytesWritten = recording.image.pixels.size() * sizeof(double);
  if (command.text)
    return print(textOf(recording));
  const std::string name = command.output.empty() ? "report.html" : command.output;
  io::OutputFile file(name);
  file.write(pageOf(recording));
  file.commit();
  std::printf("wrote %s\n", std::filesystem::absolute(name).c_str());
  std::fflush(stdout);
  if (command.open)
    show(name);
  return Success;
}

} // namespace

int main(int argc, char **argv) {
  return runTool("nb-explore", usage, argc, argv, traced<run>, setFlags);
}
