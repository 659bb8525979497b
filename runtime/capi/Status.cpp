#include "runtime/capi/Status.h"

namespace nanobragg {

static thread_local std::string lastError;

nb_status failed(nb_status status, const char *why) {
  lastError = why;
  return status;
}

const char *given(const char *text, const char *what) {
  if (!text)
    throw std::invalid_argument(std::string(what) + " is NULL");
  return text;
}

void *given(void *memory, const char *what) {
  given(static_cast<const char *>(memory), what);
  return memory;
}

std::vector<std::string> words(int count, const char *const *flags) {
  if (count < 0 || (count && !flags))
    throw std::invalid_argument("the flags are NULL");
  std::vector<std::string> all;
  for (int i = 0; i != count; ++i)
    all.emplace_back(given(flags[i], "a flag"));
  return all;
}

} // namespace nanobragg

const char *nb_last_error(void) { return nanobragg::lastError.c_str(); }
