// Nb-gradcheck: are the derivatives right?.

#include "tools/nb-gradcheck/Command.h"
#include "lib/CommandLine/ExperimentOf.h"
#include "lib/Experiment/ParameterGroups.h"
#include "tools/nb-gradcheck/Report.h"
#include "lib/CommandLine/UsageError.h"

#include <cstdio>
#include <exception>
#include <stdexcept>

using namespace nanobragg;

namespace {

enum ExitStatus { Success = 0, Failure = 1, UsageFailure = 2 };

int print(const std::string &text) {
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  return written && std::fflush(stdout) == 0 ? Success : Failure;
}

Simulator simulatorOn(Engine engine, const Experiment &experiment,
                      const GradCheckCommand &command) {
  SimulatorOptions options;
  options.engine = engine;
  options.fallback = false;
  options.threads = command.threads;
  options.device = command.device;
  return Simulator(experiment, options);
}

void checkNames(const std::string &parameters, const Experiment &experiment) {
  try {
    expandParameters(parameters, experiment.structure);
  } catch (const std::invalid_argument &error) {
    throw UsageError(std::string("--wrt: ") + error.what());
  }
}

int run(const std::vector<std::string> &words) {
  const GradCheckCommand command = parseGradCheck(words);
  if (command.help)
    return print(gradCheckUsage());
  if (command.version)
    return print("nb-gradcheck " NB_VERSION "\n");
  const Experiment experiment = experimentOf(command.experiment);
  checkNames(command.parameters, experiment);
  Simulator reference = simulatorOn(command.reference, experiment, command);
  std::vector<EngineReport> reports;
  bool passed = true;
  for (Engine engine : command.engines) {
    Simulator analytic = simulatorOn(engine, experiment, command);
    reports.push_back({engine, check(analytic, reference, command.parameters, command.check)});
    passed &= reports.back().result.passed();
    if (!command.json)
      print(checkTable(reports.back(), command.check));
  }
  if (command.json)
    print(checkJson(reports, command.check));
  return passed ? Success : Failure;
}

int report(const char *problem, ExitStatus status) {
  std::fflush(stdout);
  std::fprintf(stderr, "nb-gradcheck: error: %s\n", problem);
  if (status == UsageFailure)
    std::fprintf(stderr, "nb-gradcheck --help lists its flags\n");
  return status;
}

} // namespace

int main(int argc, char **argv) {
  try {
    return run(std::vector<std::string>(argv + 1, argv + argc));
  } catch (const UsageError &error) {
    return report(error.what(), UsageFailure);
  } catch (const std::exception &error) {
    return report(error.what(), Failure);
  }
}
