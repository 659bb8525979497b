// The words in which rows of the table of parameters are written.
#ifndef NANOBRAGG_PROGRAM_PARAMETERROWS_H
#define NANOBRAGG_PROGRAM_PARAMETERROWS_H

#include "lib/Program/Parameters.h"

#include <concepts>
#include <stdexcept>
#include <type_traits>
#include <utility>

namespace nanobragg {

std::span<const Parameter> crystalParameters();
std::span<const Parameter> goniometerParameters();
std::span<const Parameter> beamParameters();
std::span<const Parameter> detectorParameters();
std::span<const Parameter> sampleParameters();
std::span<const Parameter> averageParameters();

/// The place of a field of the experiment, such as AT(crystal.cellA). Its type says the kind.
#define AT(field) placeOf([](auto &experiment) -> auto & { return experiment.field; })
/// The same of numbers that programs look up by pixel: a grid along l.
#define AT_LIST(field) placeOfList([](auto &experiment) -> auto & { return experiment.field; })
/// The place of a table of which each panel has an entry, such as AT_PANELS(offset).
#define AT_PANELS(field) placeOfPanels([](auto &panel) -> auto & { return panel.field; })
/// The place of a count that a function of the experiment says, such as COUNT(sourceCount).
#define COUNT(function) placeOfCount([](const Experiment &e) { return e.function(); })

constexpr NeutralValue neutral(double value) {
  return {NeutralValue::Rule::Numbers, {value}, 1, nullptr};
}
constexpr NeutralValue neutral(double x, double y, double z) {
  return {NeutralValue::Rule::Numbers, {x, y, z}, 3, nullptr};
}
constexpr NeutralValue lastOf(const char *count) {
  return {NeutralValue::Rule::LastOf, {}, 0, count};
}
constexpr NeutralValue oneOver(const char *count) {
  return {NeutralValue::Rule::OneOver, {}, 0, count};
}

/// Programs that use a parameter.
inline bool hasBandwidth(const ProgramVariant &v) { return v.bandwidth != Bandwidth::None; }
inline bool losesCounts(const ProgramVariant &v) { return v.countingLoss; }

/// Conditions of what moves the reflections.
inline constexpr DeadConditions movesSpots = {&dead::noImage, &dead::flatSpots};

/// The kind of a field by its type.
template <typename Field>
constexpr nb_parameter_kind kindOf() {
  if constexpr (std::same_as<Field, double>)
    return NB_PARAMETER_F64;
  else if constexpr (std::same_as<Field, Vec3>)
    return NB_PARAMETER_VEC3;
  else if constexpr (std::same_as<Field, Mat3>)
    return NB_PARAMETER_MAT3;
  else if constexpr (std::same_as<Field, std::vector<double>>)
    return NB_PARAMETER_TABLE_F64;
  else if constexpr (std::same_as<Field, std::vector<Vec3>>)
    return NB_PARAMETER_TABLE_VEC3;
  else if constexpr (std::same_as<Field, PixelMap>)
    return NB_PARAMETER_IMAGE;
  else {
    static_assert(std::same_as<Field, std::shared_ptr<const HklGrid>> ||
                      std::same_as<Field, NumberList>,
                  "no kernel takes such a field");
    return NB_PARAMETER_HKL_GRID;
  }
}

/// The numbers of a field. `Number` is double or const double, as the field is const or not.
template <typename Number, typename Field>
Numbers<Number> numbersOf(Field &field) {
  constexpr nb_parameter_kind kind = kindOf<std::remove_const_t<Field>>();
  if constexpr (kind == NB_PARAMETER_F64)
    return {&field, 1, 1, 1};
  else if constexpr (kind == NB_PARAMETER_VEC3 || kind == NB_PARAMETER_MAT3)
    return {field.data(), 1, field.size(), field.size()};
  else if constexpr (kind == NB_PARAMETER_TABLE_F64)
    return {field.data(), field.size(), 1, 1};
  else if constexpr (kind == NB_PARAMETER_IMAGE)
    return {field.values.empty() ? nullptr : field.values.data(), field.values.size(), 1, 1};
  else if constexpr (kind == NB_PARAMETER_TABLE_VEC3)
    return {field.empty() ? nullptr : field.front().data(), field.size(), 3, 3};
  else if constexpr (std::same_as<std::remove_const_t<Field>, NumberList>)
    return {field.values.empty() ? nullptr : field.values.data(), field.values.size(), 1, 1};
  else if (!field)
    return {};
  else // who asks for numbers to be changed has made the grid its own
    return {const_cast<Number *>(field->values.data()), field->values.size(), 1, 1};
}

inline nb_hkl_grid gridOf(const std::shared_ptr<const HklGrid> &grid) {
  if (!grid)
    return {};
  if (std::ssize(grid->values) > mostGridNodes)
    throw std::invalid_argument("the structure factors have a box of 2^31 Miller indices or more, "
                                "counted over all energies; give them to a lower resolution");
  return {grid->hMin, grid->hMax, grid->kMin,         grid->kMax,
          grid->lMin, grid->lMax, grid->values.data()};
}
inline nb_hkl_grid gridOf(const std::vector<double> &list) {
  if (list.empty())
    return {};
  return {0, 0, 0, 0, 0, std::int64_t(list.size()) - 1, list.data()};
}
inline nb_hkl_grid gridOf(const NumberList &list) { return gridOf(list.values); }

template <typename Get>
constexpr ParameterPlace placeOf(Get) {
  using Field = std::remove_cvref_t<decltype(Get()(std::declval<Experiment &>()))>;
  ParameterPlace place{};
  if constexpr (std::same_as<Field, std::int64_t>) {
    place.kind = NB_PARAMETER_INDEX;
    place.index = [](const Experiment &e) { return Get()(e); };
  } else if constexpr (std::same_as<Field, std::vector<std::uint8_t>>) {
    place.kind = NB_PARAMETER_MASK;
    place.mask = [](const Experiment &e) { return std::span<const std::uint8_t>(Get()(e)); };
  } else {
    place.kind = kindOf<Field>();
    place.numbers = [](const Experiment &e) { return numbersOf<const double>(Get()(e)); };
    place.mutableNumbers = [](Experiment &e) { return numbersOf<double>(Get()(e)); };
    if constexpr (kindOf<Field>() == NB_PARAMETER_HKL_GRID)
      place.grid = [](const Experiment &e) { return gridOf(Get()(e)); };
  }
  return place;
}

template <typename Get>
constexpr ParameterPlace placeOfList(Get) {
  ParameterPlace place = placeOf(Get());
  place.kind = NB_PARAMETER_HKL_GRID;
  place.grid = [](const Experiment &e) { return gridOf(Get()(e)); };
  return place;
}

template <typename Get>
constexpr ParameterPlace placeOfPanels(Get) {
  constexpr std::size_t stride = sizeof(Panel) / sizeof(double);
  static_assert(sizeof(Panel) % sizeof(double) == 0);
  ParameterPlace place{};
  place.kind = NB_PARAMETER_TABLE_VEC3;
  place.numbers = [](const Experiment &e) -> Numbers<const double> {
    const std::vector<Panel> &panels = e.detector.panels;
    return {panels.empty() ? nullptr : Get()(panels.front()).data(), panels.size(), 3, stride};
  };
  place.mutableNumbers = [](Experiment &e) -> Numbers<double> {
    std::vector<Panel> &panels = e.detector.panels;
    return {panels.empty() ? nullptr : Get()(panels.front()).data(), panels.size(), 3, stride};
  };
  return place;
}

template <typename Get>
constexpr ParameterPlace placeOfCount(Get) {
  ParameterPlace place{};
  place.kind = NB_PARAMETER_INDEX;
  place.index = [](const Experiment &e) { return Get()(e); };
  return place;
}

} // namespace nanobragg
#endif
