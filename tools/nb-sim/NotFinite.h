// Numbers that are none.
#ifndef NANOBRAGG_NBSIM_NOTFINITE_H
#define NANOBRAGG_NBSIM_NOTFINITE_H

#include "lib/CommandLine/CommandLine.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <string_view>

namespace nanobragg {

template <typename T>
std::size_t countNotFinite(std::span<const T> numbers) {
  return std::size_t(std::count_if(numbers.begin(), numbers.end(),
                                   [](T number) { return !std::isfinite(number); }));
}

/// Says on standard error, unless --quiet, how many of the `what` ("pixels of the image") came out
/// as infinite or not a number, and which flags are the likely reason. Nothing when there are none.
void warnOfNotFinite(const CommandLine &line, std::string_view what, std::size_t notFinite);

} // namespace nanobragg
#endif
