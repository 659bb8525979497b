// The words in which rows of the table of quantities are written.
#ifndef NANOBRAGG_QUANTITIES_QUANTITYROWS_H
#define NANOBRAGG_QUANTITIES_QUANTITYROWS_H

#include "lib/Experiment/Units.h"
#include "lib/Experiment/Words.h"
#include "lib/Quantities/Quantity.h"

#include <type_traits>

namespace nanobragg {

template <typename T>
struct FieldType; // the content of a field, and how numbers become it

template <>
struct FieldType<double> {
  static constexpr auto kind = Field::Kind::Number;
  static constexpr std::size_t size = 1;
  static double from(std::span<const double> x) { return x[0]; }
  static std::vector<double> numbers(double x) { return {x}; }
};
template <>
struct FieldType<std::int64_t> {
  static constexpr auto kind = Field::Kind::Whole;
  static constexpr std::size_t size = 1;
  static std::int64_t from(std::span<const double> x) { return std::int64_t(x[0]); }
  static std::vector<double> numbers(std::int64_t x) { return {double(x)}; }
};
template <std::size_t n>
struct FieldType<std::array<double, n>> {
  static constexpr auto kind = Field::Kind::Number;
  static constexpr std::size_t size = n;
  static std::array<double, n> from(std::span<const double> x) {
    std::array<double, n> all{};
    for (std::size_t i = 0; i != n; ++i)
      all[i] = x[i];
    return all;
  }
  static std::vector<double> numbers(const std::array<double, n> &x) {
    return {x.begin(), x.end()};
  }
};
/// Bounds of a region; a negative one is none.
template <std::size_t n>
struct FieldType<std::array<std::optional<std::int64_t>, n>> {
  using Bounds = std::array<std::optional<std::int64_t>, n>;
  static constexpr auto kind = Field::Kind::Whole;
  static constexpr std::size_t size = n;
  static Bounds from(std::span<const double> x) {
    Bounds bounds;
    for (std::size_t i = 0; i != n; ++i)
      if (x[i] >= 0)
        bounds[i] = std::int64_t(x[i]);
    return bounds;
  }
  static std::vector<double> numbers(const Bounds &bounds) {
    std::vector<double> all;
    for (const auto &bound : bounds)
      all.push_back(double(bound.value_or(-1)));
    return all;
  }
};
template <typename Choice>
  requires std::is_enum_v<Choice> || std::is_same_v<Choice, bool>
struct FieldType<Choice> {
  static constexpr auto kind = Field::Kind::Choice;
  static constexpr std::size_t size = 1;
  static Choice from(std::span<const double> x) { return static_cast<Choice>(int(x[0])); }
  static std::vector<double> numbers(Choice x) { return {double(int(x))}; }
};

template <typename T>
struct Unwrapped {
  using Type = T;
};
template <typename T>
struct Unwrapped<std::optional<T>> {
  using Type = T;
};

template <typename T>
T &memberOf(T Options::*);

template <auto member>
inline constexpr Field fieldOf = [] {
  using T = std::remove_reference_t<decltype(memberOf(member))>;
  using Value = typename Unwrapped<T>::Type;
  using Type = FieldType<Value>;
  Field field;
  field.kind = Type::kind;
  field.size = Type::size;
  if constexpr (Type::kind == Field::Kind::Choice)
    field.words = wordsOf<Value>;
  field.in = [](const Options &o) -> const void * { return &(o.*member); };
  field.set = [](Options &o, std::span<const double> numbers) { o.*member = Type::from(numbers); };
  field.unset = [](Options &o) { o.*member = Options{}.*member; };
  field.get = [](const Options &o) -> std::vector<double> {
    if constexpr (std::is_same_v<T, Value>)
      return Type::numbers(o.*member);
    else
      return o.*member ? Type::numbers(*(o.*member)) : std::vector<double>{};
  };
  return field;
}();

/// Fields of Options as the table has them: `in<&Options::hdivRange, &Options::vdivRange>`.
template <auto... members>
inline constexpr std::array<const Field *, 3> in = {&fieldOf<members>...};

/// A number that a user counts, from 0.
constexpr Range upTo(double most) { return Range::between(0, most); }
inline constexpr Range seeds = Range::between(-2147483647, 2147483647);

std::string zeroVector(std::span<const double> vector);

} // namespace nanobragg
#endif
