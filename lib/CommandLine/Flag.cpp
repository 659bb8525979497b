#include "lib/CommandLine/Flag.h"

#include "lib/Files/TextScanner.h"

#include <algorithm>
#include <cmath>

namespace nanobragg {
namespace {

std::size_t countWords(std::string_view text) {
  std::size_t words = 0;
  for (std::size_t i = 0; i < text.size(); ++i)
    words += text[i] != ' ' && (i == 0 || text[i - 1] == ' ');
  return words;
}

std::string inUnit(std::string_view unit) { return unit.empty() ? "" : " " + std::string(unit); }

} // namespace

bool Flag::matches(std::string_view word) const {
  return std::any_of(spellings.begin(), spellings.end(), [&](std::string_view spelling) {
    if (!spelling.ends_with('*'))
      return word == spelling;
    return word.starts_with(spelling.substr(0, spelling.size() - 1));
  });
}

std::size_t Flag::minimumValues() const { return countWords(values.substr(0, values.find('['))); }

std::size_t Flag::maximumValues() const { return countWords(values); }

std::string Flag::meaning() const {
  return std::string(help) +
         (instead.empty() ? "" : " (deprecated: use " + std::string(instead) + ")");
}

void Values::refuse(const std::string &what) const { throw UsageError(spelling + ": " + what); }

double Values::number(std::size_t index) const {
  if (flag.range.infinite && words[index].find("inf") != std::string::npos)
    return Range::noBound;
  const std::optional<double> value = parseNumber(words[index]);
  if (!value)
    refuse(io::inQuotes(words[index]) + " is not a number; give a plain decimal number" +
           (flag.unit.empty() ? "" : " [" + std::string(flag.unit) + "]"));
  if (!flag.range.contains(*value))
    refuse(words[index] + inUnit(flag.unit) + " is out of range; it must be " + flag.range.text());
  return *value;
}

std::int64_t Values::integer(std::size_t index) const {
  const double value = number(index);
  if (value != std::floor(value))
    refuse(words[index] + " is not a whole number; leave out the fraction");
  return std::int64_t(value);
}

Vec3 Values::direction() const {
  const Vec3 vector{number(0), number(1), number(2)};
  if (vector == Vec3{})
    refuse("0 0 0 is not a direction; give a vector that is not zero");
  return vector;
}

std::size_t Values::choice(std::span<const std::string_view> allowed) const {
  const auto found = std::find(allowed.begin(), allowed.end(), words[0]);
  if (found != allowed.end())
    return std::size_t(found - allowed.begin());
  std::string list;
  for (std::string_view word : allowed)
    list += (list.empty() ? "" : word == allowed.back() ? " or " : ", ") + std::string(word);
  refuse(io::inQuotes(words[0]) + " is not one of its values; give " + list);
}

const std::vector<FlagGroup> &flagGroups() {
  static const std::vector<FlagGroup> groups = {inputFlags(),    crystalFlags(),  beamFlags(),
                                                spindleFlags(),  detectorFlags(), geometryFlags(),
                                                responseFlags(), outputFlags(),   toolFlags()};
  return groups;
}

const Flag *findFlag(std::string_view word) {
  for (const FlagGroup &group : flagGroups())
    for (const Flag &flag : group.flags)
      if (flag.matches(word))
        return &flag;
  return nullptr;
}

std::vector<std::string_view> allSpellings() {
  std::vector<std::string_view> all;
  for (const FlagGroup &group : flagGroups())
    for (const Flag &flag : group.flags)
      for (std::string_view spelling : flag.spellings)
        all.push_back(spelling.substr(0, spelling.find('*')));
  return all;
}

} // namespace nanobragg
