// What a program says of a command line that CLI11 refuses.
#ifndef NANOBRAGG_TOOLS_PARSEEXIT_H
#define NANOBRAGG_TOOLS_PARSEEXIT_H

#include "lib/Experiment/Printable.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <string>

namespace nanobragg {

/// Prints help, or what is wrong. Returns 0 where it is help that was asked for.
inline int parseExit(const CLI::App &app, const CLI::ParseError &error) {
  if (error.get_exit_code() == 0)
    return app.exit(error);
  const std::string name = std::filesystem::path(app.get_name()).filename().string();
  std::fprintf(stderr, "%s: error: %s\n%s --help lists its flags\n", name.c_str(),
               printable(error.what()).c_str(), name.c_str());
  return error.get_exit_code();
}

} // namespace nanobragg
#endif
