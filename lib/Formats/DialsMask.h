// Mask files of DIALS.
#ifndef NANOBRAGG_FORMATS_DIALSMASK_H
#define NANOBRAGG_FORMATS_DIALSMASK_H

#include <cstdint>
#include <string>
#include <vector>

namespace nanobragg::io {

/// One panel: 1 for pixels that count, [slow][fast].
struct DialsMaskPanel {
  std::int64_t slow = 0, fast = 0;
  std::vector<std::uint8_t> pixels;
};

/// A Python pickle of a tuple of flex.bool, one for each panel, as dials.generate_mask writes it.
/// Nothing of it is executed: it is searched for its arrays. Throws FileError.
std::vector<DialsMaskPanel> readDialsMask(const std::string &path);

} // namespace nanobragg::io
#endif
