#include "runtime/kernels/HklCache.h"

#include "lib/Parallel/LargePages.h"
#include "lib/Process/Environment.h"
#include "runtime/kernels/CacheDirectory.h"
#include "runtime/kernels/CacheEntry.h"
#include "runtime/kernels/KernelCache.h"

#include <cstring>
#include <exception>
#include <string>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace nanobragg {
namespace {

/// Shorter lists are parsed in less time than a file takes.
constexpr std::size_t shortList = std::size_t(1) << 20;

/// The header of an entry; the values of the grid follow.
struct Header {
  char mark[8];
  std::uint64_t version;
  XXH128_hash_t content; ///< hash of the list's text
  std::uint64_t contentBytes;
  double defaultF;
  std::int64_t range[6]; ///< least and greatest h, k and l
  std::uint64_t reflections, duplicates, moreColumns;
  XXH128_hash_t values; ///< hash of the values
  XXH128_hash_t before; ///< hash of everything ahead of it
};
constexpr char mark[8] = {'N', 'B', 'H', 'K', 'L', 'B', 'O', 'X'};
constexpr std::uint64_t hklFormatVersion = 1;

bool same(const XXH128_hash_t &a, const XXH128_hash_t &b) { return XXH128_isEqual(a, b); }

/// The part of the header that is known before the list is parsed.
Header headerFor(std::string_view content, double defaultF) {
  Header header = {};
  std::memcpy(header.mark, mark, sizeof(mark));
  header.version = hklFormatVersion;
  header.content = XXH3_128bits(content.data(), content.size());
  header.contentBytes = content.size();
  header.defaultF = defaultF;
  return header;
}

constexpr std::size_t known = offsetof(Header, range);

std::string nameOfEntry(const Header &header) {
  return keyOf({reinterpret_cast<const char *>(&header), known}) + ".hkl";
}

/// How many values such ranges have; 0 where they cannot be.
std::uint64_t valuesOf(const Header &header) {
  std::uint64_t count = 1;
  for (int axis = 0; axis != 3; ++axis) {
    const std::int64_t low = header.range[2 * axis], high = header.range[2 * axis + 1];
    if (high < low || high - low >= std::int64_t(mostEntryBytes))
      return 0;
    count *= std::uint64_t(high - low + 1);
    if (count > mostEntryBytes / sizeof(double))
      return 0;
  }
  return count;
}

/// Nothing where the file holds something else.
std::optional<io::HklFile> decode(const CacheDirectory::OpenFile &file, const Header &wanted) {
  Header header;
  if (file.bytes < sizeof(header) || !file.read(&header, sizeof(header), 0) ||
      std::memcmp(&header, &wanted, known) != 0 ||
      !same(header.before, XXH3_128bits(&header, offsetof(Header, before))))
    return std::nullopt;
  const std::uint64_t count = valuesOf(header);
  if (count == 0 || file.bytes != sizeof(header) + count * sizeof(double))
    return std::nullopt;
  io::HklFile result;
  result.reflections = header.reflections;
  result.duplicates = header.duplicates;
  result.moreColumns = header.moreColumns;
  const std::int64_t *r = header.range;
  result.grid = {r[0], r[1], r[2], r[3], r[4], r[5], {}};
  std::vector<double> &values = result.grid.values;
  values.reserve(count);
  preferLargePages(values.data(), count * sizeof(double));
  values.resize(count);
  if (!file.read(values.data(), count * sizeof(double), sizeof(header)) ||
      !same(header.values, XXH3_128bits(values.data(), count * sizeof(double))))
    return std::nullopt;
  return result;
}

} // namespace

HklCache::HklCache(std::filesystem::path directory, std::uint64_t mostBytes)
    : directory(std::move(directory)), mostBytes(mostBytes) {}

HklCache::~HklCache() = default;

std::unique_ptr<HklCache> HklCache::fromEnvironment() {
  const std::optional<CachePlace> place = CachePlace::fromEnvironment();
  return place ? std::make_unique<HklCache>(place->directory, place->mostBytes) : nullptr;
}

std::optional<io::HklFile> HklCache::find(std::string_view content, double defaultF) {
  if (content.size() < shortList)
    return std::nullopt;
  try {
    const auto folder = CacheDirectory::open(directory, /*create=*/false);
    if (!folder)
      return std::nullopt;
    const Header wanted = headerFor(content, defaultF);
    const std::string name = nameOfEntry(wanted);
    const CacheDirectory::OpenFile file = folder->openFile(name);
    if (file.state == CacheDirectory::State::Missing || file.state == CacheDirectory::State::Failed)
      return std::nullopt;
    std::optional<io::HklFile> found;
    if (file.state == CacheDirectory::State::Found)
      found = decode(file, wanted);
    if (found)
      folder->touch(name);
    else
      folder->remove(name);
    return found;
  } catch (const std::exception &) {
    return std::nullopt; // the kernel cache says what is wrong with the folder
  }
}

std::string HklCache::keep(std::string_view content, double defaultF, const io::HklFile &file) {
  const std::vector<double> &values = file.grid.values;
  const std::size_t size = values.size() * sizeof(double);
  if (content.size() < shortList || sizeof(Header) + size > std::min(mostBytes, mostEntryBytes))
    return "";
  std::optional<CacheDirectory> folder;
  try {
    folder = CacheDirectory::open(directory, /*create=*/true);
  } catch (const std::exception &) {
    return ""; // as above
  }
  try {
    Header header = headerFor(content, defaultF);
    const HklGrid &g = file.grid;
    const std::int64_t range[] = {g.hMin, g.hMax, g.kMin, g.kMax, g.lMin, g.lMax};
    std::memcpy(header.range, range, sizeof(range));
    header.reflections = file.reflections;
    header.duplicates = file.duplicates;
    header.moreColumns = file.moreColumns;
    header.values = XXH3_128bits(values.data(), size);
    header.before = XXH3_128bits(&header, offsetof(Header, before));
    std::string bytes;
    bytes.reserve(sizeof(header) + size);
    bytes.append(reinterpret_cast<const char *>(&header), sizeof(header));
    bytes.append(reinterpret_cast<const char *>(values.data()), size);
    const std::string name = nameOfEntry(header);
    folder->write(name, bytes);
    folder->sweep(mostBytes, name);
    return "";
  } catch (const std::exception &error) {
    return "the kernel cache " + directory.string() + ": " + error.what() +
           " (the reflection list is parsed at each start; NB_CACHE=off hides this)";
  }
}

} // namespace nanobragg
