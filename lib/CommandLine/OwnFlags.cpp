#include "lib/CommandLine/OwnFlags.h"

#include "lib/CommandLine/Flag.h"
#include "lib/CommandLine/Numbers.h"
#include "lib/Files/TextScanner.h"
#include "lib/Quantities/ClosestWord.h"

#include <algorithm>
#include <cmath>

namespace nanobragg {

void refuseFlag(const std::string &word, std::span<const std::string_view> flags) {
  const std::string name = word.substr(0, word.find('='));
  throw UsageError("unknown flag " + io::inQuotes(name) + closestHint(name, flags));
}

std::string describeOwnFlag(std::string_view name, std::string_view value, std::string_view help,
                            std::size_t column) {
  constexpr std::size_t width = 100;
  const std::string separator = value.empty()                                             ? ""
                                : name.starts_with("--") && value.find(' ') == value.npos ? "="
                                                                                          : " ";
  std::string line = "  " + std::string(name) + separator + std::string(value);
  if (line.size() + 1 >= column)
    line += "\n" + std::string(column, ' ');
  else
    line.append(column - line.size(), ' ');
  return line + wrapped(help, column, width) + "\n";
}

std::string describeCommonFlags(std::size_t column, bool compiles) {
  return (compiles ? describeOwnFlag("--mlir-*", "", mlirFlagsHelp, column) : "") +
         describeOwnFlag("--help", "", "this text", column) +
         describeOwnFlag("--version", "", "the version of the program", column);
}

double numberOf(std::string_view flag, const std::string &value, const Range &range) {
  const auto number = parseNumber(value);
  if (!number || !range.contains(*number))
    throw UsageError(std::string(flag) + ": '" + value + "' is not a number that is " +
                     range.text());
  return *number;
}

std::int64_t countOf(std::string_view flag, const std::string &value, double least, double most) {
  const double number = numberOf(flag, value, Range::between(least, most));
  if (number != std::floor(number))
    throw UsageError(std::string(flag) + ": " + value + " is not a whole number");
  return std::int64_t(number);
}

std::size_t choiceOf(std::string_view flag, const std::string &value,
                     std::span<const std::string_view> words) {
  const auto found = std::ranges::find(words, value);
  if (found == words.end())
    throw UsageError(std::string(flag) + ": '" + value +
                     "' is not one of its values; the closest is '" +
                     std::string(closestWord(value, words)) + "'");
  return std::size_t(found - words.begin());
}

std::vector<std::string> listOf(const std::string &value) {
  std::vector<std::string> words;
  for (std::size_t begin = 0; begin <= value.size();) {
    const std::size_t end = std::min(value.find(',', begin), value.size());
    words.push_back(value.substr(begin, end - begin));
    begin = end + 1;
  }
  return words;
}

std::string wrapped(std::string_view text, std::size_t indent, std::size_t width) {
  std::string result, row;
  const std::string margin(indent, ' ');
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t end = std::min(text.find(' ', i), text.size());
    const std::string word(text.substr(i, end - i));
    if (!row.empty() && indent + row.size() + 1 + word.size() > width) {
      result += row + "\n" + margin;
      row = word;
    } else {
      row += (row.empty() ? "" : " ") + word;
    }
    i = end + 1;
  }
  return result + row;
}

} // namespace nanobragg
