// Flags of a tool beside those of nb-sim, or of a tool that takes none of nb-sim's.
#ifndef NANOBRAGG_COMMANDLINE_OWNFLAGS_H
#define NANOBRAGG_COMMANDLINE_OWNFLAGS_H

#include "lib/CommandLine/CommandLine.h"
#include "lib/Experiment/Range.h"
#include "lib/Quantities/UsageError.h"

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace nanobragg {

/// A flag of a tool. With a value it is written `--flag=VALUE` or `--flag VALUE`; a value of
/// several words, "SLOW FAST", is as many words of the command line, handed on with blanks between.
template <typename Command>
struct OwnFlag {
  std::string_view name, value, help; ///< no value: none is taken
  void (*apply)(Command &, const std::string &) = nullptr;
  std::string_view words = ""; ///< the values there are, where they are few
};

/// An `apply` that stores a text in the member at `path`, or adds it to several; without a value,
/// true.
template <auto... path, typename Command>
void keeps(Command &command, const std::string &value) {
  auto &member = (command.*....*path);
  using Member = std::remove_reference_t<decltype(member)>;
  if constexpr (std::is_same_v<Member, bool>)
    member = true;
  else if constexpr (std::is_same_v<Member, std::vector<std::string>>)
    member.push_back(value);
  else
    member = value;
}

/// The meaning of the words that no flag takes.
enum class OtherWords {
  OfNbSim, ///< an experiment
  Names    ///< files and the like; a word with a dash in front is an unknown flag
};

/// Throws UsageError that names the closest flag.
[[noreturn]] void refuseFlag(const std::string &word, std::span<const std::string_view> flags);

/// Does the word name a program, as text or bytecode?
inline bool isProgramFile(std::string_view word) {
  return word.ends_with(".mlir") || word.ends_with(".mlirbc");
}

/// Applies the tool's flags to `command` and returns all other words in their order. Throws
/// UsageError.
template <typename Command>
std::vector<std::string> takeOwnFlags(std::span<const OwnFlag<Command>> flags,
                                      const std::vector<std::string> &words, Command &command,
                                      OtherWords kind = OtherWords::OfNbSim) {
  std::vector<std::string> others;
  std::vector<std::string_view> ownNames;
  for (const OwnFlag<Command> &flag : flags)
    ownNames.push_back(flag.name);
  for (std::size_t i = 0; i != words.size(); ++i) {
    const std::string &word = words[i];
    const std::size_t equals = word.starts_with("--") ? word.find('=') : word.npos;
    const std::string name = word.substr(0, equals);
    const auto flag = std::ranges::find(flags, name, &OwnFlag<Command>::name);
    if (flag == flags.end()) {
      if (kind == OtherWords::Names && word.starts_with('-') && word != "-")
        refuseFlag(word, ownNames);
      if (kind == OtherWords::OfNbSim && word.starts_with("--") && word != "--")
        requireKnownFlag(word, ownNames);
      others.push_back(word);
      continue;
    }
    if (flag->value.empty() && equals != word.npos)
      throw UsageError(name + " takes no value");
    const auto count =
        flag->value.empty() ? 0 : std::size_t(1 + std::ranges::count(flag->value, ' '));
    std::string value = equals == word.npos ? "" : word.substr(equals + 1);
    for (std::size_t taken = equals != word.npos; taken < count; ++taken) {
      if (i + 1 == words.size())
        throw UsageError(name + " needs a value; write '" + name + " " + std::string(flag->value) +
                         "'");
      value += (taken ? " " : "") + words[++i];
    }
    flag->apply(command, value);
  }
  return others;
}

/// Lines of a help text, with what flags mean from `column` on: of one flag, of several, and of
/// those that runTool takes: --help, --version, and of tools that compile --mlir-*.
std::string describeOwnFlag(std::string_view name, std::string_view value, std::string_view help,
                            std::size_t column);
template <typename Command>
std::string describeOwnFlags(std::span<const OwnFlag<Command>> flags, std::size_t column) {
  std::string text;
  for (const OwnFlag<Command> &flag : flags)
    text += describeOwnFlag(flag.name, flag.value, flag.help, column);
  return text;
}
std::string describeCommonFlags(std::size_t column, bool compiles = false);

/// The number that a flag's value is. Throws UsageError.
double numberOf(std::string_view flag, const std::string &value, const Range &range);
/// A whole one.
std::int64_t countOf(std::string_view flag, const std::string &value, double least, double most);
/// Which of the words it is. Throws UsageError.
std::size_t choiceOf(std::string_view flag, const std::string &value,
                     std::span<const std::string_view> words);
/// The words between the commas.
std::vector<std::string> listOf(const std::string &value);

/// Breaks at blanks so that no line is longer than `width`, indenting all but the first.
std::string wrapped(std::string_view text, std::size_t indent, std::size_t width);

} // namespace nanobragg
#endif
