// The word that the user may have meant.
#ifndef NANOBRAGG_QUANTITIES_CLOSESTWORD_H
#define NANOBRAGG_QUANTITIES_CLOSESTWORD_H

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace nanobragg {

/// Insertions, deletions, substitutions and swaps of neighbours that turn one word into the other;
/// leading dashes and case do not count.
std::size_t editDistance(std::string_view a, std::string_view b);

/// The nearest candidate, or if none is near the longest of five letters and more that the word
/// contains; the first of several. Candidates are not empty.
std::string_view closestWord(std::string_view word, std::span<const std::string_view> candidates);

/// "; the closest is 'WORD'", or nothing if no letter of the word would stay.
std::string closestHint(std::string_view word, std::span<const std::string_view> candidates);

} // namespace nanobragg
#endif
