#include "lib/CommandLine/Schedule.h"

#include "lib/CommandLine/UsageError.h"
#include "lib/Experiment/Culling.h"
#include "lib/IO/FileContents.h"

#include <sstream>

namespace nanobragg {

static std::string cullOf(const std::string &variant) {
  constexpr std::string_view key = " cull=";
  const std::size_t word = variant.find(key);
  return word == variant.npos ? "off" : variant.substr(word + key.size());
}

OwnPasses readSchedule(OwnPasses passes, const std::string &variant, const std::string &precision) {
  if (!passes.pipeline.starts_with("@"))
    return passes;
  const std::string file = passes.pipeline.substr(1);
  std::istringstream lines(io::readBytes(file));
  passes.pipeline.clear();
  constexpr std::string_view key = "# variant: ", precisionKey = "# precision: ";
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(key) && !variant.empty() &&
        withoutCull(line.substr(key.size())) == withoutCull(variant) &&
        line.substr(key.size()) != variant)
      throw UsageError("--schedule=" + file + " is for images with --cull=" + cullOf(line) +
                       ", and these flags are for --cull=" + cullOf(variant) + ": add --cull=" +
                       cullOf(line) + ", or make one for them with nb-try --tune");
    if (line.starts_with(key) && !variant.empty() && line.substr(key.size()) != variant)
      throw UsageError("--schedule=" + file + " is for another program: that of " +
                       line.substr(key.size()) + ", and these flags ask for " + variant +
                       "; make one for them with nb-try --tune");
    if (line.starts_with(precisionKey) && !precision.empty() &&
        line.substr(precisionKey.size()) != precision)
      throw UsageError("--schedule=" + file + " is for --precision=" +
                       line.substr(precisionKey.size()) + ", and these flags ask for " + precision);
    if (line.starts_with(precisionKey))
      passes.precision = line.substr(precisionKey.size());
    if (!line.empty() && !line.starts_with("#"))
      passes.pipeline += line;
  }
  if (passes.pipeline.empty())
    throw UsageError("--schedule=" + file +
                     " has no pipeline: its line 'builtin.module(...)' is missing");
  return passes;
}

} // namespace nanobragg
