// Nb-gradcheck: are the derivatives right?

#include "tools/shared/Main.h"
#include "lib/Program/ParameterGroups.h"
#include "lib/Quantities/UsageError.h"
#include "lib/Runs/ExperimentOf.h"
#include "tools/nb-gradcheck/Command.h"
#include "tools/nb-gradcheck/Report.h"
#include "tools/shared/RunSetup.h"

#include <stdexcept>

using namespace nanobragg;

namespace {

/// The reference goes through the compiler's own passes.
Simulator simulatorOn(Engine engine, const RunSetup &setup, const GradCheckCommand &command,
                      bool ownPasses = true) {
  SimulatorOptions options = setup.line.tool.simulator;
  options.engine = engine;
  options.fallback = false;
  options.threads = command.threads;
  options.device = command.device;
  if (!ownPasses)
    options.passes = {};
  return Simulator(setup.complete.experiment, options);
}

void checkNames(const std::string &parameters, const Experiment &experiment) {
  try {
    resolveParameters(parameters, experiment.variant);
  } catch (const std::invalid_argument &error) {
    throw UsageError(std::string("--wrt: ") + error.what());
  }
}

/// Derivatives are right relative to the sum of the magnitudes of their terms, which cancel: in
/// single precision that shows, and the largest derivative stands for such a sum.
void setTolerances(GradCheckCommand &command, Precision precision) {
  CheckOptions &check = command.check;
  if (precision != Precision::F64)
    check.rtol = check.atol = precision == Precision::Mixed ? 1e-5 : 1e-2;
  check.rtol = command.rtol.value_or(check.rtol);
  check.atol = command.atol.value_or(check.atol);
}

int run(const std::vector<std::string> &words) {
  GradCheckCommand command = parseGradCheck(words);
  const RunSetup setup(parseExperiment(command.experiment));
  setup.tell();
  setTolerances(command, setup.line.tool.simulator.precision);
  const Experiment &experiment = setup.complete.experiment;
  checkNames(command.parameters, experiment);
  Simulator reference = simulatorOn(command.reference, setup, command, /*ownPasses=*/false);
  std::vector<EngineReport> reports;
  bool passed = true;
  for (Engine engine : command.engines) {
    Simulator analytic = simulatorOn(engine, setup, command);
    reports.push_back({engine, check(analytic, reference, command.parameters, command.check)});
    passed &= reports.back().result.passed();
    if (!command.json)
      print(checkTable(reports.back(), command.check));
  }
  if (command.json)
    print(checkJson(reports, command.check));
  return passed ? Success : Failure;
}

} // namespace

int main(int argc, char **argv) {
  return runTool("nb-gradcheck", gradCheckUsage, argc, argv, run, CompilerLibrary::setFlags);
}
