// Numbers as the command line has them.
#ifndef NANOBRAGG_COMMANDLINE_NUMBERS_H
#define NANOBRAGG_COMMANDLINE_NUMBERS_H

#include <optional>
#include <string>
#include <string_view>

namespace nanobragg {

/// The whole word as a finite decimal number; nothing when any of it is not part of the number.
std::optional<double> parseNumber(std::string_view word);

/// The number that starts the word, zero when none does: C's atof.
double leadingNumber(const std::string &word);

/// Shortest decimal text that reads back as the same number.
std::string numberText(double value);

/// Bounds of a value, with the words that say so in a message.
struct Range {
  double low, high;
  bool lowIncluded = true, highIncluded = true;

  bool contains(double value) const;
  /// "greater than 0", "from -1 to 1", ...; empty when any number will do.
  std::string text() const;

  static Range any();
  static Range positive();
  static Range notNegative();
  static Range between(double low, double high);
};

} // namespace nanobragg
#endif
