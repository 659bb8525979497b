#include "lib/Gemmi/Operation.h"

#include <cctype>
#include <cmath>
#include <cstdlib>

namespace nanobragg::io {

gemmi::Op operationOf(const std::string &text) {
  std::string triplet;
  for (const char *at = text.c_str(); *at;) {
    char *end = nullptr;
    const bool number = std::isdigit((unsigned char)*at) || *at == '.';
    const double value = number ? std::strtod(at, &end) : 0;
    if (number && value != std::rint(value)) {
      triplet += std::to_string(std::lround(value * gemmi::Op::DEN)) + "/" +
                 std::to_string(gemmi::Op::DEN);
      at = end;
      continue;
    }
    if (!std::isspace((unsigned char)*at))
      triplet += char(std::tolower((unsigned char)*at));
    ++at;
  }
  return gemmi::parse_triplet(triplet);
}

} // namespace nanobragg::io
