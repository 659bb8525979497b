// The cache that the user's settings describe.

#include "lib/Process/Environment.h"
#include "lib/Process/Refusal.h"
#include "runtime/kernels/CompilerBuild.h"
#include "runtime/kernels/HostCpu.h"
#include "runtime/kernels/KernelCache.h"

#include <charconv>
#include <string_view>

namespace nanobragg {
namespace {

/// Bytes, or KB, MB, GB (powers of 1024) with K, M or G behind the number.
std::optional<std::uint64_t> parseSize(std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.begin(), text.end(), number);
  const std::string_view unit(end, std::size_t(text.end() - end));
  int shift = 0;
  if (unit == "K")
    shift = 10;
  else if (unit == "M")
    shift = 20;
  else if (unit == "G")
    shift = 30;
  else if (!unit.empty())
    return std::nullopt;
  if (error != std::errc() || number > (~std::uint64_t(0) >> shift))
    return std::nullopt;
  return number << shift;
}

std::filesystem::path directoryFromEnvironment() {
  if (const std::filesystem::path named = environmentVariable("NB_CACHE_DIR"); !named.empty()) {
    // The meaning of a relative name depends on where the program was started.
    if (!named.is_absolute())
      throw Refusal("NB_CACHE_DIR names '" + named.string() +
                    "'; give an absolute path, such as /home/me/kernels");
    return named;
  }
  // The XDG specification: a path that is not absolute is to be ignored.
  if (const auto xdg = environmentVariable("XDG_CACHE_HOME"); xdg.starts_with('/'))
    return std::filesystem::path(xdg) / "nanobragg";
  if (const auto home = environmentVariable("HOME"); home.starts_with('/'))
    return std::filesystem::path(home) / ".cache" / "nanobragg";
  return {};
}

/// Nothing where it is not said, or said wrongly.
std::optional<std::uint64_t>
sizeFromEnvironment(const std::function<void(const std::string &)> &warn) {
  const auto size = environmentVariable("NB_CACHE_SIZE");
  if (size.empty())
    return std::nullopt;
  const auto bytes = parseSize(size);
  if (!bytes && warn)
    warn("NB_CACHE_SIZE is not a size: '" + std::string(size) +
         "'; give a number of bytes, or one followed by K, M or G, such as 256M");
  return bytes;
}

} // namespace

std::optional<CachePlace> CachePlace::fromEnvironment() {
  CachePlace place{directoryFromEnvironment(), 0};
  if (environmentVariable("NB_CACHE") == "off" || place.directory.empty())
    return std::nullopt;
  place.mostBytes = sizeFromEnvironment({}).value_or(CacheOptions().mostBytes);
  return place;
}

CacheOptions CacheOptions::fromEnvironment(std::function<void(const std::string &)> warn) {
  CacheOptions options;
  options.warn = std::move(warn);
  options.directory = directoryFromEnvironment();
  options.mostBytes = sizeFromEnvironment(options.warn).value_or(options.mostBytes);
  options.identifyCompiler = [] { return identifyBuild(CompilerLibrary::file()); };
  options.compilerBuild = options.identifyCompiler();
  options.hostCpu = describeHostCpu();
  return options;
}

std::shared_ptr<KernelCache>
KernelCache::fromEnvironment(std::function<void(const std::string &)> warn) {
  if (environmentVariable("NB_CACHE") == "off")
    return nullptr;
  CacheOptions options = CacheOptions::fromEnvironment(std::move(warn));
  if (options.directory.empty() || options.compilerBuild.empty())
    return nullptr;
  return std::make_shared<KernelCache>(std::move(options));
}

} // namespace nanobragg
