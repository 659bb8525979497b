// Tables of reflections and their derivatives, in users' units.
#include "lib/Experiment/Units.h"
#include "nanobragg/SpotOfPixel.h"
#include "runtime/python/bindings/SimulatorClass.h"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

namespace nanobragg::python {
namespace {

nb::dict asDict(const ReflectionNumbers &columns) {
  nb::dict result;
  for (std::size_t i = 0; i != reflectionColumns.size(); ++i) {
    const ReflectionColumn &column = reflectionColumns[i];
    std::vector<double> numbers = column.toUserUnits(columns[i]);
    const std::size_t rows = numbers.size();
    result[std::string(column.name).c_str()] = takeVector(std::move(numbers), {rows});
  }
  return result;
}

} // namespace

ReflectionLimits limitsOf(const nb::object &rows) {
  if (!nb::isinstance<nb::tuple>(rows))
    return {.partiality = nb::cast<double>(rows)};
  const auto [hkl, panel, angle] = nb::cast<std::tuple<Indices, Indices, Doubles>>(rows);
  ReflectionLimits limits;
  std::vector<AskedReflection> &asked = limits.rows.emplace(panel.size());
  for (std::size_t i = 0; i != asked.size(); ++i) {
    for (std::size_t j = 0; j != 3; ++j)
      asked[i].millerIndex[j] = std::int32_t(hkl.data()[3 * i + j]);
    asked[i].panel = std::int32_t(panel.data()[i]);
    asked[i].angle = units::radians(angle.data()[i]);
  }
  return limits;
}

nb::dict asDict(const ReflectionTable &table) {
  nb::dict result;
  std::vector<std::int64_t> hkl, panel(table.panel.begin(), table.panel.end());
  for (const auto &index : table.millerIndex)
    hkl.insert(hkl.end(), index.begin(), index.end());
  result["miller_index"] = takeVector(std::move(hkl), {table.rows(), 3});
  result["panel"] = takeVector(std::move(panel), {table.rows()});
  result.update(asDict(table.columns));
  return result;
}

void bindReflectionTable(SimulatorClass &simulator) {
  simulator
      .def("reflections",
           [](PythonSimulator &self, const nb::object &rows) {
             const ReflectionLimits limits = limitsOf(rows);
             return asDict(
                 self.run([&](Simulator &s, const RunOptions &) { return s.reflections(limits); }));
           })
      .def("spot_rows",
           [](PythonSimulator &self) {
             const Experiment &e = self.simulator.experiment();
             const ReflectionTable table =
                 self.run([](Simulator &s, const RunOptions &) { return s.reflections(); });
             std::vector<std::int32_t> rows =
                 brightestRows(table, e.panelCount(), e.detector.slowPixels, e.detector.fastPixels);
             const std::size_t pixels = rows.size();
             return std::pair(asDict(table), takeVector(std::move(rows), {pixels}));
           })
      .def("reflection_jvps",
           [](PythonSimulator &self, const std::string &wrt,
              const std::vector<nb::dict> &directions) {
             std::vector<std::vector<Direction>> given;
             given.reserve(directions.size());
             for (const nb::dict &direction : directions)
               given.push_back(directionOf(direction, self.simulator.experiment()));
             const auto numbers = self.run(
                 [&](Simulator &s, const RunOptions &) { return s.reflectionJvps(wrt, given); });
             nb::list result;
             for (const ReflectionNumbers &columns : numbers)
               result.append(asDict(columns));
             return result;
           })
      .def("reflection_gradient",
           [](PythonSimulator &self, const std::string &wrt, const nb::dict &cotangents) {
             ReflectionNumbers numbers;
             for (std::size_t i = 0; i != reflectionColumns.size(); ++i) {
               const std::string name(reflectionColumns[i].name);
               if (!cotangents.contains(name.c_str()))
                 continue;
               const auto given = spanOf(nb::cast<Doubles>(cotangents[name.c_str()]));
               // By a number in `unit` as much more as it has users' units.
               numbers[i] = reflectionColumns[i].toUserUnits({given.begin(), given.end()});
             }
             return asDict(self, self.run([&](Simulator &s, const RunOptions &) {
               return s.reflectionGradient(wrt, numbers);
             }));
           });
}

} // namespace nanobragg::python
