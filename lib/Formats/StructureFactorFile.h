// Structure factors of any format.
#ifndef NANOBRAGG_FORMATS_STRUCTUREFACTORFILE_H
#define NANOBRAGG_FORMATS_STRUCTUREFACTORFILE_H

#include "lib/Experiment/Experiment.h"
#include "lib/Formats/MergedReflections.h"

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace nanobragg::io {

/// The format of a file with structure factors, told by its content and not by its name.
enum class StructureFactorFormat {
  Text,           ///< lines of h k l F
  Mtz,            ///< merged reflections of CCP4
  CifReflections, ///< mmCIF or core CIF, _refln
  CifModel,       ///< mmCIF or core CIF, _atom_site
  Shelx,          ///< F^2 in columns of fixed width, beside them an .ins file
  Pdb             ///< coordinates
};

/// `content` is the file's, inflated. Throws FileError that says how to convert a file of another
/// program.
StructureFactorFormat formatOf(const std::string &path, std::string_view content);

/// The file of SHELX's instructions beside a list of reflections: NAME.ins, or else NAME.res.
std::optional<std::string> shelxInstructions(const std::string &path);

/// Does the first line have h k l in columns of four characters and two numbers in columns of
/// eight, as SHELX's F^2 and sigma are?
bool hasShelxColumns(std::string_view content);

inline bool isModel(StructureFactorFormat format) {
  return format == StructureFactorFormat::CifModel || format == StructureFactorFormat::Pdb;
}

/// Does the file list the reflections of an asymmetric unit, with its cell and space group?
inline bool listsReflections(StructureFactorFormat format) {
  return format == StructureFactorFormat::Mtz || format == StructureFactorFormat::CifReflections ||
         format == StructureFactorFormat::Shelx;
}

/// One of several models that share a crystal, as conformations do.
struct ModelPart {
  std::string path, content;
  StructureFactorFormat format;
  double share; ///< share of the crystal
};

/// How the factors of a model are calculated.
struct ModelOptions {
  double dmin = 0;       ///< A, resolution limit; must be above 0
  double kSol = 0;       ///< electrons/A^3 of bulk solvent; 0: none
  double bSol = 0;       ///< A^2
  bool anomalous = true; ///< add f' and f'' (Cromer and Liberman)
  double wavelength = 1; ///< A, of f' and f''
  bool phases = false;   ///< give the complex factors, too
  double share = 1;      ///< share of the crystal, by which occupancies are multiplied
  /// Those that have the rest of the crystal, in the same cell and space group.
  std::vector<ModelPart> others{};
};

struct StructureFactors {
  HklGrid grid; ///< amplitudes in the P1 cell, Friedel mates apart
  /// On the same box; empty unless asked for. The imaginary part of what the file does not list is
  /// not a number.
  std::vector<double> real, imaginary;
  std::size_t reflections = 0; ///< that the file lists, or that were calculated
  std::size_t duplicates = 0;  ///< reflections that the file gives twice; the last one counts
  std::optional<std::array<double, 6>> cell; ///< A and degrees, where the file has one
  std::string spaceGroup;                    ///< Hermann-Mauguin; empty: unknown
  std::string hallSymbol;                    ///< the space group's
  std::vector<std::string> notes, warnings;  ///< one sentence each
};

/// A file name with a column: "data.mtz:FP". A file that is named with the colon wins.
struct NameAndLabel {
  std::string name, label;
};
NameAndLabel splitLabel(const std::string &word);

/// Several models with weights: "a.pdb:0.7,b.pdb:0.3", or without numbers of the same weight.
/// Weights are divided by their sum. Empty where the word is no such list, or names a file. Throws
/// FileError for a weight that is none.
struct NameAndWeight {
  std::string name;
  double weight;
};
std::vector<NameAndWeight> weightedModels(const std::string &word);

/// MTZ, CIF and SHELX reflections: amplitudes, expanded to P1. Without a label the obvious column:
/// F+ and F-, or the one amplitude. `content` as for formatOf. Nodes of the box that the file does
/// not list get `defaultF`, those that the space group extinguishes 0. With `phases` amplitudes are
/// those that have a phase, and the complex factors come, too. Throws FileError.
StructureFactors readReflections(const NameAndLabel &file, const std::string &content,
                                 StructureFactorFormat format, double defaultF,
                                 bool phases = false);

/// Structure factors of a PDB or mmCIF model, see docs/structure-factors.md. `cell` where the file
/// has none. Throws FileError.
StructureFactors calculateStructureFactors(const std::string &path, const std::string &content,
                                           StructureFactorFormat format,
                                           const ModelOptions &options,
                                           const std::optional<std::array<double, 6>> &cell);

/// Unit cell of a file of that format, without the rest.
std::optional<std::array<double, 6>> cellOf(const std::string &path, const std::string &content,
                                            StructureFactorFormat format);

struct LabelledAtom {
  std::string label;
  std::array<double, 3> position; ///< fractional
  double occupancy, b;            ///< 1, A^2
};

/// Atoms of a PDB or mmCIF model, by their elements ("SE").
struct AtomsOfModel {
  std::vector<LabelledAtom> atoms;   ///< all in the cell
  std::array<double, 6> cell;        ///< A and degrees
  std::string spaceGroup;            ///< Hermann-Mauguin
  std::vector<std::string> warnings; ///< one sentence each
};

/// `cell` where the file has none. Throws FileError.
AtomsOfModel atomsOfModel(const std::string &path, const std::string &content,
                          StructureFactorFormat format,
                          const std::optional<std::array<double, 6>> &cell);

/// The dispersion of one element, for each of some energies, electrons.
struct Dispersion {
  int atomicNumber = 0; ///< 0: there is no such element
  double weight = 0;    ///< g/mol
  std::vector<double> fPrime, fDoublePrime;
};

/// f' and f'' of an element ("Se", "SE") by Cromer and Liberman (1970, 1981) with the corrections
/// of Kissel and Pratt (1990); from lithium to uranium, of others none. `energies`: eV.
Dispersion dispersionOf(const std::string &element, const std::vector<double> &energies);

/// An item of a CIF ("_axis.id", in lower case) and its values; one where it is in no loop,
/// "." for those that are unknown.
using CifItem = std::pair<std::string, std::vector<std::string>>;
/// The items of all blocks of a CIF. Throws FileError, which names `path`.
std::vector<CifItem> cifItems(const std::string &path, const std::string &content);

/// The functions of libnb-gemmi.so: those above and those of MergedReflections.h, which open it.
struct GemmiModule {
  const char *version; ///< the project's: both sides are built together
  // False: the last argument says what is wrong.
  bool (*readReflections)(const NameAndLabel &, const std::string &, StructureFactorFormat, double,
                          bool, StructureFactors &, std::string &);
  bool (*calculate)(const std::string &, const std::string &, StructureFactorFormat,
                    const ModelOptions &, const std::optional<std::array<double, 6>> &,
                    StructureFactors &, std::string &);
  bool (*cellOf)(const std::string &, const std::string &, StructureFactorFormat,
                 std::optional<std::array<double, 6>> &, std::string &);
  bool (*toAsymmetricUnit)(const std::string &, const std::vector<std::int32_t> &,
                           AsymmetricIndices &, std::string &);
  bool (*mtzOf)(const MtzReflections &, std::string &, std::string &);
  bool (*operationsOf)(const std::string &, std::vector<SymmetryOperation> &, std::string &);
  bool (*atomsOf)(const std::string &, const std::string &, StructureFactorFormat,
                  const std::optional<std::array<double, 6>> &, AtomsOfModel &, std::string &);
  bool (*dispersionOf)(const std::string &, const std::vector<double> &, Dispersion &,
                       std::string &);
  bool (*cifItems)(const std::string &, const std::string &, std::vector<CifItem> &, std::string &);
  bool (*indexingChoices)(const std::string &, const std::array<double, 6> &, double,
                          IndexingChoices &, std::string &);
};

} // namespace nanobragg::io
#endif
