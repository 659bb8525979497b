// The table of formulas that the rules are checked on: at least one for each op that has rules or
// an expansion.
#ifndef NB_TEST_DERIVATIVES_RULECASES_H
#define NB_TEST_DERIVATIVES_RULECASES_H

#include <string>
#include <vector>

namespace mlir::nb::test {

/// Each input is drawn from [low, high].
struct Interval {
  double low, high;
};

struct RuleCase {
  std::string op; ///< whose rules these are
  std::string arguments, body, result;
  /// One for each argument, for all of its elements.
  std::vector<Interval> ranges;
  /// Points, in elements of all arguments, at which the formula is smooth but its text is delicate.
  std::vector<std::vector<double>> delicate = {};

  std::string text() const {
    return "func.func @f(" + arguments + ") -> " + result + " { " + body +
           " return %r : " + result + " }";
  }
};

const std::vector<RuleCase> &ruleCases();

} // namespace mlir::nb::test

#endif
