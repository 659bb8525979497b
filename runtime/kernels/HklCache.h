// Reflection lists that were parsed before.
//
// They lie beside the kernels of the cache and are kept by the same rules: the folder belongs to
// the user alone, files appear at once, the least recently used go first. A list is known by its
// content, not by its name or date.
#ifndef NANOBRAGG_RUNTIME_HKLCACHE_H
#define NANOBRAGG_RUNTIME_HKLCACHE_H

#include "lib/Formats/HklFile.h"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string_view>

namespace nanobragg {

class CacheDirectory;

class HklCache : public io::HklStore {
public:
  HklCache(std::filesystem::path directory, std::uint64_t mostBytes);
  ~HklCache() override;

  /// Where kernels are kept, as the environment says; null where none are.
  static std::unique_ptr<HklCache> fromEnvironment();

  /// Nothing that goes wrong here stops a run: the list is parsed then.
  std::optional<io::HklFile> find(std::string_view content, double defaultF) override;
  std::string keep(std::string_view content, double defaultF, const io::HklFile &file) override;

private:
  std::filesystem::path directory;
  std::uint64_t mostBytes;
};

} // namespace nanobragg
#endif
