#include "lib/Gemmi/CoreCif.h"

#include "lib/Gemmi/Expansion.h"

#include <gemmi/smcif.hpp>
#include <optional>
#include <string_view>

namespace nanobragg::io {
namespace {

/// By its operations, which say the setting, too, else by its name.
std::optional<std::string> spaceGroupOf(gemmi::cif::Block &block) {
  const auto named = [](const gemmi::GroupOps &operations) -> std::optional<std::string> {
    const gemmi::SpaceGroup *group = gemmi::find_spacegroup_by_ops(operations);
    return group ? std::optional(group->xhm()) : std::nullopt;
  };
  for (const char *tag : {"_space_group_symop_operation_xyz", "_symmetry_equiv_pos_as_xyz"}) {
    std::vector<gemmi::Op> operations;
    for (const std::string &triplet : block.find_values(tag))
      operations.push_back(operationOf(gemmi::cif::as_string(triplet)));
    if (!operations.empty())
      if (const auto name = named(gemmi::split_centering_vectors(operations)))
        return name;
  }
  const auto value = [&](const char *tag) -> std::optional<std::string> {
    const std::string *text = block.find_value(tag);
    return text && !gemmi::cif::is_null(*text) ? std::optional(gemmi::cif::as_string(*text))
                                               : std::nullopt;
  };
  for (const char *tag : {"_space_group_name_Hall", "_symmetry_space_group_name_Hall"})
    if (const auto hall = value(tag))
      if (const auto name = named(gemmi::symops_from_hall(hall->c_str())))
        return name;
  for (const char *tag : {"_space_group_name_H-M_alt", "_symmetry_space_group_name_H-M"})
    if (const auto name = value(tag))
      return name;
  return std::nullopt;
}

} // namespace

void renameAsMmcif(gemmi::cif::Block &block) {
  if (!block.find_loop("_refln_index_h").get_loop())
    return;
  if (const std::optional<std::string> name = spaceGroupOf(block))
    block.set_pair("_symmetry.space_group_name_H-M", gemmi::cif::quote(*name));
  const auto rename = [](std::string &tag) {
    for (const std::string_view category : {"_refln", "_cell"})
      if (tag.compare(0, category.size(), category) == 0 && tag[category.size()] == '_')
        tag[category.size()] = '.';
  };
  for (gemmi::cif::Item &item : block.items)
    if (item.type == gemmi::cif::ItemType::Pair)
      rename(item.pair[0]);
    else if (item.type == gemmi::cif::ItemType::Loop)
      for (std::string &tag : item.loop.tags)
        rename(tag);
}

gemmi::Structure structureOfCoreCif(const gemmi::cif::Block &block) {
  gemmi::cif::Block copy = block;
  gemmi::Structure structure;
  if (!copy.find_loop("_atom_site_fract_x").get_loop())
    return structure;
  gemmi::SmallStructure small = gemmi::make_small_structure_from_block(copy);
  if (const std::optional<std::string> name = spaceGroupOf(copy))
    small.spacegroup_hm = *name;
  small.setup_cell_images();
  small.change_occupancies_to_crystallographic();
  structure.cell = small.cell;
  structure.spacegroup_hm = small.spacegroup_hm;
  gemmi::Residue residue;
  residue.name = "MOL";
  residue.seqid.num = 1;
  // U_ij of a CIF are in units of the reciprocal cell's edges.
  const gemmi::UnitCell &cell = small.cell;
  const gemmi::Mat33 basis = cell.orth.mat.multiply_by_diagonal({cell.ar, cell.br, cell.cr});
  for (const gemmi::SmallStructure::Site &site : small.sites) {
    gemmi::Atom atom;
    atom.name = site.label;
    atom.element = site.element;
    atom.pos = cell.orthogonalize(site.fract);
    atom.occ = float(site.occ);
    atom.b_iso = float(site.u_iso * gemmi::u_to_b());
    if (site.aniso.nonzero()) {
      const auto u = site.aniso.transformed_by(basis);
      atom.aniso = {float(u.u11), float(u.u22), float(u.u33),
                    float(u.u12), float(u.u13), float(u.u23)};
    }
    residue.atoms.push_back(atom);
  }
  gemmi::Chain chain("A");
  chain.residues.push_back(residue);
  gemmi::Model model("1");
  model.chains.push_back(chain);
  structure.models.push_back(model);
  return structure;
}

} // namespace nanobragg::io
