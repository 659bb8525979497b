#include "lib/CommandLine/ExtremeValues.h"

#include <cmath>
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

} // namespace

std::string extremeValues(const CommandLine &line) {
  std::string all;
  for (const GivenFlag &flag : line.given)
    for (const std::string &value : flag.values)
      if (isExtreme(value, greatest(flag.name)))
        all += (all.empty() ? "" : ", ") + flag.spelling + " " + value;
  return all;
}

} // namespace nanobragg
