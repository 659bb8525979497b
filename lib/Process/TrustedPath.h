// Who can change what a path leads to?
#ifndef NANOBRAGG_RUNTIME_TRUSTEDPATH_H
#define NANOBRAGG_RUNTIME_TRUSTEDPATH_H

#include <filesystem>
#include <optional>
#include <string>

#include <sys/types.h>

namespace nanobragg {

/// A path with symbolic links followed, or why no code may be loaded from there.
struct TrustedPath {
  std::filesystem::path path{}; ///< empty: not to be trusted
  std::string problem{};        ///< names the folder or file and what is wrong with it
};

/// Trusts a file or folder that exists when it and every folder above it belong to root, to the
/// effective user, or to `alsoTrusted`, and no other user can write to them. A folder above it in
/// which everybody may write but none may touch what belongs to others (the sticky bit, as /tmp has
/// it) is taken. The group that is the user's own and has no other member may write.
TrustedPath trustPath(const std::filesystem::path &path,
                      std::optional<uid_t> alsoTrusted = std::nullopt);

} // namespace nanobragg
#endif
