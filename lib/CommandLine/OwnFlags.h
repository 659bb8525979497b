// Flags of a tool beside those of nb-sim.
#ifndef NANOBRAGG_COMMANDLINE_OWNFLAGS_H
#define NANOBRAGG_COMMANDLINE_OWNFLAGS_H

#include "lib/CommandLine/CommandLine.h"
#include "lib/CommandLine/WrappedText.h"
#include "lib/Quantities/UsageError.h"

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace nanobragg {

/// A flag of a tool whose other words are an experiment's. With a value it is written
/// `--flag=VALUE` or `--flag VALUE`.
template <typename Command>
struct OwnFlag {
  std::string_view name, value, help; ///< no value: none is taken
  std::string_view words = "";        ///< the values there are, where they are few
  void (*apply)(Command &, const std::string &) = nullptr;
};

/// Does the word name a program, as text or bytecode?
inline bool isProgramFile(std::string_view word) {
  return word.ends_with(".mlir") || word.ends_with(".mlirbc");
}

/// Applies the tool's flags to `command` and returns all other words in their order. Throws
/// UsageError.
template <typename Command>
std::vector<std::string> takeOwnFlags(std::span<const OwnFlag<Command>> flags,
                                      const std::vector<std::string> &words, Command &command) {
  std::vector<std::string> others;
  std::vector<std::string_view> ownNames;
  for (const OwnFlag<Command> &flag : flags)
    ownNames.push_back(flag.name);
  const bool asksForText = std::ranges::any_of(
      words, [](const std::string &word) { return word == "--help" || word == "--version"; });
  for (std::size_t i = 0; i != words.size(); ++i) {
    const std::string &word = words[i];
    const std::size_t equals = word.starts_with("--") ? word.find('=') : word.npos;
    const std::string name = word.substr(0, equals);
    const auto flag = std::ranges::find(flags, name, &OwnFlag<Command>::name);
    if (flag == flags.end() && word.starts_with("--") && word != "--" && !asksForText)
      requireKnownFlag(word, ownNames);
    if (flag == flags.end())
      others.push_back(word);
    else if (flag->value.empty() && equals != word.npos)
      throw UsageError(name + " takes no value");
    else if (flag->value.empty())
      flag->apply(command, "");
    else if (equals != word.npos)
      flag->apply(command, word.substr(equals + 1));
    else if (i + 1 != words.size())
      flag->apply(command, words[++i]);
    else
      throw UsageError(name + " needs a value; write '" + name + " " + std::string(flag->value) +
                       "'");
  }
  return others;
}

/// The flags as lines of a help text, what they mean from `column` on.
template <typename Command>
std::string describeOwnFlags(std::span<const OwnFlag<Command>> flags, std::size_t column) {
  constexpr std::size_t width = 100;
  std::string text;
  for (const OwnFlag<Command> &flag : flags) {
    const std::string separator = flag.value.empty() ? "" : flag.name.starts_with("--") ? "=" : " ";
    std::string line = "  " + std::string(flag.name) + separator + std::string(flag.value);
    if (line.size() + 1 >= column)
      line += "\n" + std::string(column, ' ');
    else
      line.append(column - line.size(), ' ');
    text += line + wrapped(flag.help, column, width) + "\n";
  }
  return text;
}

} // namespace nanobragg
#endif
