// What a program says of a command line that CLI11 refuses.
#ifndef NANOBRAGG_TOOLS_PARSEEXIT_H
#define NANOBRAGG_TOOLS_PARSEEXIT_H

#include "lib/Experiment/Printable.h"

#include <CLI/CLI.hpp>
#include <cstdio>

namespace nanobragg {

/// Prints help, or what is wrong. Returns 0 where it is help that was asked for.
inline int parseExit(const CLI::App &app, const CLI::ParseError &error) {
  if (error.get_exit_code() == 0)
    return app.exit(error);
  std::fprintf(stderr, "%s\nRun with --help for more information.\n",
               printable(error.what()).c_str());
  return error.get_exit_code();
}

} // namespace nanobragg
#endif
