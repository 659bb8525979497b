#include "lib/Quantities/ClosestWord.h"

#include <algorithm>
#include <cctype>
#include <string>
#include <vector>

namespace nanobragg {
namespace {

std::string bare(std::string_view word) {
  word.remove_prefix(std::min(word.find_first_not_of('-'), word.size()));
  std::string text(word);
  for (char &c : text)
    c = char(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

} // namespace

std::size_t editDistance(std::string_view first, std::string_view second) {
  const std::string a = bare(first), b = bare(second);
  // Three rows of the table are enough: a swap looks two rows back.
  std::vector<std::size_t> before, previous(b.size() + 1), current(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j)
    previous[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    current[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      current[j] = std::min(
          {previous[j] + 1, current[j - 1] + 1, previous[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        current[j] = std::min(current[j], before[j - 2] + 1);
    }
    before = std::move(previous);
    previous = current;
  }
  return previous[b.size()];
}

std::string_view closestWord(std::string_view word, std::span<const std::string_view> candidates) {
  // No candidate is as long, and the time is proportional to the length.
  word = word.substr(0, 64);
  std::string_view closest = *std::min_element(
      candidates.begin(), candidates.end(), [&](std::string_view a, std::string_view b) {
        return editDistance(word, a) < editDistance(word, b);
      });
  // "detector_distance" is "-distance" rather than "-detector_thick".
  const std::string letters = bare(word);
  if (4 * editDistance(word, closest) <= letters.size())
    return closest;
  std::size_t longest = 4;
  for (const std::string_view candidate : candidates)
    if (const std::string part = bare(candidate);
        part.size() > longest && letters.find(part) != letters.npos) {
      longest = part.size();
      closest = candidate;
    }
  return closest;
}

std::string closestHint(std::string_view word, std::span<const std::string_view> candidates) {
  const std::string_view closest = closestWord(word, candidates);
  if (editDistance(word, closest) >= bare(word).size())
    return {};
  return "; the closest is '" + std::string(closest) + "'";
}

} // namespace nanobragg
