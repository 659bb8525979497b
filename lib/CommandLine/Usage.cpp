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

/// "-mosaic SPREAD", "--png=FILE"
std::string synopsis(const Flag &flag) {
  std::string text(flag.name());
  if (flag.values.empty())
    return text;
  if (flag.isLong() && flag.minimumValues() == 0)
    return text + "[=" + std::string(flag.values.substr(1));
  return text + (flag.isLong() ? "=" : " ") + std::string(flag.values);
}

std::string otherSpellings(const Flag &flag) {
  std::string text;
  for (std::size_t i = 1; i < flag.spellings.size(); ++i)
    text += (i > 1 ? ", " : "") + std::string(flag.spellings[i]);
  return text;
}

/// When it counts.
std::string condition(const Flag &flag) {
  const bool conditional = flag.quantity && !flag.quantity->more.only.empty();
  return conditional ? "; only " + std::string(flag.quantity->more.only) : std::string();
}

std::string description(const Flag &flag) {
  std::string text = flag.meaning();
  if (!flag.values.empty() && !flag.unit.empty())
    text += " [" + std::string(flag.unit) + "]";
  if (!flag.fallback.empty() && flag.fallback != "off" && flag.fallback != "none")
    text += " (default: " + std::string(flag.fallback) + ")";
  text += condition(flag);
  if (flag.spellings.size() > 1)
    text += "; also " + otherSpellings(flag);
  return text;
}

std::string usageEntry(const std::string &what, const std::string &help) {
  constexpr std::size_t column = 28, width = 100;
  std::string start = "  " + what;
  if (start.size() + 1 >= column)
    start += "\n" + std::string(column, ' ');
  else
    start.append(column - start.size(), ' ');
  return start + wrapped(help, column, width) + "\n";
}

std::string lower(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return char(std::tolower(c)); });
  return text;
}

/// An environment variable that a run depends on.
struct Variable {
  const char *name, *help;
};

constexpr Variable variables[] = {
    {"OMP_NUM_THREADS", "number of threads, as for the C program; --threads overrides it"},
    {"NB_CACHE_DIR", "folder of the kernel cache (default: nanobragg in XDG_CACHE_HOME or "
                     "~/.cache); nb-cache manages it"},
    {"NB_CACHE_SIZE", "size limit of the cache, in bytes or with K, M or G (default: 256M)"},
    {"NB_CACHE=off", "compile every time"},
    {"NB_KERNEL_PATH", "colon-separated absolute paths of folders of compiled kernels (nb-compile "
                       "-o FOLDER/), searched before the cache"},
    {"NB_KERNEL_FILES", "a folder, as an absolute path, for the files of running kernels, so that "
                        "perf finds their functions and lines"},
    {"NB_TRACE_EVENTS", "the file of --trace-events, for all programs and for Python; %p in the "
                        "name is replaced by the number of the process"},
    {"NB_COMPILER_LIBRARY",
     "the file of libnb-compiler.so, as an absolute path (default: the installed one)"},
    {"NANOBRAGG_DISABLE_COMPILE", "as --no-fuse, unless it is 0; also NANOBRAG_DISABLE_COMPILE"},
};

/// One line for each flag and reason, sorted by flags.
std::string exclusionTable() {
  std::string text =
      "\n## Flags that exclude each other\n\n"
      "A run with two of them is refused.\n\n| flag | with | because |\n|---|---|---|\n";
  std::vector<Exclusion> all = exclusions();
  std::ranges::stable_sort(all, {}, &Exclusion::first);
  for (std::size_t i = 0; i != all.size();) {
    const Exclusion &row = all[i];
    std::string others;
    for (; i != all.size() && all[i].first == row.first && all[i].why == row.why; ++i)
      others += (others.empty() ? "`" : " `") + std::string(all[i].second) + "`";
    if (!row.values.empty())
      others += " of " + std::string(row.values);
    text +=
        "| `" + std::string(row.first) + "` | " + others + " | " + std::string(row.why) + " |\n";
  }
  return text;
}

std::string inTable(std::string_view text) {
  std::string cell;
  for (char c : text)
    cell += c == '|' ? std::string("\\|") : std::string(1, c);
  return cell;
}

/// Prose in a table, with its flags as code.
std::string tableCell(std::string_view text) {
  const auto isOfName = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '_';
  };
  std::string cell;
  for (std::size_t i = 0; i != text.size();) {
    const std::string_view rest = text.substr(i);
    const std::size_t dashes = std::min(rest.find_first_not_of('-'), rest.size());
    const bool begins = i == 0 || text[i - 1] == ' ' || text[i - 1] == '(';
    if (begins && (dashes == 1 || dashes == 2) && dashes != rest.size() &&
        std::isalpha(static_cast<unsigned char>(rest[dashes]))) {
      auto end = std::ranges::find_if_not(rest, isOfName);
      if (end != rest.end() && *end == '=') // with its value, "--average=closed"
        end = std::find_if_not(end + 1, rest.end(), isOfName);
      const std::string flag(rest.begin(), end);
      cell += "`" + flag + "`";
      i += flag.size();
      continue;
    }
    cell += inTable(text.substr(i++, 1));
  }
  return cell;
}

} // namespace

std::string usageText() {
  std::string text =
      "usage: nanoBragg-compatible nb-sim -mat A.mat -hkl P1.hkl [flags]\n       nb-sim -cell A B "
      "C ALPHA BETA GAMMA -default_F F [flags]\n\nSimulates a diffraction image of a crystal. "
      "Needs a cell (-mat or -cell) and structure\nfactors (-hkl, -dump or -default_F). If a flag "
      "is repeated, the last one applies. Units are in [].\n";
  for (const FlagGroup &group : flagGroups()) {
    text += "\n" + std::string(group.title) + ":\n";
    for (const Flag &flag : group.flags)
      text += usageEntry(synopsis(flag), description(flag));
  }
  text += "\nenvironment:\n";
  for (const Variable &variable : variables)
    text += usageEntry(variable.name, variable.help);
  text += "\nA * stands for any longer spelling. The exit status is 0 unless an error occurred.\n";
  return text;
}

std::string usageOf(const std::string &word) {
  const std::string wanted = lower(word);
  const auto occursIn = [&](const std::string &text) {
    return lower(text).find(wanted) != std::string::npos;
  };
  std::string text;
  for (const FlagGroup &group : flagGroups()) {
    std::string entries;
    for (const Flag &flag : group.flags)
      if (occursIn(std::string(group.title)) || occursIn(synopsis(flag) + " " + description(flag)))
        entries += usageEntry(synopsis(flag), description(flag));
    if (!entries.empty())
      text += (text.empty() ? "" : "\n") + std::string(group.title) + ":\n" + entries;
  }
  std::string entries;
  for (const Variable &variable : variables)
    if (occursIn(std::string(variable.name) + " " + variable.help))
      entries += usageEntry(variable.name, variable.help);
  if (!entries.empty())
    text += (text.empty() ? "" : "\n") + std::string("environment:\n") + entries;
  if (!text.empty())
    return text;
  const std::vector<std::string_view> all = allSpellings();
  throw UsageError("no flag and no description contains " + io::inQuotes(word) +
                   " in it; the closest flag is '" + std::string(closestWord(word, all)) + "'");
}

bool isInHelp(std::string_view word) {
  const std::string wanted = lower(std::string(word));
  const auto isLetter = [](unsigned char c) { return std::isalnum(c) != 0; };
  const auto hasWord = [&](const std::string &text) {
    for (std::size_t at = text.find(wanted); at != text.npos; at = text.find(wanted, at + 1))
      if (const std::size_t end = at + wanted.size();
          (at == 0 || !isLetter(text[at - 1])) && (end == text.size() || !isLetter(text[end])))
        return true;
    return false;
  };
  return wanted.size() > 2 && std::ranges::any_of(flagGroups(), [&](const FlagGroup &group) {
           return std::ranges::any_of(
               group.flags, [&](const Flag &flag) { return hasWord(lower(description(flag))); });
         });
}

std::string flagReference() {
  std::string text =
      "# Flags of nb-sim\n\nGenerated from the table that parses the command line. If a flag is "
      "repeated, the last one applies; `*` stands for any longer spelling. Units are in [].\n";
  for (const FlagGroup &group : flagGroups()) {
    text +=
        "\n## " + std::string(group.title) + "\n\n| flag | default | meaning |\n|---|---|---|\n";
    for (const Flag &flag : group.flags) {
      std::string spellings = "`" + inTable(synopsis(flag)) + "`";
      for (std::size_t i = 1; i < flag.spellings.size(); ++i)
        spellings += " `" + std::string(flag.spellings[i]) + "`";
      const std::string unit = flag.unit.empty() ? "" : " [" + std::string(flag.unit) + "]";
      text += "| " + spellings + " | " + tableCell(flag.fallback) + " | " +
              tableCell(flag.meaning() + unit + condition(flag)) + " |\n";
    }
  }
  text += exclusionTable();
  text += "\n## Environment\n\n| variable | meaning |\n|---|---|\n";
  for (const Variable &variable : variables)
    text += "| `" + std::string(variable.name) + "` | " + tableCell(variable.help) + " |\n";
  return text;
}

} // namespace nanobragg
