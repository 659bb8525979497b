// The user's settings.
#ifndef NANOBRAGG_RUNTIME_ENVIRONMENT_H
#define NANOBRAGG_RUNTIME_ENVIRONMENT_H

#include <cstdlib>
#include <string_view>

namespace nanobragg {

/// The value of an environment variable; empty when it is not set. A program that has more rights
/// than who started it (set-user-id, file capabilities) sees none: the variables name folders from
/// which code is loaded.
inline std::string_view environmentVariable(const char *name) {
  const char *value = ::secure_getenv(name);
  return value ? value : "";
}

} // namespace nanobragg
#endif
