#include "lib/Gemmi/MergedReflections.h"

#include "lib/Files/FileError.h"
#include "lib/Gemmi/Guard.h"

#include <cmath>
#include <gemmi/cif.hpp>
#include <gemmi/elem.hpp>
#include <gemmi/fprime.hpp>
#define GEMMI_WRITE_IMPLEMENTATION
#include <gemmi/mtz.hpp>
#include <gemmi/symmetry.hpp>
#include <gemmi/twin.hpp>
#include <limits>

namespace nanobragg::io {
namespace {

const gemmi::SpaceGroup *groupOfHall(const std::string &name) {
  try {
    return gemmi::find_spacegroup_by_ops(gemmi::symops_from_hall(name.c_str()));
  } catch (const std::exception &) { // no Hall symbol
    return nullptr;
  }
}

/// Gemmi leaves out blanks of names, with which the Hall symbol "P 4 2", of P 4 2 2, would be P 42.
const gemmi::SpaceGroup *groupOfExactly(const std::string &name) {
  const auto &all = gemmi::spacegroup_tables::main;
  for (const gemmi::SpaceGroup &group : all)
    if (group.xhm() == name || group.hm == name)
      return &group;
  for (const gemmi::SpaceGroup &group : all)
    if (group.hall == name)
      return &group;
  return nullptr;
}

const gemmi::SpaceGroup &groupOf(const std::string &name) {
  const gemmi::SpaceGroup *group = groupOfExactly(name);
  if (!group)
    group = gemmi::find_spacegroup_by_name(name);
  if (!group)
    group = groupOfHall(name);
  if (!group)
    throw FileError("there is no space group '" + name +
                    "'; write its Hermann-Mauguin or Hall symbol, such as 'P 43 21 2'");
  return *group;
}

std::array<double, 9> rotationOf(const gemmi::Op &op) {
  std::array<double, 9> rotation;
  for (std::size_t i = 0; i < 9; ++i)
    rotation[i] = double(op.rot[i / 3][i % 3]) / gemmi::Op::DEN;
  return rotation;
}

void addBatches(gemmi::Mtz &mtz, const std::vector<MtzBatch> &batches) {
  if (batches.empty())
    return;
  for (const MtzBatch &one : batches) {
    const auto &c = one.cell;
    gemmi::Mtz::Batch &batch = mtz.batches.emplace_back();
    batch.number = int(mtz.batches.size());
    batch.set_dataset_id(1);
    batch.set_cell(gemmi::UnitCell(c[0], c[1], c[2], c[3], c[4], c[5]));
    batch.set_wavelength(float(one.wavelength));
  }
  const gemmi::GroupOps operations = mtz.spacegroup->operations();
  const gemmi::ReciprocalAsu unit(mtz.spacegroup);
  for (std::size_t row = 0; row < mtz.data.size(); row += mtz.columns.size()) {
    const auto [hkl, isym] = unit.to_asu(mtz.get_hkl(row), operations);
    mtz.set_hkl(row, hkl);
    mtz.data[row + 3] = float(isym);
  }
}

} // namespace

AsymmetricIndices asymmetricIndicesOf(const std::string &spaceGroup,
                                      const std::vector<std::int32_t> &hkl) {
  const gemmi::SpaceGroup &group = groupOf(spaceGroup);
  const gemmi::GroupOps operations = group.operations();
  const gemmi::ReciprocalAsu unit(&group);
  AsymmetricIndices result{group.xhm(), {}, {}, {}, {}};
  result.hkl.reserve(hkl.size());
  for (std::size_t i = 0; i + 2 < hkl.size(); i += 3) {
    const gemmi::Op::Miller given{hkl[i], hkl[i + 1], hkl[i + 2]};
    const auto [equivalent, isym] = unit.to_asu(given, operations);
    result.hkl.insert(result.hkl.end(), equivalent.begin(), equivalent.end());
    const bool centric = operations.is_reflection_centric(given);
    result.mate.push_back(isym % 2 == 0 && !centric);
    result.centric.push_back(centric);
    result.absent.push_back(operations.is_systematically_absent(given));
  }
  return result;
}

std::vector<SymmetryOperation> operationsOf(const std::string &spaceGroup) {
  const gemmi::GroupOps operations = groupOf(spaceGroup).operations();
  std::vector<SymmetryOperation> result;
  for (const gemmi::Op op : operations) {
    SymmetryOperation made{rotationOf(op), {}};
    for (std::size_t i = 0; i < 3; ++i)
      made.translation[i] = double(op.tran[i]) / gemmi::Op::DEN;
    result.push_back(made);
  }
  return result;
}

IndexingChoices choicesOfIndices(const std::string &spaceGroup, const std::array<double, 6> &cell,
                                 double obliquity) {
  const gemmi::UnitCell edges(cell[0], cell[1], cell[2], cell[3], cell[4], cell[5]);
  const gemmi::SpaceGroup &group = groupOf(spaceGroup);
  IndexingChoices result{group.hall, {}};
  for (const gemmi::Op &op : gemmi::find_twin_laws(edges, &group, obliquity, false))
    result.rotations.push_back(rotationOf(op));
  return result;
}

std::string contentOfMtz(const MtzReflections &reflections) {
  gemmi::Mtz mtz;
  mtz.title = "refined by nanobragg";
  mtz.spacegroup = &groupOf(reflections.spaceGroup);
  mtz.spacegroup_name = mtz.spacegroup->hm;
  mtz.spacegroup_number = mtz.spacegroup->ccp4;
  const auto &c = reflections.cell;
  mtz.add_base();
  mtz.add_dataset("nanobragg");
  for (gemmi::Mtz::Dataset &dataset : mtz.datasets) // some readers take the first
    dataset.wavelength = reflections.wavelength;
  mtz.set_cell_for_all(gemmi::UnitCell(c[0], c[1], c[2], c[3], c[4], c[5]));
  for (const MtzColumn &column : reflections.columns)
    mtz.add_column(column.label, column.type, -1, -1, false);
  std::vector<float> rows = reflections.rows;
  for (float &value : rows)
    if (!std::isfinite(value))
      value = std::numeric_limits<float>::quiet_NaN();
  mtz.set_data(rows.data(), rows.size());
  addBatches(mtz, reflections.batches);
  mtz.sort();
  mtz.update_reso();
  std::string content;
  mtz.write_to_string(content);
  return content;
}

std::vector<CifItem> itemsOfCif(const std::string &path, const std::string &content) {
  std::vector<CifItem> items;
  const auto add = [&](const std::string &tag, std::vector<std::string> values) {
    for (std::string &value : values)
      value = gemmi::cif::is_null(value) ? "." : gemmi::cif::as_string(value);
    items.emplace_back(gemmi::to_lower(tag), std::move(values));
  };
  const gemmi::cif::Document document =
      withGemmi(path, "CIF", [&] { return gemmi::cif::read_string(content); });
  for (const gemmi::cif::Block &block : document.blocks)
    for (const gemmi::cif::Item &item : block.items) {
      if (item.type == gemmi::cif::ItemType::Pair)
        add(item.pair[0], {item.pair[1]});
      for (std::size_t i = 0; item.type == gemmi::cif::ItemType::Loop && i < item.loop.width();
           ++i) {
        std::vector<std::string> values;
        values.reserve(item.loop.length());
        for (std::size_t row = 0; row < item.loop.length(); ++row)
          values.push_back(item.loop.val(row, i));
        add(item.loop.tags[i], std::move(values));
      }
    }
  return items;
}

Dispersion cromerLiberman(const std::string &name, const std::vector<double> &energies) {
  Dispersion result;
  const gemmi::Element element(name);
  // gemmi looks at the first two letters and takes SE1 for selenium.
  const bool whole = name.size() <= 2 && std::string(element.uname()).size() == name.size();
  if (!whole || element == gemmi::El::X)
    return result;
  result.atomicNumber = element.atomic_number();
  result.weight = element.weight();
  result.fPrime.assign(energies.size(), 0);
  result.fDoublePrime.assign(energies.size(), 0);
  if (result.atomicNumber < 3 || result.atomicNumber > 92)
    return result;
  for (std::size_t i = 0; i < energies.size(); ++i)
    result.fPrime[i] =
        gemmi::cromer_liberman(result.atomicNumber, energies[i], &result.fDoublePrime[i]);
  return result;
}

} // namespace nanobragg::io
