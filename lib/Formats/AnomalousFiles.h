// The text files that structure factors by energy are made from.
#ifndef NANOBRAGG_FORMATS_ANOMALOUSFILES_H
#define NANOBRAGG_FORMATS_ANOMALOUSFILES_H

#include "lib/Formats/StructureFactorFile.h"

#include <array>
#include <string>
#include <vector>

namespace nanobragg::io {

struct AtomFile {
  std::vector<LabelledAtom> atoms; ///< those in the asymmetric unit
  std::string spaceGroup;          ///< empty: the atoms are all of the cell
};

/// Lines of `label x y z occupancy B`, and at most one `space_group NAME`. Throws FileError.
AtomFile parseAtoms(const std::string &path, const std::string &text);

/// The atoms of the whole cell: all images by the space group, of which those that coincide (within
/// 0.001 of the edges) are one atom.
std::vector<LabelledAtom> expandAtoms(const AtomFile &file);

/// f' and f'' of some kinds of atoms, electrons.
struct DispersionTable {
  std::vector<double> energies;             ///< eV, ascending; the same for all kinds
  std::vector<std::string> labels;          ///< one for each kind
  std::vector<double> fPrime, fDoublePrime; ///< [kind][energy]
};

/// Lines of `label eV f' f''`, those of one label with ascending energies. Throws FileError.
DispersionTable readDispersion(const std::string &path);

/// A list of h k l F phase(degrees) of the P1 cell, inflated. A reflection whose Friedel mate is
/// not listed gives it the conjugate. Nodes that the list does not have get `defaultF` and no
/// phase.
StructureFactors parsePhasedHkl(const std::string &path, const std::string &content,
                                double defaultF);

struct ChannelFile {
  double energy;   ///< eV
  std::string hkl; ///< as -hkl takes it, from the list's folder
};

/// Lines of `eV FILE` with ascending energies. Throws FileError.
std::vector<ChannelFile> readChannels(const std::string &path);

} // namespace nanobragg::io
#endif
