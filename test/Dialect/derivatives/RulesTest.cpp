// Every rule against finite differences of the interpreter, and its adjoint against its tangent.
#include "test/Dialect/derivatives/Formula.h"
#include "test/Dialect/derivatives/RuleCases.h"

#include "gtest/gtest.h"

#include <cmath>
#include <random>

using namespace mlir::nb::test;

namespace {
/// A formula with points to check it at and directions of the size of its inputs.
class CheckedFormula {
public:
  explicit CheckedFormula(const RuleCase &c) : formula(c.text()), c(c), random(4711) {
    if (!formula.ready())
      return;
    // The elements of all arguments have the ranges of theirs.
    std::string text = c.arguments;
    size_t argument = 0;
    for (size_t at = text.find(": "); at != std::string::npos; at = text.find(": ", at + 1)) {
      bool vector = text.compare(at + 2, 8, "!nb.vec3") == 0;
      bool matrix = text.compare(at + 2, 8, "!nb.mat3") == 0;
      ranges.insert(ranges.end(), matrix ? 9 : vector ? 3 : 1, c.ranges.at(argument++));
    }
    EXPECT_EQ(ranges.size(), formula.numInputs()) << c.text();
  }

  std::vector<Numbers> points() {
    std::vector<Numbers> all = c.delicate;
    for (int i = 0; i < 3; ++i) {
      Numbers &x = all.emplace_back();
      for (const Interval &range : ranges)
        x.push_back(std::uniform_real_distribution<>(range.low, range.high)(random));
    }
    return all;
  }

  /// Within the width of the ranges.
  Numbers direction() {
    Numbers t;
    for (const Interval &range : ranges)
      t.push_back(std::uniform_real_distribution<>(-0.5, 0.5)(random) * (range.high - range.low));
    return t;
  }

  Numbers weights(size_t count) {
    Numbers g(count);
    for (double &x : g)
      x = std::uniform_real_distribution<>(-1, 1)(random);
    return g;
  }

  Formula formula;

private:
  const RuleCase &c;
  std::mt19937 random;
  std::vector<Interval> ranges;
};

Numbers moved(const Numbers &x, const Numbers &t, double by) {
  Numbers y = x;
  for (size_t i = 0; i < x.size(); ++i)
    y[i] += by * t[i];
  return y;
}

/// Derivative of f at 0 from central differences, twice extrapolated: exact to the sixth order.
template <typename Function>
Numbers slope(Function f) {
  constexpr double step = 2e-3;
  auto central = [&](double h) {
    Numbers up = f(h), down = f(-h);
    for (size_t i = 0; i < up.size(); ++i)
      up[i] = (up[i] - down[i]) / (2 * h);
    return up;
  };
  Numbers wide = central(step), middle = central(step / 2), narrow = central(step / 4);
  for (size_t i = 0; i < wide.size(); ++i) {
    double a = (4 * middle[i] - wide[i]) / 3, b = (4 * narrow[i] - middle[i]) / 3;
    narrow[i] = (16 * b - a) / 15;
  }
  return narrow;
}

double largest(const Numbers &x) {
  double most = 0;
  for (double v : x)
    most = std::isfinite(v) ? std::max(most, std::abs(v)) : INFINITY;
  return most;
}

double distance(const Numbers &x, const Numbers &y) {
  if (x.size() != y.size())
    return INFINITY;
  double most = 0;
  for (size_t i = 0; i < x.size(); ++i)
    most = std::isfinite(x[i] - y[i]) ? std::max(most, std::abs(x[i] - y[i])) : INFINITY;
  return most;
}

/// The scale of a sum of products, to which its error is relative.
double innerScale(const Numbers &x, const Numbers &y) {
  double sum = 0;
  for (size_t i = 0; i < x.size(); ++i)
    sum += std::abs(x[i] * y[i]);
  return sum;
}

std::string at(const RuleCase &c, const Numbers &x) {
  return c.text() + " at " + testing::PrintToString(x);
}

class Rules : public testing::TestWithParam<size_t> {
protected:
  const RuleCase &c = ruleCases()[GetParam()];
};

TEST_P(Rules, ExpansionHasTheValueOfTheOp) {
  CheckedFormula check(c);
  ASSERT_TRUE(check.formula.ready());
  for (const Numbers &x : check.points()) {
    Numbers value = check.formula.value(x), same = check.formula.expansion(x);
    EXPECT_LE(distance(value, same), 2e-14 * largest(value)) << at(c, x);
  }
}

TEST_P(Rules, TangentIsTheSlope) {
  CheckedFormula check(c);
  ASSERT_TRUE(check.formula.ready());
  for (const Numbers &x : check.points()) {
    Numbers t = check.direction(), tangent = check.formula.tangent(x, t);
    Numbers expected = slope([&](double h) { return check.formula.value(moved(x, t, h)); });
    // Beside x as well: a formula may be 0 there with all its slopes.
    double scale = std::max({largest(expected), largest(check.formula.value(x)),
                             largest(check.formula.value(moved(x, t, 0.1)))});
    EXPECT_LE(distance(tangent, expected), 1e-9 * scale)
        << at(c, x) << " along " << testing::PrintToString(t) << " is "
        << testing::PrintToString(tangent) << ", not " << testing::PrintToString(expected);
  }
}

TEST_P(Rules, TangentOfTheTangentIsItsSlope) {
  CheckedFormula check(c);
  ASSERT_TRUE(check.formula.ready());
  for (const Numbers &x : check.points()) {
    Numbers t = check.direction(), s = check.direction();
    Numbers second = check.formula.secondTangent(x, t, s);
    Numbers expected = slope([&](double h) { return check.formula.tangent(moved(x, s, h), t); });
    double scale = std::max(
        {largest(expected), largest(check.formula.tangent(x, t)), largest(check.formula.value(x))});
    EXPECT_LE(distance(second, expected), 1e-9 * scale)
        << at(c, x) << " is " << testing::PrintToString(second) << ", not "
        << testing::PrintToString(expected);
  }
}

TEST_P(Rules, AdjointIsTheTransposeOfTheTangent) {
  CheckedFormula check(c);
  ASSERT_TRUE(check.formula.ready());
  for (const Numbers &x : check.points()) {
    Numbers t = check.direction(), tangent = check.formula.tangent(x, t);
    Numbers g = check.weights(tangent.size()), adjoint = check.formula.adjoint(x, g);
    ASSERT_EQ(adjoint.size(), x.size());
    EXPECT_LE(std::abs(inner(g, tangent) - inner(adjoint, t)),
              1e-13 * (innerScale(g, tangent) + innerScale(adjoint, t)))
        << at(c, x);
  }
}

std::string nameOf(const testing::TestParamInfo<size_t> &info) {
  std::string name = ruleCases()[info.param].op + "_" + std::to_string(info.param);
  std::replace(name.begin(), name.end(), '.', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Every, Rules, testing::Range<size_t>(0, ruleCases().size()), nameOf);
} // namespace
