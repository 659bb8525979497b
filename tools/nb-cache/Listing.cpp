#include "tools/nb-cache/Listing.h"

#include "lib/Experiment/Formatted.h"
#include "lib/Experiment/ProgramVariant.h"

#include <nlohmann/json.hpp>

#include <sstream>

namespace nanobragg {
namespace {

/// The specification's lines `name: value`.
std::vector<std::pair<std::string, std::string>> fieldsOf(const std::string &specification) {
  std::vector<std::pair<std::string, std::string>> fields;
  std::istringstream lines(specification);
  for (std::string line; std::getline(lines, line);)
    if (const auto colon = line.find(": "); colon != std::string::npos)
      fields.emplace_back(line.substr(0, colon), line.substr(colon + 2));
  return fields;
}

std::string field(const CachedKernel &kernel, const std::string &name) {
  for (const auto &[key, value] : fieldsOf(kernel.specification))
    if (key == name)
      return value;
  return {};
}

/// The choices of a variant that are not the default ones.
std::string unusualChoices(const std::string &variant) {
  std::istringstream words(variant), usual(ProgramVariant().toString());
  std::string text, word, usualWord;
  while (words >> word) {
    usual >> usualWord;
    if (word != usualWord)
      text += (text.empty() ? "" : " ") + word;
  }
  return text.empty() ? "default" : text;
}

std::string timeText(std::time_t time) {
  std::tm local{};
  localtime_r(&time, &local);
  char text[32];
  return {text, std::strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &local)};
}

/// ISO 8601.
std::string utcText(std::time_t time) {
  std::tm utc{};
  gmtime_r(&time, &utc);
  char text[32];
  return {text, std::strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &utc)};
}

std::string sizeText(std::uint64_t bytes) {
  if (bytes < 10000)
    return std::to_string(bytes) + " B";
  if (bytes < 10000 * 1024ull)
    return formatted("%.1f KB", double(bytes) / 1024);
  return formatted("%.1f MB", double(bytes) / (1024 * 1024));
}

/// "-7.7 %"
std::string changeText(double change) { return formatted("%+.1f %%", 100 * (change - 1)); }

std::uint64_t totalBytes(const std::vector<CachedKernel> &kernels) {
  std::uint64_t total = 0;
  for (const CachedKernel &kernel : kernels)
    total += kernel.bytes;
  return total;
}

nlohmann::ordered_json toJson(const CachedKernel &kernel, const CacheOptions &here) {
  nlohmann::ordered_json json = {{"key", kernel.key},
                                 {"bytes", kernel.bytes},
                                 {"last_use", utcText(kernel.lastUse)},
                                 {"state", stateOf(kernel, here)}};
  if (!kernel.problem.empty())
    json["problem"] = kernel.problem;
  for (const auto &[name, value] : fieldsOf(kernel.specification))
    json["specification"][name] = value;
  return json;
}

} // namespace

std::string stateOf(const CachedKernel &kernel, const CacheOptions &here) {
  if (!kernel.problem.empty())
    return "damaged";
  const bool sameCpu = field(kernel, "target") != "native" ||
                       kernel.specification.find(here.hostCpu) != std::string::npos;
  return field(kernel, "compiler") == here.compilerBuild && sameCpu ? "ready" : "stale";
}

std::string listAsText(const std::vector<CachedKernel> &kernels, const CacheOptions &here) {
  std::string text;
  if (!kernels.empty())
    text = "KEY                                    SIZE  LAST USE             STATE    PRECISION  "
           "VARIANT\n";
  for (const CachedKernel &kernel : kernels) {
    text += formatted("%-32s  %9s  %s  %-7s  %-9s  ", kernel.key.c_str(),
                      sizeText(kernel.bytes).c_str(), timeText(kernel.lastUse).c_str(),
                      stateOf(kernel, here).c_str(), field(kernel, "precision").c_str());
    text += kernel.problem.empty() ? unusualChoices(field(kernel, "variant")) : kernel.problem;
    text += '\n';
  }
  return text + std::to_string(kernels.size()) +
         (kernels.size() == 1 ? " kernel, " : " kernels, ") + sizeText(totalBytes(kernels)) +
         " of at most " + sizeText(here.mostBytes) + " in " + here.directory.string() + "\n";
}

std::string schedulesAsText(const std::vector<KeptSchedule> &schedules) {
  std::string text;
  for (const KeptSchedule &schedule : schedules)
    text += "schedule of nb-try --tune, " + timeText(schedule.lastUse) + ", " +
            (schedule.here ? "ready" : "stale") + ", " + schedule.precision + ", " +
            unusualChoices(schedule.variant) + ", " + changeText(schedule.change) + " with " +
            schedule.shape + (schedule.everyShape ? ", for all shapes" : ", for this shape") +
            ":\n  " + schedule.pipeline + "\n";
  return text;
}

std::string listAsJson(const std::vector<CachedKernel> &kernels,
                       const std::vector<KeptSchedule> &schedules, const CacheOptions &here) {
  nlohmann::ordered_json json = {{"directory", here.directory.string()},
                                 {"bytes", totalBytes(kernels)},
                                 {"most_bytes", here.mostBytes},
                                 {"kernels", nlohmann::ordered_json::array()}};
  for (const CachedKernel &kernel : kernels)
    json["kernels"].push_back(toJson(kernel, here));
  json["schedules"] = nlohmann::ordered_json::array();
  for (const KeptSchedule &schedule : schedules)
    json["schedules"].push_back({{"variant", schedule.variant},
                                 {"precision", schedule.precision},
                                 {"pipeline", schedule.pipeline},
                                 {"shape", schedule.shape},
                                 {"every_shape", schedule.everyShape},
                                 {"change", schedule.change},
                                 {"last_use", utcText(schedule.lastUse)},
                                 {"state", schedule.here ? "ready" : "stale"}});
  return json.dump(2) + "\n";
}

std::string showAsText(const CachedKernel &kernel, const CacheOptions &here) {
  std::string text =
      "key: " + kernel.key + "\nfile: " + (here.directory / (kernel.key + ".so")).string() +
      "\nsize: " + sizeText(kernel.bytes) + "\nlast use: " + timeText(kernel.lastUse) +
      "\nstate: " + stateOf(kernel, here);
  if (!kernel.problem.empty())
    text += "\nproblem: " + kernel.problem;
  return text + "\n\n" + kernel.specification;
}

std::string showAsJson(const CachedKernel &kernel, const CacheOptions &here) {
  return toJson(kernel, here).dump(2) + "\n";
}

} // namespace nanobragg
