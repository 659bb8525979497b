#include "tools/nb-gradcheck/Variations.h"

#include "lib/Program/FlagOf.h"
#include "lib/Program/ParameterElements.h"

#include <algorithm>
#include <cmath>
#include <random>

namespace nanobragg {
namespace {

/// The scale of a large change of a parameter: a radian of an angle that may be any, or its
/// largest number.
double scaleOf(const Parameter &parameter, std::span<const double> values) {
  const std::string_view unit = parameter.unit;
  const Quantity *quantity = quantityOfParameter(parameter.name).row;
  const bool bounded = quantity && std::isfinite(quantity->range.low);
  if (unit == "rad" && !bounded && parameter.possible == Possible::Any)
    return 1;
  double largest = 0;
  for (double value : values)
    if (std::isfinite(value))
      largest = std::max(largest, std::fabs(value));
  if (unit == "rad")
    largest = std::min(largest, 1.0);
  // A beam centre or an offset at zero moves by a part of a detector.
  return largest > 0 ? largest : unit == "m" ? 1e-2 : 1;
}

CheckedDirection alongElement(const Simulator &simulator, const Parameter &parameter,
                              std::span<const double> values, std::size_t index) {
  std::vector<double> unit(values.size());
  unit[index] = 1;
  return {elementName(simulator.experiment(), parameter, index),
          parameter.unit,
          scaleOf(parameter, values),
          {{parameter.name, std::move(unit)}}};
}

/// Different ones for different parameters.
std::uint64_t seedFor(std::uint64_t seed, std::string_view name) {
  for (char c : name)
    seed = (seed ^ std::uint64_t(c)) * 0x100000001b3;
  return seed;
}

} // namespace

std::vector<double> randomNumbers(std::size_t count, std::uint64_t seed) {
  std::mt19937_64 engine(seed);
  std::vector<double> numbers(count);
  for (double &number : numbers)
    number = double(engine() >> 11) * 0x1p-52 - 1;
  return numbers;
}

std::vector<CheckedDirection> directionsOf(const Simulator &simulator,
                                           std::span<const std::string> parameters,
                                           std::size_t most, std::uint64_t seed) {
  std::vector<CheckedDirection> directions;
  for (const std::string &name : parameters) {
    const Parameter &parameter = *findParameter(name);
    const std::vector<double> values = simulator.get(name);
    std::vector<std::size_t> indices;
    if (values.size() <= most) {
      for (std::size_t i = 0; i != values.size(); ++i)
        indices.push_back(i);
    } else {
      std::mt19937_64 engine(seedFor(seed, name));
      while (indices.size() < std::max<std::size_t>(most, 1) - 1)
        if (const std::size_t i = engine() % values.size();
            std::find(indices.begin(), indices.end(), i) == indices.end())
          indices.push_back(i);
    }
    for (std::size_t index : indices)
      directions.push_back(alongElement(simulator, parameter, values, index));
    if (values.size() > most) {
      directions.push_back({name + " along a random direction",
                            parameter.unit,
                            scaleOf(parameter, values),
                            {{name, randomNumbers(values.size(), seedFor(seed, name))}}});
    }
  }
  return directions;
}

CheckedDirection randomDirection(const Simulator &simulator,
                                 std::span<const std::string> parameters, std::uint64_t seed) {
  CheckedDirection direction = {"a random direction", "1", 1, {}};
  for (const std::string &name : parameters) {
    const std::vector<double> values = simulator.get(name);
    std::vector<double> change = randomNumbers(values.size(), seedFor(seed, name));
    for (double &number : change)
      number *= scaleOf(*findParameter(name), values);
    direction.numbers.push_back({name, std::move(change)});
  }
  return direction;
}

Variation variationOf(Simulator &simulator, const CheckedDirection &direction) {
  Variation variation;
  variation.name = direction.name;
  variation.scale = direction.scale;
  // Where it stands unmoved is looked up when it leaves: another variation may have moved the same
  // numbers.
  variation.move = [&simulator, direction,
                    unmoved = std::vector<std::vector<double>>()](double t) mutable {
    if (unmoved.empty())
      for (const Direction &change : direction.numbers)
        unmoved.push_back(simulator.get(change.parameter));
    double moved = t;
    std::size_t changed = 0;
    for (std::size_t k = 0; k != unmoved.size(); ++k) {
      const Direction &change = direction.numbers[k];
      std::vector<double> values = unmoved[k];
      bool aboutZero = false; // where a range may end, of which the difference needs both sides
      for (std::size_t i = 0; i != values.size(); ++i) {
        if (change.values[i] == 0)
          continue;
        aboutZero |= values[i] == 0;
        values[i] += t * change.values[i];
        // The difference of neighbours is exact, and the step that was meant is not always one.
        moved = (values[i] - unmoved[k][i]) / change.values[i];
        ++changed;
      }
      if (aboutZero)
        simulator.setBeyondRange(change.parameter, values);
      else
        simulator.set(change.parameter, values);
    }
    if (t == 0)
      unmoved.clear();
    return changed == 1 ? moved : t;
  };
  return variation;
}

} // namespace nanobragg
