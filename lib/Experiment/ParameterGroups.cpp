#include "lib/Experiment/ParameterGroups.h"

#include "lib/Experiment/ClosestWord.h"

#include <algorithm>
#include <stdexcept>

namespace nanobragg {
namespace {

std::vector<std::string_view> differentiable(bool (*wanted)(const Parameter &)) {
  std::vector<std::string_view> names;
  for (const Parameter &parameter : allParameters())
    if (parameter.differentiable && wanted(parameter))
      names.emplace_back(parameter.name);
  return names;
}

std::vector<ParameterGroup> makeGroups() {
  return {
      {"cell", "what defines the unit cell",
       {"cell_a", "cell_b", "cell_c", "cell_alpha", "cell_beta", "cell_gamma",
        "reciprocal_matrix"}},
      {"misset", "missetting rotations", {"misset_x", "misset_y", "misset_z"}},
      {"ncells", "size of the crystal", {"ncells_a", "ncells_b", "ncells_c"}},
      {"structure_factors", "structure factors", {"default_F", "F"}},
      {"grid", "structure factors on the grid", {"F"}},
      {"mosaic", "mosaic spread", {"mosaic_spread"}},
      {"goniometer", "spindle rotation", {"phi0", "osc"}},
      {"beam", "the beam's numbers",
       {"kahn_factor", "wavelength", "dispersion", "hdiv_range", "vdiv_range", "fluence"}},
      {"polarization", "polarization factor", {"kahn_factor"}},
      {"divergence", "divergence of the beam", {"hdiv_range", "vdiv_range"}},
      {"source", "the listed sources and the weight of each",
       {"source_direction", "source_wavelength", "source_weight"}},
      {"detector", "the detector's place",
       {"distance", "close_distance", "beam_center_fast", "beam_center_slow", "detector_rotx",
        "detector_roty", "detector_rotz", "twotheta"}},
      {"beam_center", "beam centre", {"beam_center_fast", "beam_center_slow"}},
      {"detector_rotation", "rotations of the detector",
       {"detector_rotx", "detector_roty", "detector_rotz"}},
      {"panels", "place and axes of each panel",
       {"panel_offset", "panel_fast_axis", "panel_slow_axis", "panel_normal"}},
      {"axes", "axes and directions",
       {"spindle_axis", "beam_direction", "polarization_axis", "fast_axis", "slow_axis",
        "normal_axis", "twotheta_axis"}},
      {"sensor", "absorption in the sensor", {"attenuation_depth", "sensor_thickness"}},
      {"water", "background", {"water_size"}},
      {"scalars", "every single number",
       differentiable([](const Parameter &p) { return p.kind == NB_PARAMETER_F64; })},
      {"all", "every number", differentiable([](const Parameter &) { return true; })},
  };
}

const ParameterGroup *findGroup(std::string_view name) {
  for (const ParameterGroup &group : parameterGroups())
    if (name == group.name)
      return &group;
  return nullptr;
}

/// Names that this variant would accept.
std::vector<std::string_view> acceptable(const ProgramVariant &variant) {
  std::vector<std::string_view> names;
  for (const Parameter *parameter : parametersOf(variant))
    if (parameter->differentiable)
      names.emplace_back(parameter->name);
  for (const ParameterGroup &group : parameterGroups())
    names.emplace_back(group.name);
  return names;
}

/// Among those that begin alike, if there are any, the name that is spelt most alike.
std::string_view suggestion(std::string_view name, const ProgramVariant &variant) {
  constexpr std::size_t beginning = 3;
  const std::vector<std::string_view> all = acceptable(variant);
  std::vector<std::string_view> alike = all;
  std::erase_if(alike, [&](std::string_view other) {
    return other.substr(0, beginning) != name.substr(0, beginning);
  });
  return closestWord(name, alike.empty() ? all : alike);
}

std::string quoted(std::string_view text) { return "'" + std::string(text) + "'"; }

/// The members of what `name` stands for that the variant uses.
std::vector<std::string_view> membersOf(std::string_view name, const ProgramVariant &variant) {
  const ParameterGroup *group = findGroup(name);
  const Parameter *single = findParameter(name);
  if (!group && !single)
    throw std::invalid_argument("unknown parameter " + quoted(name) + "; the closest is " +
                                quoted(suggestion(name, variant)));
  if (!group && !single->differentiable)
    throw std::invalid_argument(quoted(name) + " (" + single->meaning +
                                ") is a discrete choice and has no derivative; the closest that "
                                "has one is " +
                                quoted(suggestion(name, variant)));
  std::vector<std::string_view> members =
      group ? group->members : std::vector<std::string_view>{name};
  std::erase_if(members,
                [&](std::string_view member) { return !findParameter(member)->usedBy(variant); });
  if (members.empty())
    throw std::invalid_argument(
        (group ? "no parameter of the group " + quoted(name) + " is" : quoted(name) + " is not") +
        " used by this experiment; the closest that is: " + quoted(suggestion(name, variant)) +
        "; --list-parameters shows them all");
  return members;
}

} // namespace

std::span<const ParameterGroup> parameterGroups() {
  static const std::vector<ParameterGroup> groups = makeGroups();
  return groups;
}

std::vector<std::string> resolveParameters(std::string_view text, const ProgramVariant &variant) {
  std::vector<std::string_view> wanted;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string_view name = text.substr(begin, end - begin);
    if (name.empty())
      throw std::invalid_argument("an empty name among the parameters " + quoted(text));
    for (std::string_view member : membersOf(name, variant))
      wanted.push_back(member);
    begin = end + 1;
  }
  std::vector<std::string> ordered;
  for (const Parameter &parameter : allParameters())
    if (std::find(wanted.begin(), wanted.end(), parameter.name) != wanted.end())
      ordered.emplace_back(parameter.name);
  return ordered;
}

} // namespace nanobragg
