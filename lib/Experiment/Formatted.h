// Text as printf makes it.
#ifndef NANOBRAGG_EXPERIMENT_FORMATTED_H
#define NANOBRAGG_EXPERIMENT_FORMATTED_H

#include <cstdarg>
#include <cstdio>
#include <string>

namespace nanobragg {

/// The text that printf would print, of any length.
[[gnu::format(printf, 1, 2)]] inline std::string formatted(const char *format, ...) {
  std::va_list values, again;
  va_start(values, format);
  va_copy(again, values);
  std::string text(std::size_t(std::vsnprintf(nullptr, 0, format, values)), '\0');
  std::vsnprintf(text.data(), text.size() + 1, format, again);
  va_end(again);
  va_end(values);
  return text;
}

} // namespace nanobragg
#endif
