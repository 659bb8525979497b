#include "lib/Runs/Schedule.h"

#include "lib/Experiment/ProgramVariant.h"
#include "lib/Files/FileContents.h"
#include "lib/Program/KernelSpecification.h"
#include "lib/Quantities/UsageError.h"

#include <sstream>
#include <stdexcept>
#include <utility>

namespace nanobragg {

OwnPasses readSchedule(OwnPasses passes) {
  const std::string file = std::exchange(passes.schedule, {});
  if (file.empty())
    return passes;
  const auto refuse = [&](const std::string &why) {
    throw UsageError("--schedule=" + file + " " + why + "; make it anew with nb-try --tune");
  };
  std::istringstream lines(io::readBytes(file));
  constexpr std::string_view variant = "# variant: ", precision = "# precision: ";
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(variant))
      try {
        passes.program = std::make_shared<const KernelSpecification>(
            KernelSpecification::fromString(line.substr(variant.size())));
      } catch (const std::invalid_argument &error) {
        refuse(std::string("is for a program that this nb-sim does not know: ") + error.what());
      }
    if (line.starts_with(precision)) {
      passes.precision = precisionFromString(line.substr(precision.size()));
      if (!passes.precision)
        refuse("is for precision '" + line.substr(precision.size()) + "', which does not exist");
    }
    if (!line.empty() && !line.starts_with("#"))
      passes.pipeline += line;
  }
  if (passes.pipeline.empty())
    refuse("has no pipeline: its line 'builtin.module(...)' is missing");
  return passes;
}

} // namespace nanobragg
