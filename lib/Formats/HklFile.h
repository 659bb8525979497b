// Structure factors as text.
#ifndef NANOBRAGG_FORMATS_HKLFILE_H
#define NANOBRAGG_FORMATS_HKLFILE_H

#include "lib/Experiment/Experiment.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace nanobragg::io {

struct HklFile {
  HklGrid grid;                ///< the bounding box of the file's indices
  std::size_t reflections = 0; ///< lines with a reflection, repeated ones included
  std::size_t duplicates = 0;  ///< lines whose index had been given before; the last one counts
  std::size_t moreColumns = 0; ///< number of the first line with more than four columns, or 0
};

/// Where lists are kept that were parsed before.
class HklStore {
public:
  virtual ~HklStore() = default;
  /// The result of parseHkl for this content, or nothing.
  virtual std::optional<HklFile> find(std::string_view content, double defaultF) = 0;
  /// Returns why it could not be kept, in a sentence; empty where nothing failed.
  virtual std::string keep(std::string_view content, double defaultF, const HklFile &file) = 0;
};

/// Reads lines of `h k l F`, plain or gzip-compressed; further columns, blank lines and everything
/// from a `#` on are not used. Indices may be written 1.0 but must be whole. Nodes of the box that
/// the file does not list get `defaultF`.
HklFile readHkl(const std::string &path, double defaultF);

/// The same from the inflated content of a file that has been read; `path` is for messages.
HklFile parseHkl(const std::string &path, const std::string &content, double defaultF);

struct Reflection {
  std::int32_t h, k, l;
  double f;
};

/// Reads `h k l F` with nothing after it, F without exponent and of at most 15 digits, which is how
/// nearly all lists are written. Returns the beginning of the next line; null, and who knows what
/// in `r`, for any other line, which takes a slower reader. Both give the same numbers.
const char *readPlainReflection(const char *p, const char *end, Reflection &r);

} // namespace nanobragg::io
#endif
