// Reflections of an asymmetric unit.
#include "lib/Files/FileContents.h"
#include "lib/Files/FileError.h"
#include "lib/Formats/MergedReflections.h"
#include "lib/Formats/SensorMaterial.h"
#include "lib/Formats/StructureFactorFile.h"
#include "runtime/python/bindings/PythonSimulator.h"

#include <nanobind/stl/array.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace nanobragg::python {
namespace {

/// Structure factors of a PDB or CIF model, or of a file of reflections.
io::StructureFactors structureFactorsOf(const std::string &path, const io::ModelOptions &options) {
  const io::NameAndLabel file = io::splitLabel(path);
  const std::string content = io::readMaybeCompressed(file.name);
  const io::StructureFactorFormat format = io::formatOf(file.name, content);
  if (io::isModel(format))
    return io::calculateStructureFactors(file.name, content, format, options, std::nullopt);
  if (!io::listsReflections(format))
    throw io::FileError(file.name, "has no cell and space group with its structure factors; give a "
                                   "PDB or CIF model, or reflections as MTZ, CIF or SHELX");
  return io::readReflections(file, content, format, 0);
}

} // namespace

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
      "indexing_choices",
      [](const std::string &group, const std::array<double, 6> &cell, double obliquity) {
        const io::IndexingChoices choices = io::indexingChoices(group, cell, obliquity);
        std::vector<double> rotations;
        for (const auto &one : choices.rotations)
          rotations.insert(rotations.end(), one.begin(), one.end());
        const Shape shape{choices.rotations.size(), 3, 3};
        return nb::make_tuple(choices.hallSymbol, takeVector(std::move(rotations), shape));
      },
      nb::arg("space_group"), nb::arg("cell"), nb::arg("obliquity"),
      "The Hall symbol of a space group, and choices of Miller indices that a lattice allows "
      "beside "
      "the given one, each once for its equivalents: matrices (n, 3, 3) by which rows h k l are "
      "multiplied. Cell in A and degrees; obliquity: degrees by which the lattice may fall short "
      "of "
      "a symmetry.");

  module.def(
      "sensor_absorption",
      [](const std::string &material, double energy) -> std::optional<double> {
        const std::vector<double> absorption = io::sensorAbsorption(material, {energy});
        return absorption.empty() ? std::nullopt : std::optional(absorption.front());
      },
      nb::arg("material"), nb::arg("energy"),
      "Absorption coefficient (1/m) of a sensor's material such as Si or CdTe at an energy (eV); "
      "None if the material is unknown.");

  module.def(
      "cif_items",
      [](const std::filesystem::path &path, const std::string &content) {
        return io::cifItems(path.native(), content);
      },
      nb::arg("path"), nb::arg("content"),
      "The items of a CIF, each a name in lower case and a list of texts.");

  module.def(
      "structure_factors",
      [](const std::filesystem::path &path, double dmin, double wavelength, double kSol,
         double bSol) {
        io::StructureFactors read;
        {
          nb::gil_scoped_release released;
          read = structureFactorsOf(path.native(), {dmin, kSol, bSol, true, wavelength, false});
        }
        HklGrid &g = read.grid;
        const Shape shape{std::size_t(g.hMax - g.hMin + 1), std::size_t(g.kMax - g.kMin + 1),
                          std::size_t(g.lMax - g.lMin + 1)};
        return nb::make_tuple(takeVector(std::move(g.values), shape),
                              nb::make_tuple(g.hMin, g.kMin, g.lMin), read.cell, read.hallSymbol);
      },
      nb::arg("file"), nb::arg("dmin"), nb::arg("wavelength"), nb::arg("k_sol"), nb::arg("b_sol"),
      "Structure factors of a model (of atoms to dmin, A, at a wavelength, A, with bulk solvent) "
      "or of merged reflections: the grid [h, k, l], its lowest indices, the cell (A, degrees; "
      "None) and the Hall symbol of the space group.");

  module.def(
      "mtz",
      [](const std::string &group, const std::array<double, 6> &cell, double wavelength,
         const std::vector<std::pair<std::string, std::string>> &columns, const Doubles &rows,
         const std::vector<std::pair<std::array<double, 6>, double>> &batches) {
        io::MtzReflections reflections{group, cell, wavelength, {}, {}, {}};
        for (const auto &[ofBatch, itsWavelength] : batches)
          reflections.batches.push_back({ofBatch, itsWavelength});
        for (const auto &[label, type] : columns)
          reflections.columns.push_back({label, type.at(0)});
        reflections.rows.assign(rows.data(), rows.data() + rows.size());
        const std::string content = io::mtzOf(reflections);
        return nb::bytes(content.data(), content.size());
      },
      nb::arg("space_group"), nb::arg("cell"), nb::arg("wavelength"), nb::arg("columns"),
      nb::arg("rows"), nb::arg("batches") = std::vector<std::pair<std::array<double, 6>, double>>(),
      "The content of an MTZ file; columns: (label, type) of what follows h, k and l in rows; cell "
      "in A and degrees, wavelength in A. batches: cell and wavelength of each crystal on an image "
      "in an unmerged file, whose first columns are M/ISYM, which is made here, and BATCH, counted "
      "from 1; h, k and l are then those that were measured.");
}

} // namespace nanobragg::python
