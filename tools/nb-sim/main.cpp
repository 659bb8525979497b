// Nb-sim: a nanoBragg command line in, an image out.

#include "tools/nb-sim/Simulation.h"

#include <cstdio>
#include <exception>
#include <new>
#include <string>
#include <vector>

using namespace nanobragg;

namespace {

int print(const std::string &text) {
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  return written && std::fflush(stdout) == 0 ? Success : Failure;
}

int run(const std::vector<std::string> &words, const Stopwatch &sinceStart) {
  const CommandLine line = parseCommandLine(words);
  if (line.tool.help)
    return print(usageText());
  if (line.tool.version)
    return print("nb-sim " NB_VERSION "\n");
  if (line.tool.listFlags)
    return print(flagReference());
  return simulate(line, sinceStart);
}

int report(const char *problem, ExitStatus status) {
  std::fflush(stdout);
  std::fprintf(stderr, "nb-sim: error: %s\n", problem);
  if (status == UsageFailure)
    std::fprintf(stderr, "nb-sim -help lists all flags\n");
  return status;
}

} // namespace

int main(int argc, char **argv) {
  const Stopwatch sinceStart;
  try {
    return run(std::vector<std::string>(argv + 1, argv + argc), sinceStart);
  } catch (const UsageError &error) {
    return report(error.what(), UsageFailure);
  } catch (const std::bad_alloc &) {
    return report("out of memory; render fewer pixels (-detpixels, -roi) or a smaller "
                  "structure-factor grid",
                  Failure);
  } catch (const std::exception &error) {
    return report(error.what(), Failure);
  }
}
