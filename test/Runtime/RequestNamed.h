// Requests that tests tell apart by a name.
#ifndef NANOBRAGG_TEST_REQUESTNAMED_H
#define NANOBRAGG_TEST_REQUESTNAMED_H

#include "runtime/kernels/CompilerLibrary.h"

#include <string>
#include <string_view>

namespace nanobragg::test {

/// Another one for each of the names that tests use.
inline ProgramVariant variantNamed(std::string_view name) {
  unsigned sum = 0;
  for (const char c : name)
    sum += unsigned(c);
  ProgramVariant variant;
  bool *const choices[] = {&variant.diffuse, &variant.background, &variant.dmin, &variant.panels,
                           &variant.mask,    &variant.gainMap,    &variant.gain};
  for (bool *choice : choices) {
    *choice = sum % 2;
    sum /= 2;
  }
  return variant;
}

inline std::string variantText(std::string_view name) { return variantNamed(name).toString(); }

inline KernelRequest requestNamed(std::string_view name) {
  KernelRequest request;
  request.variant = variantNamed(name);
  return request;
}

} // namespace nanobragg::test
#endif
