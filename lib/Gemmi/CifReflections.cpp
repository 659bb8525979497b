#include "lib/Gemmi/AmplitudeColumn.h"
#include "lib/Gemmi/CoreCif.h"
#include "lib/Gemmi/Expansion.h"
#include "lib/Gemmi/FrenchWilson.h"
#include "lib/Gemmi/Guard.h"
#include "lib/Gemmi/Merging.h"
#include "lib/Gemmi/Reflections.h"

#include <algorithm>
#include <cmath>
#include <gemmi/cif.hpp>
#include <gemmi/refln.hpp>

namespace nanobragg::io {
namespace {

constexpr const char *asCif = "CIF";
const std::vector<std::string_view> usualCif = {"F_meas_au", "F_meas", "F_calc_au", "F_calc"};
/// Where phases are asked for.
const std::vector<std::string_view> usualCifWithPhase = {"F_calc_au", "F_calc", "F_meas_au",
                                                         "F_meas"};

ColumnKind kindOf(std::string_view tag) {
  if (tag == "F_meas_au" || tag == "F_meas" || tag == "F_calc" || tag == "F_calc_au")
    return ColumnKind::Amplitude;
  if (tag == "pdbx_F_plus")
    return ColumnKind::AmplitudePlus;
  if (tag == "pdbx_F_minus")
    return ColumnKind::AmplitudeMinus;
  if (tag == "intensity_meas" || tag == "F_squared_meas")
    return ColumnKind::Intensity;
  if (tag == "pdbx_I_plus")
    return ColumnKind::IntensityPlus;
  if (tag == "pdbx_I_minus")
    return ColumnKind::IntensityMinus;
  if (tag == "F_squared_calc")
    return ColumnKind::Other;
  // Other amplitudes are taken when they are named.
  if (tag.substr(0, 2) == "F_" || tag.substr(0, 7) == "pdbx_F_")
    return tag.find("sigma") == tag.npos ? ColumnKind::Amplitude : ColumnKind::Other;
  return ColumnKind::Other;
}

/// The tag of the sigmas of intensities: intensity_sigma belongs to intensity_meas.
std::string sigmaOf(const std::string &tag) {
  const std::size_t measured = tag.rfind("_meas");
  return tag.substr(0, measured) + "_sigma";
}

/// Measured intensities go before calculated amplitudes.
void preferMeasured(std::vector<NamedColumn> &columns) {
  const auto isCalculated = [](const NamedColumn &column) {
    return column.label == "F_calc" || column.label == "F_calc_au";
  };
  const auto is = [&](ColumnKind kind) {
    return std::any_of(columns.begin(), columns.end(), [&](const NamedColumn &column) {
      return column.kind == kind && !isCalculated(column);
    });
  };
  if (is(ColumnKind::Intensity) && !is(ColumnKind::Amplitude))
    columns.erase(std::remove_if(columns.begin(), columns.end(), isCalculated), columns.end());
}

/// The phases of a column of amplitudes.
std::size_t phaseColumnOf(const std::string &path, const std::vector<NamedColumn> &columns,
                          const AmplitudeChoice &choice) {
  std::string label;
  for (const NamedColumn &column : columns)
    if (column.index == choice.plus)
      label = column.label;
  const std::string tag = label.find("calc") != label.npos ? "phase_calc" : "phase_meas";
  for (const NamedColumn &column : columns)
    if (column.label == tag)
      return column.index;
  throw FileError(path, "has no " + tag + " for the amplitudes " + label +
                            "; anomalous scatterers add to complex structure factors");
}

/// The first block with reflections; a warning where there are more.
gemmi::ReflnBlock blockOf(const std::string &path, const std::string &content,
                          std::vector<std::string> &warnings) {
  gemmi::cif::Document document =
      gemmi::cif::read_memory(content.data(), content.size(), path.c_str());
  std::vector<gemmi::cif::Block *> found;
  for (gemmi::cif::Block &block : document.blocks) {
    renameAsMmcif(block);
    if (block.find_loop("_refln.index_h").get_loop())
      found.push_back(&block);
  }
  if (found.empty())
    throw FileError(path, "is a CIF file without reflections (_refln.index_h) and without a model "
                          "(_atom_site); -hkl needs either");
  if (found.size() > 1)
    warnings.push_back(path + ": has reflections in " + std::to_string(found.size()) +
                       " blocks; only the first, " + found.front()->name +
                       ", is used. Write another one into a separate file to use it");
  return gemmi::ReflnBlock(std::move(*found.front()));
}

/// Throws where the loop has reflections of several crystals or wavelengths, which no mean is of.
void refuseSeveral(const std::string &path, gemmi::ReflnBlock &block, const char *id,
                   const char *what) {
  const int column = block.find_column_index(id);
  if (column < 0)
    return;
  const gemmi::cif::Loop &loop = *block.refln_loop;
  std::vector<std::string> found;
  for (std::size_t at = std::size_t(column); at < loop.values.size() && found.size() < 10;
       at += loop.width())
    if (std::find(found.begin(), found.end(), loop.values[at]) == found.end())
      found.push_back(loop.values[at]);
  if (found.size() < 2)
    return;
  gemmi::cif::Table lengths =
      block.block.find("_diffrn_radiation_wavelength.", {"id", "wavelength"});
  std::string listed;
  for (const std::string &one : found) {
    listed += (listed.empty() ? "" : ", ") + one;
    if (std::string_view(id) == "wavelength_id")
      for (const auto row : lengths)
        if (row[0] == one)
          listed += " (" + row[1] + " A)";
  }
  throw FileError(path, std::string("has reflections of several ") + what +
                            " in one list (_refln." + id + " " + listed +
                            "); write the rows of one of them into a file of their own");
}

} // namespace

std::optional<std::array<double, 6>> cellOfCifReflections(const std::string &path,
                                                          const std::string &content) {
  return withGemmi(path, asCif, [&]() -> std::optional<std::array<double, 6>> {
    std::vector<std::string> ignored;
    const gemmi::ReflnBlock block = blockOf(path, content, ignored);
    if (!block.cell.is_crystal())
      return std::nullopt;
    requireCell(path, block.cell);
    return numbersOf(block.cell);
  });
}

StructureFactors readCifReflections(const NameAndLabel &file, const std::string &content,
                                    double defaultF, bool phases) {
  const std::string &path = file.name;
  return withGemmi(path, asCif, [&] {
    StructureFactors result;
    gemmi::ReflnBlock block = blockOf(path, content, result.warnings);
    refuseSeveral(path, block, "wavelength_id", "wavelengths");
    refuseSeveral(path, block, "crystal_id", "crystals");
    const gemmi::cif::Loop &loop = *block.refln_loop;
    std::vector<NamedColumn> columns;
    for (std::size_t i = 0; i < loop.tags.size(); ++i) {
      const std::string label = loop.tags[i].substr(block.tag_offset());
      columns.push_back({label, kindOf(label), i, sigmaOf(label)});
    }
    if (file.label.empty() && !phases)
      preferMeasured(columns);
    const AmplitudeChoice choice =
        phases ? chooseAmplitudes(path, file.label, onlyAmplitudes(columns), usualCifWithPhase)
               : chooseAmplitudes(path, file.label, columns, usualCif);
    const std::size_t phase = phases ? phaseColumnOf(path, columns, choice) : 0;
    if (const std::string *name = gemmi::impl::find_spacegroup_hm_value(block.block);
        name && !gemmi::cif::is_null(*name) && !block.spacegroup)
      throw FileError(path, "has the space group '" + gemmi::cif::as_string(*name) +
                                "', which is not in the tables of settings; reindex it to a usual "
                                "setting");
    if (!block.spacegroup)
      throw FileError(path, "does not name its space group (_symmetry.space_group_name_H-M); "
                            "reflections of an asymmetric unit need it");
    const auto indices = block.get_hkl_column_indices();
    std::vector<UniqueReflection> unique;
    ListedReflections listed(path, *block.spacegroup, choice.sigmas.has_value());
    for (std::size_t row = 0; row < loop.length(); ++row) {
      const std::string *values = loop.values.data() + row * loop.width();
      const auto number = [&](std::size_t column) {
        return float(gemmi::cif::as_number(values[column], NAN));
      };
      UniqueReflection r{{}, number(choice.plus), number(choice.minus)};
      if (choice.sigmas)
        r.sigmas = {number((*choice.sigmas)[0]), number((*choice.sigmas)[1])};
      for (std::size_t i = 0; i < 3; ++i)
        r.hkl[i] = gemmi::cif::as_int(values[indices[i]]);
      if (!phases) {
        listed.add(r, choice.mates());
        continue;
      }
      r.phase = number(phase);
      if (r.complete(choice.sigmas.has_value()) && std::isfinite(r.phase))
        unique.push_back(r);
    }
    if (!phases) {
      unique = listed.merged();
      for (const std::string &warning : listed.warnings())
        result.warnings.push_back(warning);
    } else {
      refuseRepeated(path, unique);
    }
    if (unique.empty())
      throw FileError(path, "has no amplitude that is a number");
    if (block.cell.is_crystal()) {
      requireCell(path, block.cell);
      result.cell = numbersOf(block.cell);
    }
    if (choice.sigmas) {
      if (!result.cell)
        throw FileError(path, "has intensities and no cell, which is needed to convert them to "
                              "amplitudes; write _cell into the file");
      toAmplitudes(unique, block.cell, *block.spacegroup);
    }
    expandToP1(path, unique, *block.spacegroup, defaultF, result);
    if (phases)
      expandPhases(unique, *block.spacegroup, result);
    result.notes.push_back(path + ": " + choice.note + ", in " + result.spaceGroup);
    return result;
  });
}

} // namespace nanobragg::io
