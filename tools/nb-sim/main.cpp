// Nb-sim: a nanoBragg command line in, an image out.

#include "tools/shared/Main.h"
#include "lib/CommandLine/CommandLine.h"
#include "runtime/kernels/CompilerLibrary.h"
#include "tools/nb-sim/Actions.h"

#include <memory>

using namespace nanobragg;

static int run(const std::vector<std::string> &words) {
  const ProcessStart start;
  // Not on the stack, which may be small.
  const std::unique_ptr<CommandLine> line(new CommandLine(parseCommandLine(words)));
  if (line->tool.help)
    return print(line->tool.helpWord.empty() ? usageText() : usageOf(line->tool.helpWord));
  if (line->tool.version)
    return print("nb-sim " NB_VERSION "\n");
  if (line->tool.doctor) {
    for (const GivenFlag &flag : line->given)
      if (flag.name != "--doctor")
        throw UsageError("--doctor looks at the installation and takes no other flags, as '" +
                         flag.spelling + "'; run it alone, or nb-sim --check with these flags");
    return doctor();
  }
  if (line->tool.listFlags)
    return print(flagReference());
  return simulate(*line, start);
}

int main(int argc, char **argv) {
  return runTool("nb-sim", "-help", argc, argv, run, CompilerLibrary::setFlags);
}
