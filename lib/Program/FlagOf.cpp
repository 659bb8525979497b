#include "lib/Program/FlagOf.h"

#include "lib/Program/ParameterGroups.h"
#include "lib/Quantities/Quantity.h"

#include <algorithm>

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

} // namespace

std::string_view flagOf(std::string_view parameter) {
  for (const FromFile &row : fromFiles)
    if (row.parameter == parameter)
      return row.flag;
  for (const Quantity *row : allQuantities())
    if (row->more.parameter == parameter)
      return row->name();
  // A row may name a group; "scalars" and "all" are the name of none.
  for (const Quantity *row : allQuantities())
    if (const ParameterGroup *group = findGroup(row->more.parameter))
      if (std::ranges::find(group->members, parameter) != group->members.end())
        return row->name();
  return {};
}

} // namespace nanobragg
