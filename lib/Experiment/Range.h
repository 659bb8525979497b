// Which numbers a quantity may have.
#ifndef NANOBRAGG_EXPERIMENT_RANGE_H
#define NANOBRAGG_EXPERIMENT_RANGE_H

#include <limits>
#include <string>

namespace nanobragg {

/// Shortest decimal text that reads back as the same number.
std::string numberText(double value);

/// Bounds of a value, with the words that say so in a message.
struct Range {
  double low, high;
  bool lowIncluded = true, highIncluded = true;
  bool infinite = false; ///< infinity is a value too

  bool contains(double value) const;
  /// "greater than 0", "from -1 to 1", ...; "a finite number" when any will do.
  std::string text() const;

  static constexpr double noBound = std::numeric_limits<double>::infinity();
  static constexpr Range any() { return {-noBound, noBound}; }
  static constexpr Range positive() { return {0, noBound, false}; }
  static constexpr Range notNegative() { return {0, noBound}; }
  static constexpr Range between(double low, double high) { return {low, high}; }
};

} // namespace nanobragg
#endif
