// Command lines of programs that CLI11 reads: the version, and what is said of one that is refused.
#ifndef NANOBRAGG_TOOLS_PARSEEXIT_H
#define NANOBRAGG_TOOLS_PARSEEXIT_H

#include "lib/Quantities/ClosestWord.h"
#include "lib/Quantities/Printable.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace nanobragg {

inline void addVersion(CLI::App &app) {
  app.set_version_flag("--version", app.get_name() + " " NB_VERSION, "the version of the program");
}

/// A flag or subcommand that does not exist, with the closest that does; otherwise what CLI11 says.
inline std::string refusal(const CLI::App &app, const CLI::ParseError &error) {
  const std::vector<std::string> unknown = app.remaining(true);
  const bool isFlag = !unknown.empty() && unknown.front().starts_with('-');
  std::vector<std::string> names;
  if (isFlag)
    for (const CLI::Option *option : app.get_options({}))
      for (const std::string &name : option->get_lnames())
        names.push_back("--" + name);
  else if (!unknown.empty())
    for (const CLI::App *subcommand : app.get_subcommands({}))
      names.push_back(subcommand->get_name());
  if (names.empty())
    return printable(error.what());
  const std::string word = unknown.front().substr(0, unknown.front().find('='));
  return std::string("unknown ") + (isFlag ? "flag" : "subcommand") + " '" + printable(word) +
         "'; the closest is '" +
         std::string(closestWord(word, std::vector<std::string_view>(names.begin(), names.end()))) +
         "'";
}

/// Prints help, or what is wrong. Returns 0 where it is help that was asked for.
inline int parseExit(const CLI::App &app, const CLI::ParseError &error) {
  if (error.get_exit_code() == 0)
    return app.exit(error);
  const std::string name = std::filesystem::path(app.get_name()).filename().string();
  std::fprintf(stderr, "%s: error: %s\n%s --help lists its flags\n", name.c_str(),
               refusal(app, error).c_str(), name.c_str());
  return error.get_exit_code();
}

} // namespace nanobragg
#endif
