#include "lib/CommandLine/CommandLine.h"
#include "lib/CommandLine/Exclusions.h"
#include "lib/CommandLine/Flag.h"
#include "lib/CommandLine/OwnFlags.h"
#include "lib/Files/TextScanner.h"
#include "lib/Quantities/ClosestWord.h"

#include <algorithm>
#include <cctype>

namespace nanobragg {
namespace {

/// A flag and its values, before any of them is looked at.
struct Occurrence {
  const Flag *flag;
  std::string spelling;
  std::vector<std::string> words;
  std::size_t next; ///< index of the word after the flag itself
};

/// Flags start with a dash and a letter, -4stol excepted; the rest are values, like -5 and -.5.
bool looksLikeFlag(const std::string &word) {
  if (word.size() < 2 || word[0] != '-')
    return false;
  return word[1] == '-' || std::isalpha(static_cast<unsigned char>(word[1])) || findFlag(word);
}

[[noreturn]] void refuseUnknown(const std::string &word,
                                std::vector<std::string_view> candidates = {}) {
  const std::string head = word.substr(0, word.find('='));
  if (head.size() < word.size() && findFlag(head))
    throw UsageError(io::inQuotes(word) +
                     ": flags with one dash take their value after a blank; write '" + head + " " +
                     word.substr(head.size() + 1) + "'");
  // A flag of the C program with two dashes.
  if (head.starts_with("--") && findFlag(head.substr(1)))
    throw UsageError("unknown flag " + io::inQuotes(word) + "; write '" + head.substr(1) +
                     (head.size() < word.size() ? " " + word.substr(head.size() + 1) : "") + "'");
  const std::vector<std::string_view> all = allSpellings();
  candidates.insert(candidates.end(), all.begin(), all.end());
  const std::string name = head.substr(std::min(head.find_first_not_of('-'), head.size()));
  const bool isNear = 2 * editDistance(name, closestWord(name, candidates)) < name.size();
  throw UsageError("unknown flag " + io::inQuotes(word) +
                   (!isNear && isInHelp(name)
                        ? "; nb-sim -help " + name + " lists the flags about it"
                        : closestHint(head, candidates)));
}

void requireCount(const Occurrence &found) {
  const Flag &flag = *found.flag;
  const std::size_t needed = flag.minimumValues(), given = found.words.size();
  if (given >= needed || (given == 1 && flag.alone && flag.alone(found.words[0])))
    return;
  throw UsageError(found.spelling + " needs " +
                   (needed == 1 ? "a value" : std::to_string(needed) + " values") +
                   (flag.unit.empty() ? "" : " [" + std::string(flag.unit) + "]") +
                   (given == 0   ? ", none is given"
                    : given == 1 ? ", only 1 is given"
                                 : ", only " + std::to_string(given) + " are given") +
                   "; write '" + found.spelling + " " + std::string(flag.values) + "'");
}

/// `--flag=value` or `--flag value`, `-flag value ...`.
Occurrence takeFlag(const std::vector<std::string> &words, std::size_t index) {
  const std::string &word = words[index];
  const std::size_t equals = word.starts_with("--") ? word.find('=') : word.npos;
  Occurrence found{nullptr, word.substr(0, equals), {}, index + 1};
  found.flag = findFlag(found.spelling);
  if (!found.flag)
    refuseUnknown(word);
  const std::size_t most = found.flag->maximumValues();
  if (equals != word.npos) {
    if (most == 0)
      throw UsageError(found.spelling + " takes no value; write it without '" +
                       word.substr(equals) + "'");
    if (equals + 1 == word.size())
      throw UsageError(found.spelling + "= lacks its value (" + std::string(found.flag->values) +
                       ")");
    found.words.push_back(word.substr(equals + 1));
    return found;
  }
  for (std::size_t i = index + 1; i < words.size() && found.words.size() < most; ++i) {
    if (looksLikeFlag(words[i]))
      break;
    // A list of optional length ends at the first word with a dash, as in the C program.
    if (found.words.size() >= found.flag->minimumValues() && words[i].starts_with('-'))
      break;
    found.words.push_back(words[i]);
    if (found.flag->alone && found.words.size() == 1 && found.flag->alone(words[i]))
      break;
  }
  requireCount(found);
  return found;
}

std::vector<Occurrence> takeFlags(const std::vector<std::string> &words) {
  std::vector<Occurrence> all;
  for (std::size_t i = 0; i < words.size();) {
    if (!looksLikeFlag(words[i])) {
      std::string where = " before the first flag";
      if (!all.empty()) {
        const auto most = all.back().flag->maximumValues();
        where = " after " + all.back().spelling +
                (most == 0   ? ", which takes no value"
                 : most == 1 ? ", which takes one value"
                             : "");
      }
      throw UsageError(
          "stray word " + io::inQuotes(words[i]) + where +
          (isProgramFile(words[i]) ? "; programs that take an nb program have it ahead of all flags"
           : all.empty() ? "; every value needs its flag in front, such as -hkl for a file "
                           "of structure factors"
                         : "; every value needs its flag in front"));
    }
    all.push_back(takeFlag(words, i));
    const bool joined = all.back().spelling.size() < words[i].size();
    i += joined ? 1 : 1 + all.back().words.size();
  }
  return all;
}

Semantics chooseSemantics(const std::vector<Occurrence> &all, std::span<const std::string> words) {
  Semantics semantics = Semantics::right();
  for (const Occurrence &found : all) {
    if (found.flag->name() != "--compat")
      continue;
    static constexpr std::string_view choices[] = {"c", "right", "noisify"};
    const Values values(*found.flag, found.spelling, found.words, words.subspan(found.next));
    switch (values.choice(choices)) {
    case 0:
      semantics = Semantics::c();
      break;
    case 1:
      semantics = Semantics::right();
      break;
    default:
      semantics.noisify = true;
    }
  }
  return semantics;
}

/// -help and its like work on any line, also one that is wrong elsewhere. The word that -help looks
/// for may be a flag if it is the last.
bool asksForText(const std::vector<std::string> &words, CommandLine &line) {
  constexpr std::string_view printing[] = {"--help", "--version", "--list-flags"};
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::size_t equals = words[i].starts_with("--") ? words[i].find('=') : std::string::npos;
    const std::string head = words[i].substr(0, equals);
    const Flag *flag = looksLikeFlag(head) ? findFlag(head) : nullptr;
    if (!flag || std::ranges::find(printing, flag->name()) == std::end(printing))
      continue;
    std::vector<std::string> values;
    if (flag->maximumValues() > 0 && equals != std::string::npos)
      values.push_back(words[i].substr(equals + 1));
    else if (flag->maximumValues() > 0 && i + 1 < words.size() &&
             (i + 2 == words.size() || !looksLikeFlag(words[i + 1])))
      values.push_back(words[i + 1]);
    flag->apply(line, Values(*flag, head, values, {}));
    return true;
  }
  return false;
}

CommandLine applyFlags(const std::vector<Occurrence> &all, std::span<const std::string> words,
                       const Semantics &semantics, const CommandLine &said) {
  CommandLine line = said;
  line.semantics = semantics;
  for (const Occurrence &found : all) {
    found.flag->apply(line,
                      Values(*found.flag, found.spelling, found.words, words.subspan(found.next)));
    line.given.push_back({std::string(found.flag->name()), found.spelling, found.words});
  }
  if (line.tool.printout)
    line.tool.progress = false;
  if (line.files.hkl)
    line.outputs.dumpFile = line.files.dump;
  return line;
}

/// One for each deprecated flag, however often it is given.
std::vector<std::string> deprecations(const std::vector<Occurrence> &all) {
  std::vector<std::string> warnings;
  std::vector<const Flag *> told;
  for (const Occurrence &found : all) {
    if (found.flag->instead.empty() || std::ranges::find(told, found.flag) != told.end())
      continue;
    told.push_back(found.flag);
    warnings.push_back(found.spelling + " is deprecated and works as before in this version; use " +
                       std::string(found.flag->instead));
  }
  return warnings;
}

/// Whether the C program, which takes some flags for others too, would read this line otherwise.
bool dependsOnPrefixes(const std::vector<Occurrence> &all, std::span<const std::string> words,
                       const CommandLine &line, const CommandLine &said) {
  if (line.semantics.flagPrefixes == Rule::C)
    return false;
  Semantics likeC = line.semantics;
  likeC.flagPrefixes = Rule::C;
  const Options a = line.options, b = applyFlags(all, words, likeC, said).options;
  return a.twotheta != b.twotheta || a.pivot != b.pivot || a.misset != b.misset ||
         a.missetRandom != b.missetRandom;
}

} // namespace

void requireKnownFlag(const std::string &word, const std::vector<std::string_view> &ownFlags) {
  if (!findFlag(word.substr(0, word.find('='))))
    refuseUnknown(word, ownFlags);
}

bool isGiven(const CommandLine &line, std::string_view name) {
  return std::ranges::any_of(line.given, [&](const GivenFlag &flag) { return flag.name == name; });
}

CommandLine parseCommandLine(const std::vector<std::string> &words, const CommandLine &said) {
  CommandLine text;
  if (asksForText(words, text))
    return text;
  const std::vector<Occurrence> all = takeFlags(words);
  CommandLine line = applyFlags(all, words, chooseSemantics(all, words), said);
  refuseExclusions(line);
  if (line.options.deadTime.value_or(0) > 0)
    line.outputs.noise = false; // noise is drawn for counts without losses
  for (std::string &warning : deprecations(all))
    line.warnings.push_back(std::move(warning));
  if (line.series.any() || line.outputs.nexusFile || line.outputs.reflectionsFile)
    line.options.averagesByDefault = true;
  if (dependsOnPrefixes(all, words, line, said))
    line.notices.push_back("flag-prefixes");
  return line;
}

} // namespace nanobragg
