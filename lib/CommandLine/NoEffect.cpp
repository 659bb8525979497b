#include "lib/CommandLine/NoEffect.h"

#include "lib/CommandLine/Exclusions.h"
#include "lib/CommandLine/Flag.h"

#include <algorithm>

namespace nanobragg {

namespace idle {
const Idle always{[](const CommandLine &) { return true; },
                  "it exists for compatibility with the C program"};
const Idle noNoiseImage{[](const CommandLine &line) { return !line.outputs.noise; },
                        "no noise image is made"};
const Idle noImage{
    [](const CommandLine &line) { return actionOf(line) != nullptr && !line.tool.check; },
    "this run writes no image"};
const Idle noGreyImage{[](const CommandLine &line) { return !line.outputs.pgm; },
                       "a later -nopgm switches the grey image off"};
} // namespace idle

namespace {

std::vector<std::string> words(std::string_view text) {
  std::vector<std::string> all;
  for (std::string_view rest = text; !rest.empty();) {
    all.emplace_back(rest.substr(0, rest.find(' ')));
    rest.remove_prefix(std::min(rest.size(), all.back().size() + 1));
  }
  return all;
}

std::string named(const std::vector<std::string> &names) {
  std::string all = names.size() == 1 ? "no " : "none of ";
  for (const std::string &name : names)
    all += (name == names.front() ? "" : name == names.back() ? " and " : ", ") + name;
  return all;
}

/// A sentence that says why the flag has no effect; empty: it has one.
std::string effect(const Flag &flag, const CommandLine &line,
                   const std::vector<const Field *> &neverRead) {
  const std::string none = " has no effect: ";
  for (const Idle *idle : flag.idle)
    if (idle->holds(line))
      return none + std::string(idle->why);
  const auto given = [&](const std::string &name) { return isGiven(line, name); };
  const std::vector<std::string> with = words(flag.with), without = words(flag.without);
  if (!with.empty() && std::ranges::none_of(with, given))
    return none + "there is " + named(with);
  if (const auto beside = std::ranges::find_if(without, given); beside != without.end())
    return none + *beside + " takes its place";
  return flag.quantity ? lostEffect(*flag.quantity, line.options, neverRead) : "";
}

} // namespace

std::vector<std::string> flagsOfImageFiles(const CommandLine &line) {
  std::vector<std::string> flags;
  for (const GivenFlag &given : line.given)
    if (std::ranges::count(findFlag(given.name)->idle, &idle::noImage) > 0)
      flags.push_back(given.spelling);
  return flags;
}

std::vector<std::string> flagsWithoutEffect(const CommandLine &line,
                                            const std::vector<const Field *> &neverRead) {
  std::vector<std::string> warnings;
  for (auto given = line.given.begin(); given != line.given.end(); ++given) {
    const auto again = [&](const GivenFlag &other) { return other.name == given->name; };
    if (std::any_of(line.given.begin(), given, again))
      continue;
    if (const std::string what = effect(*findFlag(given->name), line, neverRead); !what.empty())
      warnings.push_back(given->spelling + what);
  }
  return warnings;
}

} // namespace nanobragg
