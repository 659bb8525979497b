#include "tools/nb-sim/NotFinite.h"

#include <cstdio>
#include <cstdlib>

namespace nanobragg {
namespace {

/// Photons are counted in very large numbers, and a seed may be any.
double greatest(const std::string &flag) {
  if (flag.ends_with("seed"))
    return HUGE_VAL;
  return flag == "-fluence" || flag == "-flux" ? 1e30 : 1e9;
}

bool isExtreme(const std::string &word, double greatest) {
  char *end = nullptr;
  const double size = std::abs(std::strtod(word.c_str(), &end));
  return end != word.c_str() && *end == '\0' && (size > greatest || (size > 0 && size < 1e-30));
}

/// The flags with a number that no experiment has, in any unit (above 1e9, of photons above 1e30,
/// or, other than zero, below 1e-30), as they were given: "-distance 1e308, -lambda 1e-200". Empty:
/// there is none.
std::string extremeValues(const CommandLine &line) {
  std::string all;
  for (const GivenFlag &flag : line.given)
    for (const std::string &value : flag.values)
      if (isExtreme(value, greatest(flag.name)))
        all += (all.empty() ? "" : ", ") + flag.spelling + " " + value;
  return all;
}

} // namespace

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
