// CIF of small molecules, whose names have no dot (core CIF), as SHELXL writes them.
#ifndef NANOBRAGG_GEMMI_CORECIF_H
#define NANOBRAGG_GEMMI_CORECIF_H

#include <gemmi/cifdoc.hpp>
#include <gemmi/model.hpp>

namespace nanobragg::io {

/// Gives reflections, cell and space group of a core CIF the names that they have in mmCIF:
/// _refln_index_h becomes _refln.index_h. Other blocks stay as they are. Where the operations of
/// the space group are listed they decide its name.
void renameAsMmcif(gemmi::cif::Block &block);

/// The atoms of a core CIF, _atom_site_fract_x, with their anisotropic displacements; none where
/// the block has no such list. Occupancies become those of PDB files, in which an atom on an n-fold
/// position counts a part n.
gemmi::Structure structureOfCoreCif(const gemmi::cif::Block &block);

} // namespace nanobragg::io
#endif
