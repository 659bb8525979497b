#include "lib/Program/ParameterGroups.h"

#include "lib/Quantities/ClosestWord.h"

#include <algorithm>
#include <iterator>
#include <stdexcept>
#include <utility>

namespace nanobragg {
namespace {

struct Group {
  const char *name, *meaning;
  /// Null: the rows of the parameter table that name the group.
  bool (*has)(const Parameter &) = nullptr;
};

constexpr Group groups[] = {
    {"cell", "what defines the unit cell"},
    {"misset", "missetting rotations"},
    {"ncells", "size of the crystal"},
    {"structure_factors", "structure factors"},
    {"grid", "structure factors on the grid"},
    {"anomalous", "f' and f'' of anomalous scatterers"},
    {"mosaic", "mosaic spread"},
    {"goniometer", "spindle rotation"},
    {"beam", "the beam's numbers"},
    {"polarization", "polarization factor"},
    {"divergence", "divergence of the beam"},
    {"source", "the listed sources and the weight of each"},
    {"detector", "the detector's place"},
    {"beam_center", "beam centre"},
    {"detector_rotation", "rotations of the detector"},
    {"panels", "place and axes of each panel"},
    {"axes", "axes and directions"},
    {"sensor", "absorption in the sensor"},
    {"diffuse", "diffuse scattering"},
    {"water", "background of -water"},
    {"background", "background of tables"},
    {"scalars", "every single number",
     [](const Parameter &p) { return p.differentiable() && p.kind() == NB_PARAMETER_F64; }},
    {"all", "every number", [](const Parameter &p) { return p.differentiable(); }},
};

/// Is the word one of those in the text?
bool hasWord(std::string_view text, std::string_view word) {
  for (std::size_t at = 0; (at = text.find(word, at)) != text.npos; at += word.size())
    if ((at == 0 || text[at - 1] == ' ') &&
        (at + word.size() == text.size() || text[at + word.size()] == ' '))
      return true;
  return false;
}

std::vector<ParameterGroup> makeGroups() {
  std::vector<ParameterGroup> made;
  for (const Group &group : groups) {
    made.push_back({group.name, group.meaning, {}});
    for (const Parameter &parameter : allParameters())
      if (group.has ? group.has(parameter) : hasWord(parameter.groups, group.name))
        made.back().members.emplace_back(parameter.name);
  }
  return made;
}

/// Names that this variant would accept.
std::vector<std::string_view> acceptable(const ProgramVariant &variant) {
  std::vector<std::string_view> names;
  for (const Parameter *parameter : parametersOf(variant))
    if (parameter->differentiable())
      names.emplace_back(parameter->name);
  for (const ParameterGroup &group : parameterGroups())
    names.emplace_back(group.name);
  return names;
}

/// Other words for parameters and groups.
constexpr std::pair<std::string_view, std::string_view> synonyms[] = {
    {"energy", "wavelength"},        {"lambda", "wavelength"},       {"N", "ncells"},
    {"mosaic", "mosaic_spread"},     {"mosaicity", "mosaic_spread"}, {"flux", "fluence"},
    {"orientation", "misset"},       {"rotation", "misset"},         {"pixel", "pixel_size"},
    {"bandwidth", "bandwidth_sigma"}};

std::string quoted(std::string_view text) { return "'" + std::string(text) + "'"; }

/// The members of what `name` stands for that the variant uses.
std::vector<std::string_view> membersOf(std::string_view name, const ProgramVariant &variant) {
  const ParameterGroup *group = findGroup(name);
  const Parameter *single = findParameter(name);
  if (!group && !single)
    throw UnknownParameter("unknown parameter " + quoted(name) +
                           closestParameter(name, acceptable(variant)));
  if (!group && !single->differentiable())
    throw std::invalid_argument(quoted(name) + " (" + single->meaning +
                                ") is a discrete choice and has no derivative");
  std::vector<std::string_view> members =
      group ? group->members : std::vector<std::string_view>{name};
  std::erase_if(members,
                [&](std::string_view member) { return !findParameter(member)->isUsedBy(variant); });
  if (members.empty())
    throw std::invalid_argument(
        (group ? "no parameter of the group " + quoted(name) + " is" : quoted(name) + " is not") +
        " used by this experiment; --list-parameters shows those that are");
  return members;
}

} // namespace

std::string closestParameter(std::string_view name, std::span<const std::string_view> candidates) {
  std::string_view closest;
  if (const auto word =
          std::ranges::find(synonyms, name, &std::pair<std::string_view, std::string_view>::first);
      word != std::end(synonyms) && std::ranges::find(candidates, word->second) != candidates.end())
    closest = word->second;
  if (closest.empty()) { // among those that begin alike, if there are any
    constexpr std::size_t beginning = 3;
    std::vector<std::string_view> alike;
    std::ranges::copy_if(candidates, std::back_inserter(alike), [&](std::string_view other) {
      return other.substr(0, beginning) == name.substr(0, beginning);
    });
    closest = closestWord(name, alike.empty() ? candidates : alike);
    if (alike.empty() && editDistance(name, closest) > std::max<std::size_t>(2, name.size() / 2))
      return {};
  }
  return "; the closest is " + quoted(closest);
}

std::span<const ParameterGroup> parameterGroups() {
  static const std::vector<ParameterGroup> all = makeGroups();
  return all;
}

const ParameterGroup *findGroup(std::string_view name) {
  for (const ParameterGroup &group : parameterGroups())
    if (name == group.name)
      return &group;
  return nullptr;
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
