// Reflections of an asymmetric unit.
#include "lib/IO/MergedReflections.h"
#include "runtime/python/bindings/PythonSimulator.h"

#include <nanobind/stl/array.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace nanobragg::python {

void bindReflections(nb::module_ &module) {
  module.def(
      "to_asymmetric_unit",
      [](const std::string &group, const Indices &hkl) {
        io::AsymmetricIndices unit;
        const std::size_t rows = hkl.size() / 3;
        {
          nb::gil_scoped_release released;
          unit = io::toAsymmetricUnit(group, {hkl.data(), hkl.data() + 3 * rows});
        }
        return nb::make_tuple(unit.spaceGroup, takeVector(std::move(unit.hkl), {rows, 3}),
                              takeVector(std::move(unit.mate), {rows}),
                              takeVector(std::move(unit.centric), {rows}),
                              takeVector(std::move(unit.absent), {rows}));
      },
      nb::arg("space_group"), nb::arg("hkl"),
      "Of Miller indices (n, 3): the name of the space group, the equivalents in the asymmetric "
      "unit, and 1 where the equivalent's Friedel mate is meant, where it is centric, where it is "
      "absent.");

  module.def(
      "mtz",
      [](const std::string &group, const std::array<double, 6> &cell, double wavelength,
         const std::vector<std::pair<std::string, std::string>> &columns, const Doubles &rows) {
        io::MergedReflections reflections{group, cell, wavelength, {}, {}};
        for (const auto &[label, type] : columns)
          reflections.columns.push_back({label, type.at(0)});
        reflections.rows.assign(rows.data(), rows.data() + rows.size());
        const std::string content = io::mtzOf(reflections);
        return nb::bytes(content.data(), content.size());
      },
      nb::arg("space_group"), nb::arg("cell"), nb::arg("wavelength"), nb::arg("columns"),
      nb::arg("rows"),
      "The content of a merged MTZ file; columns: (label, type) of what follows h, k and l in "
      "rows; cell in A and degrees, wavelength in A.");
}

} // namespace nanobragg::python
