#include "lib/Program/FlagOf.h"

#include "lib/Program/ParameterGroups.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>
#include <vector>

namespace nanobragg {
namespace {

struct FromFile {
  std::string_view parameter, flag;
};

/// Parameters whose numbers stand in a file.
constexpr FromFile fromFiles[] = {{"F", "-hkl"},
                                  {"reciprocal_matrix", "-mat"},
                                  {"source_direction", "-sourcefile"},
                                  {"source_wavelength", "-sourcefile"},
                                  {"mask", "-mask"},
                                  {"gain_map", "-gain_map"},
                                  {"panel_offset", "--geom"},
                                  {"panel_fast_axis", "--geom"},
                                  {"panel_slow_axis", "--geom"},
                                  {"panel_normal", "--geom"},
                                  {"background_F", "-stol"},
                                  {"background_thickness", "-thickness"},
                                  {"background_density", "-density"},
                                  {"background_molar_mass", "-MW"}};

/// Parameters of files whose numbers are those of a flag.
constexpr std::pair<std::string_view, std::string_view> alike[] = {{"source_wavelength", "-lambda"},
                                                                   {"panel_offset", "-Xbeam"}};

PlaceInQuantity find(std::string_view parameter) {
  for (const FromFile &row : fromFiles)
    if (row.parameter == parameter) {
      const auto other = std::ranges::find(alike, parameter, [](const auto &a) { return a.first; });
      return {other == std::end(alike) ? nullptr : findQuantity(other->second), 0};
    }
  for (const Quantity *row : allQuantities())
    if (row->more.parameter == parameter)
      return {row, 0};
  // Rows may name a group, whose members are their numbers in this order; "scalars" and "all" are
  // the name of none. A row of fields that an earlier row has, as -Na after -N, adds none.
  for (const ParameterGroup &group : parameterGroups()) {
    const auto member = std::ranges::find(group.members, parameter);
    if (member == group.members.end())
      continue;
    auto index = std::size_t(member - group.members.begin());
    std::vector<const Field *> seen;
    for (const Quantity *row : allQuantities()) {
      if (row->more.parameter != group.name ||
          std::ranges::find(seen, row->fields[0]) != seen.end())
        continue;
      std::size_t count = 0;
      for (const Field *field : row->fields)
        if (field) {
          seen.push_back(field);
          count += field->size;
        }
      if (index < count)
        return {row, index};
      index -= count;
    }
  }
  return {};
}

} // namespace

PlaceInQuantity quantityOfParameter(std::string_view parameter) {
  static const auto places = [] {
    std::map<std::string_view, PlaceInQuantity> all;
    for (const Parameter &p : allParameters())
      all.emplace(p.name, find(p.name));
    return all;
  }();
  const auto place = places.find(parameter);
  return place == places.end() ? PlaceInQuantity{} : place->second;
}

std::string_view flagOf(std::string_view parameter) {
  for (const FromFile &row : fromFiles)
    if (row.parameter == parameter)
      return row.flag;
  const PlaceInQuantity place = quantityOfParameter(parameter);
  return place.row ? place.row->name() : std::string_view();
}

} // namespace nanobragg
