#include "tools/nb-sim/NotFinite.h"

#include "lib/CommandLine/ExtremeValues.h"

#include <cstdio>

namespace nanobragg {

void warnOfNotFinite(const CommandLine &line, std::string_view what, std::size_t notFinite) {
  if (notFinite == 0 || line.tool.quiet)
    return;
  const std::string extreme = extremeValues(line);
  std::fflush(stdout);
  std::fprintf(stderr, "WARNING: %zu %.*s are infinite or not a number; %s%s\n", notFinite,
               int(what.size()), what.data(), extreme.c_str(),
               extreme.empty() ? "--check-finite finds the first such value"
                               : ": that is beyond what can be computed");
}

} // namespace nanobragg
