#include "lib/Inputs/InputFiles.h"

#include <filesystem>

namespace nanobragg {

ExptName exptNameOf(const std::string &word) {
  std::error_code ignored;
  const std::size_t colon = word.rfind(':');
  if (colon == word.npos || colon + 1 == word.size() || colon == 0 || word.size() - colon > 9 ||
      word.find_first_not_of("0123456789", colon + 1) != word.npos ||
      std::filesystem::exists(word, ignored))
    return {word, {}};
  return {word.substr(0, colon), std::size_t(std::stoul(word.substr(colon + 1)))};
}

} // namespace nanobragg
