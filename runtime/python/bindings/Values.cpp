// Numbers of a simulator: read, set, listed.
#include "lib/Program/ParameterElements.h"
#include "lib/Program/ParameterGroups.h"
#include "lib/Program/PossibleValues.h"
#include "runtime/python/bindings/ParameterTable.h"
#include "runtime/python/bindings/SimulatorClass.h"

#include <nanobind/stl/array.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

namespace nanobragg::python {

void setChecked(Simulator &simulator, const Parameter &parameter, std::span<const double> values) {
  checkUnits(parameter.name, parameter.name, values, nanobragg::Caller::Python);
  checkPossible(parameter.name, values.data(), std::int64_t(values.size()));
  simulator.set(parameter.name, values);
}

void checkCell(const Simulator &simulator) {
  const Experiment &e = simulator.experiment();
  if (e.variant.cellSource != CellSource::Matrix)
    checkCellAngles(e.crystal.cellAlpha, e.crystal.cellBeta, e.crystal.cellGamma);
}

nb::object asPython(std::vector<double> values, const Shape &shape) {
  if (shape.empty())
    return nb::float_(values.at(0));
  return nb::cast(takeVector(std::move(values), shape));
}

void addChanges(const Experiment &experiment, const std::string &name, const Doubles &value,
                std::vector<Change> &changes) {
  const std::vector<const Parameter *> members = named(experiment, name);
  const auto refuse = [&](const Shape &wanted) {
    Shape given;
    for (std::size_t i = 0; i != value.ndim(); ++i)
      given.push_back(value.shape(i));
    throw std::invalid_argument("'" + name + "' has shape " + shapeText(wanted) +
                                ", but the array has shape " + shapeText(given));
  };
  for (const Parameter *p : members)
    if (!p->place.mutableNumbers)
      throw std::invalid_argument("'" + std::string(p->name) + "' (" + p->meaning +
                                  ") belongs to the experiment as it was made and cannot be set; "
                                  "make another simulator");
  const bool group = findGroup(name);
  Shape wanted = group ? Shape{members.size()} : shapeOf(experiment, *members.front());
  if (group)
    for (const Parameter *p : members)
      if (p->kind() != NB_PARAMETER_F64)
        throw std::invalid_argument("the group '" + name + "' has '" + p->name +
                                    "', which is not one number: set its members one by one");
  bool same = value.ndim() == wanted.size();
  for (std::size_t i = 0; same && i != wanted.size(); ++i)
    same = value.shape(i) == wanted[i];
  if (!same)
    refuse(wanted);
  for (const Parameter *p : members)
    if (std::ranges::any_of(changes, [&](const Change &c) { return c.parameter == p; }))
      throw std::invalid_argument("'" + std::string(p->name) +
                                  "' is given twice, also as a member of a group");
  if (!group) {
    changes.push_back({members.front(), {value.data(), value.data() + value.size()}});
    return;
  }
  for (std::size_t i = 0; i != members.size(); ++i)
    changes.push_back({members[i], {value.data()[i]}});
}

namespace {

nb::object valueOf(const PythonSimulator &self, const Parameter &parameter) {
  const Experiment &experiment = self.simulator.experiment();
  if (parameter.place.index)
    return nb::int_(parameter.place.index(experiment));
  if (parameter.place.mask) {
    const std::span<const std::uint8_t> mask = parameter.place.mask(experiment);
    return nb::cast(
        takeVector(std::vector<std::uint8_t>(mask.begin(), mask.end()), imageShape(experiment)));
  }
  return asPython(self.use([&](Simulator &s) { return s.get(parameter.name); }),
                  shapeOf(experiment, parameter));
}

nb::object get(const PythonSimulator &self, const std::string &name) {
  const Experiment &experiment = self.simulator.experiment();
  const std::vector<const Parameter *> members = named(experiment, name);
  if (!findGroup(name))
    return valueOf(self, *members.front());
  std::vector<double> values;
  for (const Parameter *p : members) {
    if (p->kind() != NB_PARAMETER_F64)
      throw std::invalid_argument("the group '" + name + "' has '" + p->name +
                                  "', which is not one number: ask for its members one by one");
    values.push_back(self.use([&](Simulator &s) { return s.get(p->name).at(0); }));
  }
  const Shape shape{values.size()};
  return nb::cast(takeVector(std::move(values), shape));
}

/// All of them, or when one is impossible none. Sentences about values that may lack their unit.
std::vector<std::string> setAll(PythonSimulator &self,
                                const std::vector<std::pair<std::string, Doubles>> &given) {
  std::vector<Change> changes;
  std::vector<std::string> doubtful;
  for (const auto &[name, value] : given)
    addChanges(self.simulator.experiment(), name, value, changes);
  for (const Change &c : changes) {
    const std::string name = c.parameter->name;
    if (auto sentence = checkUnits(name, name, c.values, nanobragg::Caller::Python))
      doubtful.push_back(std::move(*sentence));
    checkPossible(name, c.values.data(), std::int64_t(c.values.size()));
  }
  self.use([&](Simulator &s) {
    std::vector<Change> before;
    before.reserve(changes.size());
    for (const Change &c : changes)
      before.push_back({c.parameter, s.get(c.parameter->name)});
    for (const Change &c : changes)
      s.set(c.parameter->name, c.values);
    try {
      checkCell(s);
    } catch (...) {
      for (auto c = before.rbegin(); c != before.rend(); ++c)
        s.set(c->parameter->name, c->values);
      throw;
    }
    return ++self.version;
  });
  return doubtful;
}

nb::list table(const PythonSimulator &self) {
  nb::list rows;
  const Experiment &experiment = self.simulator.experiment();
  for (const Parameter *p : parametersOf(experiment.variant)) {
    nb::list shape;
    for (std::size_t n : shapeOf(experiment, *p))
      shape.append(n);
    rows.append(nb::make_tuple(p->name, p->unit, p->meaning, p->differentiable(), nb::tuple(shape),
                               p->groups));
  }
  return rows;
}

nb::object structureFactors(const PythonSimulator &self) {
  const auto grid = self.use([](Simulator &s) { return s.experiment().crystal.grid; });
  if (!grid)
    return nb::none();
  // Not of the simulator: another thread may be giving it other ones.
  const Shape shape{std::size_t(grid->hMax - grid->hMin + 1),
                    std::size_t(grid->kMax - grid->kMin + 1),
                    std::size_t(grid->lMax - grid->lMin + 1)};
  return nb::make_tuple(takeVector(std::vector<double>(grid->values), shape),
                        nb::make_tuple(grid->hMin, grid->kMin, grid->lMin));
}

void setStructureFactors(PythonSimulator &self, const Doubles &values,
                         std::array<std::int64_t, 3> lowest) {
  if (values.ndim() != 3 || values.size() == 0)
    throw std::invalid_argument("structure factors are an array of three dimensions, h, k and l, "
                                "which is not empty");
  const auto last = [&](std::size_t i) { return lowest[i] + std::int64_t(values.shape(i)) - 1; };
  const nb_hkl_grid grid{lowest[0], last(0), lowest[1], last(1), lowest[2], last(2), values.data()};
  self.use([&](Simulator &s) {
    s.setStructureFactors(grid);
    return ++self.version;
  });
}

} // namespace

void bindValues(SimulatorClass &simulator) {
  simulator.def("get", &get, nb::arg("name"))
      .def(
          "set",
          [](PythonSimulator &self, const nb::dict &values) {
            std::vector<std::pair<std::string, Doubles>> given;
            for (auto [key, value] : values)
              given.emplace_back(nb::cast<std::string>(key), nb::cast<Doubles>(value));
            return setAll(self, given);
          },
          nb::arg("values"), "Sets parameters; sentences about values that may lack their unit.")
      .def("table", &table)
      .def("groups",
           [](const PythonSimulator &self) {
             nb::dict groups;
             for (const ParameterGroup &g : parameterGroups()) {
               nb::list members;
               for (std::string_view m : g.members)
                 if (findParameter(m)->isUsedBy(self.simulator.experiment().variant))
                   members.append(nb::str(m.data(), m.size()));
               groups[g.name] = nb::make_tuple(g.meaning, members);
             }
             return groups;
           })
      .def("members",
           [](const PythonSimulator &self, const std::string &name) {
             nb::list all;
             for (const Parameter *p : named(self.simulator.experiment(), name))
               all.append(nb::make_tuple(p->name,
                                         nb::cast(shapeOf(self.simulator.experiment(), *p)),
                                         p->differentiable()));
             return nb::make_tuple(findGroup(name) != nullptr, all);
           })
      .def("structure_factors", &structureFactors)
      .def("set_structure_factors", &setStructureFactors, nb::arg("values"), nb::arg("lowest"));
}

} // namespace nanobragg::python
