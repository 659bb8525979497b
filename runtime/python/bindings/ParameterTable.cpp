#include "runtime/python/bindings/ParameterTable.h"

#include "lib/Program/ParameterGroups.h"

namespace nanobragg::python {

Shape imageShape(const Experiment &experiment) {
  const Detector &d = experiment.detector;
  Shape shape;
  // Listed pixels of all panels are rows of one image.
  if (!d.panels.empty() && !experiment.variant.pixelList)
    shape.push_back(d.panels.size());
  shape.push_back(std::size_t(d.slowPixels));
  shape.push_back(std::size_t(d.fastPixels));
  return shape;
}

Shape shapeOf(const Experiment &experiment, const Parameter &parameter) {
  const auto entries = [&] { return parameter.place.numbers(experiment).entries; };
  switch (parameter.kind()) {
  case NB_PARAMETER_VEC3:
    return {3};
  case NB_PARAMETER_MAT3:
    return {3, 3};
  case NB_PARAMETER_TABLE_F64:
    return {entries()};
  case NB_PARAMETER_TABLE_VEC3:
    return {entries(), 3};
  case NB_PARAMETER_HKL_GRID: {
    const nb_hkl_grid g = parameter.place.grid(experiment);
    if (!g.data)
      return {0, 0, 0};
    return {std::size_t(g.h_max - g.h_min + 1), std::size_t(g.k_max - g.k_min + 1),
            std::size_t(g.l_max - g.l_min + 1)};
  }
  case NB_PARAMETER_MASK:
  case NB_PARAMETER_IMAGE:
    return imageShape(experiment);
  case NB_PARAMETER_F64:
  case NB_PARAMETER_INDEX:
    return {};
  }
  throw std::logic_error("parameter '" + std::string(parameter.name) + "' is of no known kind");
}

std::vector<const Parameter *> named(const Experiment &experiment, std::string_view name) {
  const ProgramVariant &variant = experiment.variant;
  std::vector<const Parameter *> found;
  if (const ParameterGroup *group = findGroup(name)) {
    for (std::string_view member : group->members)
      if (const Parameter *p = findParameter(member); p->isUsedBy(variant))
        found.push_back(p);
  } else if (const Parameter *p = findParameter(name); p && p->isUsedBy(variant)) {
    found.push_back(p);
  }
  if (!found.empty())
    return found;
  std::vector<std::string_view> candidates;
  for (const Parameter *p : parametersOf(variant))
    candidates.emplace_back(p->name);
  for (const ParameterGroup &group : parameterGroups())
    candidates.emplace_back(group.name);
  const std::string quoted = "'" + std::string(name) + "'";
  if (findParameter(name) || findGroup(name))
    throw UnknownName("this experiment does not use the parameter " + quoted +
                      "; sim.parameters lists those that it uses");
  throw UnknownName("there is no parameter " + quoted + closestParameter(name, candidates) +
                    "; sim.parameters lists them all");
}

std::string shapeText(const Shape &shape) {
  std::string text = "(";
  for (std::size_t i = 0; i != shape.size(); ++i)
    text += (i ? ", " : "") + std::to_string(shape[i]);
  return text + (shape.size() == 1 ? ",)" : ")");
}

} // namespace nanobragg::python
