#include "lib/Gemmi/Model.h"

#include "lib/Files/MemoryLimit.h"
#include "lib/Gemmi/CoreCif.h"
#include "lib/Gemmi/Guard.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <gemmi/assembly.hpp>
#include <gemmi/cif.hpp>
#include <gemmi/dencalc.hpp>
#include <gemmi/fourier.hpp>
#include <gemmi/fprime.hpp>
#include <gemmi/it92.hpp>
#include <gemmi/mmcif.hpp>
#include <gemmi/pdb.hpp>
#include <gemmi/solmask.hpp>
#include <limits>

namespace nanobragg::io {
namespace {

using Table = gemmi::IT92<double>;
using Density = gemmi::DensityCalculator<Table, float>;
using Transform = gemmi::FPhiGrid<float>;

/// Files from before 1996 have the entry's name and a line number in columns 73 to 80, where
/// element and charge (2+, or +2) stand today.
bool hasOldColumns(std::string_view line) {
  return line.size() > 79 && line[79] >= '0' && line[79] <= '9' && line[78] != '+' &&
         line[78] != '-';
}

/// Lines about atoms and the crystal; all others are empty. Records of bonds and sheets are
/// not needed, and gemmi reads beyond the end of some that are short.
std::string recordsOfCrystal(const std::string &content) {
  constexpr std::string_view kept[] = {"ATOM", "HETA", "ANIS", "CRYS", "MTRI", "SCAL",
                                       "ORIG", "MODE", "ENDM", "TER",  "END"};
  std::string records;
  for (std::size_t begin = 0; begin < content.size();) {
    const std::size_t end = std::min(content.find('\n', begin), content.size());
    std::string_view line(content.data() + begin, end - begin);
    if (hasOldColumns(line))
      line = line.substr(0, 72);
    if (std::any_of(std::begin(kept), std::end(kept), [&](std::string_view record) {
          return line.size() >= record.size() &&
                 std::equal(record.begin(), record.end(), line.begin(),
                            [](char a, char b) { return a == gemmi::alpha_up(b); });
        }))
      records += line;
    records += '\n';
    begin = end + 1;
  }
  return records;
}

gemmi::Structure structureOf(const std::string &path, const std::string &content,
                             StructureFactorFormat format) {
  if (format == StructureFactorFormat::Pdb)
    return gemmi::read_pdb_string(recordsOfCrystal(content), path);
  gemmi::cif::Document document =
      gemmi::cif::read_memory(content.data(), content.size(), path.c_str());
  for (gemmi::cif::Block &block : document.blocks) {
    if (block.find_loop("_atom_site.Cartn_x").get_loop())
      return gemmi::make_structure_from_block(block);
    if (gemmi::Structure structure = structureOfCoreCif(block); !structure.models.empty())
      return structure;
  }
  throw FileError(path, "is a CIF file without atoms (_atom_site)");
}

const gemmi::SpaceGroup &groupOf(const std::string &path, const gemmi::Structure &structure) {
  const gemmi::SpaceGroup *group = structure.find_spacegroup();
  if (!group && !structure.spacegroup_hm.empty())
    throw FileError(path, "has the space group '" + structure.spacegroup_hm +
                              "', which is not in the tables of settings; transform "
                              "the model to a usual setting, or write the usual name of this one");
  return group ? *group : gemmi::get_spacegroup_p1();
}

struct Atoms {
  std::size_t count = 0;
  std::vector<gemmi::Element> elements; ///< each once
  double lowestB = 0;                   ///< A^2, of any atom in any direction; 0: none is below
};

/// The least B factor of an atom in any direction, A^2; not a number where it has none.
double lowestBOf(const gemmi::Atom &atom) {
  const auto &u = atom.aniso;
  if (!std::isfinite(u.u11 + u.u22 + u.u33 + u.u12 + u.u13 + u.u23))
    return std::numeric_limits<double>::quiet_NaN();
  if (!u.nonzero())
    return atom.b_iso;
  const std::array<double, 3> widths = u.calculate_eigenvalues();
  return gemmi::u_to_b() * std::min({widths[0], widths[1], widths[2]});
}

/// Throws where an atom cannot be one.
Atoms checkedAtoms(const std::string &path, const gemmi::Model &model) {
  Atoms atoms;
  std::array<bool, std::size_t(gemmi::El::END)> seen{};
  for (const gemmi::Chain &chain : model.chains)
    for (const gemmi::Residue &residue : chain.residues)
      for (const gemmi::Atom &atom : residue.atoms) {
        ++atoms.count;
        const std::string name = "atom " + atom.name + " of " + residue.name + " " +
                                 residue.seqid.str() + " in chain " + chain.name;
        const bool finite = std::isfinite(atom.pos.x) && std::isfinite(atom.pos.y) &&
                            std::isfinite(atom.pos.z) && std::isfinite(atom.occ) &&
                            std::isfinite(atom.b_iso);
        const double lowest = lowestBOf(atom);
        atoms.lowestB = std::min(atoms.lowestB, lowest);
        if (!finite || atom.pos.length() > 1e5 || !(lowest > -100) || !(lowest < 1e5))
          throw FileError(path, name + " has an impossible position, occupancy or B factor");
        if (atom.element == gemmi::El::X || !Table::has(atom.element.elem))
          throw FileError(path, name + " is of the element '" + atom.element.name() +
                                    "', which has no scattering factor; correct it");
        if (!seen[std::size_t(atom.element.ordinal())])
          atoms.elements.push_back(atom.element);
        seen[std::size_t(atom.element.ordinal())] = true;
      }
  if (atoms.count == 0)
    throw FileError(path, "has no atoms");
  return atoms;
}

/// How many times longer an edge is than the planes at its ends are apart; 1 at right angles. Gemmi
/// chooses points of the density by the planes, which serves up to the 1.155 of hexagonal cells;
/// Miller indices go up to edge / resolution.
double skewOf(const gemmi::UnitCell &cell) {
  return std::max({cell.a * cell.ar, cell.b * cell.br, cell.c * cell.cr});
}

/// Transforms of the density with f', of f'' alone, and of the solvent's mask.
class FactorsOfModel {
public:
  FactorsOfModel(const std::string &path, gemmi::Structure &structure, const ModelOptions &options)
      : path(path), structure(structure), model(structure.models.front()), options(options),
        group(groupOf(path, structure)), atoms(checkedAtoms(path, model)) {
    if (group.number == 1)
      addCentringCopies();
  }

  StructureFactors calculate() {
    density.d_min = options.dmin;
    density.rate = 1.5 * std::max(1.0, skewOf(structure.cell) / 1.16);
    density.grid.unit_cell = structure.cell;
    density.grid.spacegroup = &group;
    density.set_refmac_compatible_blur(model);
    // Atoms need a width. The blur added here is removed again after the transform.
    density.blur -= atoms.lowestB;
    requireMemory();
    for (const gemmi::Element &element : atoms.elements)
      if (options.anomalous)
        dispersion(element);
    density.put_model_density_on_grid(model);
    real = gemmi::transform_map_to_f_phi(density.grid, true);
    if (anyImaginary)
      transformImaginary();
    if (options.kSol != 0)
      transformSolvent();
    return collect();
  }

private:
  /// Gemmi's grids take every group of number 1 for P 1, so that A 1, B 1, C 1, I 1 and F 1 would
  /// lose the copies that their centring makes.
  void addCentringCopies() {
    const std::vector<gemmi::Chain> chains = model.chains;
    for (const gemmi::Op::Tran &by : group.operations().cen_ops) {
      constexpr double den = gemmi::Op::DEN;
      const gemmi::Position shift =
          structure.cell.orthogonalize(gemmi::Fractional(by[0] / den, by[1] / den, by[2] / den));
      if (shift.length() == 0)
        continue;
      for (gemmi::Chain chain : chains) {
        for (gemmi::Residue &residue : chain.residues)
          for (gemmi::Atom &atom : residue.atoms)
            atom.pos += shift;
        model.chains.push_back(std::move(chain));
      }
    }
  }

  void requireMemory() const {
    const auto points = [&](double spacing) {
      return structure.cell.volume / (spacing * spacing * spacing);
    };
    const double most = 0.5 * double(memoryLimit());
    // A grid of floats, and its transforms of the same size.
    const double ofDensity =
        points(options.dmin / (2 * density.rate)) * 4 * (2 + (options.anomalous ? 1 : 0));
    if (ofDensity > most)
      throw FileError(path, "needs " + sizeText(ofDensity) +
                                " of memory for its electron density; choose a coarser limit "
                                "(--hkl-dmin)");
    const double ofMask = options.kSol == 0 ? 0 : points(maskSpacing()) * (1 + 2 * 4);
    if (ofDensity + ofMask > most)
      throw FileError(path, "needs " + sizeText(ofDensity + ofMask) +
                                " of memory with its mask of bulk solvent; leave out --k-sol");
  }

  void dispersion(const gemmi::Element &element) {
    if (element.atomic_number() < 3 || element.atomic_number() > 92)
      return;
    double fpp = 0;
    const double energy = gemmi::hc() / options.wavelength;
    density.addends.set(element,
                        float(gemmi::cromer_liberman(element.atomic_number(), energy, &fpp)));
    imaginary[std::size_t(element.ordinal())] = float(fpp);
    anyImaginary = anyImaginary || fpp > 0;
  }

  void transformImaginary() {
    density.initialize_grid();
    for (const gemmi::Chain &chain : model.chains)
      for (const gemmi::Residue &residue : chain.residues)
        for (const gemmi::Atom &atom : residue.atoms) {
          const float fpp = imaginary[std::size_t(atom.element.ordinal())];
          const double peak =
              fpp * std::pow(4 * gemmi::pi() / std::max(atom.b_iso + density.blur, 1.0), 1.5);
          if (peak > 2 * density.cutoff)
            density.add_c_contribution_to_grid(atom, fpp);
        }
    density.grid.symmetrize_sum();
    anomalous = gemmi::transform_map_to_f_phi(density.grid, true);
  }

  void transformSolvent() {
    // The radius of the largest atom and of the probe: spheres of gemmi's mask must not meet their
    // own copies.
    constexpr double widest = 3.5;
    for (const double edge : {structure.cell.a, structure.cell.b, structure.cell.c})
      if (edge < 2 * widest)
        throw FileError(path, "has a unit cell with an edge below " +
                                  std::to_string(int(2 * widest)) +
                                  " A, too short for the mask of bulk solvent; leave out --k-sol");
    gemmi::Grid<std::int8_t> points;
    points.unit_cell = structure.cell;
    points.spacegroup = &group;
    points.set_size_from_spacing(maskSpacing(), /*denser=*/true);
    gemmi::SolventMasker(gemmi::AtomicRadiiSet::Cctbx).put_mask_on_grid(points, model);
    gemmi::Grid<float> mask;
    mask.copy_metadata_from(points);
    mask.data.assign(points.data.begin(), points.data.end());
    solvent = gemmi::transform_map_to_f_phi(mask, true);
  }

  /// A. The same for all resolutions at which the solvent still scatters, so that the structure
  /// factors of a reflection do not depend on the resolution limit.
  double maskSpacing() const { return std::min(0.3, options.dmin / 2); }

  StructureFactors collect() const {
    StructureFactors result;
    const double limit = 1 / (options.dmin * options.dmin);
    const auto &cell = structure.cell;
    const double edges[] = {cell.a, cell.b, cell.c};
    std::int64_t largest[3];
    for (int i = 0; i < 3; ++i)
      largest[i] = std::int64_t(edges[i] / options.dmin);
    HklGrid &grid = result.grid;
    grid = {-largest[0], largest[0], -largest[1], largest[1], -largest[2], largest[2], {}};
    const std::int64_t lSpan = 2 * largest[2] + 1, kSpan = (2 * largest[1] + 1) * lSpan;
    grid.values.assign(std::size_t((2 * largest[0] + 1) * kSpan), 0);
    if (options.phases) {
      result.real = grid.values;
      result.imaginary.assign(grid.values.size(), std::numeric_limits<double>::quiet_NaN());
    }
    double *center = grid.values.data() + largest[0] * kSpan + largest[1] * lSpan + largest[2];
    for (std::int64_t h = -largest[0]; h <= largest[0]; ++h)
      for (std::int64_t k = -largest[1]; k <= largest[1]; ++k)
        for (std::int64_t l = 0; l <= largest[2]; ++l) {
          const double inverse = cell.calculate_1_d2(gemmi::Miller{{int(h), int(k), int(l)}});
          if (inverse > limit)
            continue;
          const auto [plus, minus] = factors(int(h), int(k), int(l), inverse);
          const std::int64_t node = h * kSpan + k * lSpan + l;
          center[node] = std::abs(plus);
          center[-node] = std::abs(minus);
          if (options.phases) {
            const auto at = std::size_t(center + node - grid.values.data());
            const auto mate = std::size_t(center - node - grid.values.data());
            result.real[at] = plus.real();
            result.imaginary[at] = plus.imag();
            result.real[mate] = minus.real();
            result.imaginary[mate] = minus.imag();
          }
          result.reflections += l > 0 ? 2 : 1;
        }
    result.cell = numbersOf(cell);
    result.spaceGroup = group.hm;
    result.hallSymbol = group.hall;
    return result;
  }

  static std::complex<double> valueAt(const Transform &t, int h, int k, int l) {
    const int u = h < 0 ? h + t.nu : h, v = k < 0 ? k + t.nv : k;
    const std::complex<float> value = t.data[t.index_q(u, v, l)];
    return {value.real(), value.imag()};
  }

  /// F(h) and F(-h); l is not negative.
  std::pair<std::complex<double>, std::complex<double>> factors(int h, int k, int l,
                                                                double inverseSquare) const {
    const double sharpened = density.reciprocal_space_multiplier(inverseSquare);
    std::complex<double> a = sharpened * valueAt(real, h, k, l), b = 0;
    if (anyImaginary)
      b = std::complex<double>(0, sharpened) * valueAt(anomalous, h, k, l);
    if (options.kSol != 0)
      a += options.kSol * std::exp(-options.bSol * inverseSquare / 4) * valueAt(solvent, h, k, l);
    return {a + b, std::conj(a - b)};
  }

  const std::string &path;
  gemmi::Structure &structure;
  gemmi::Model &model;
  const ModelOptions &options;
  const gemmi::SpaceGroup &group;
  Atoms atoms;
  Density density;
  std::array<float, std::size_t(gemmi::El::END)> imaginary{}; ///< f'' by element
  bool anyImaginary = false;
  Transform real, anomalous, solvent;
};

/// The one model of a crystal that counts, with all copies by non-crystallographic symmetry.
gemmi::Structure crystalOf(const std::string &path, const std::string &content,
                           StructureFactorFormat format,
                           const std::optional<std::array<double, 6>> &cell,
                           std::vector<std::string> &warnings) {
  gemmi::Structure structure = structureOf(path, content, format);
  if (structure.models.empty())
    throw FileError(path, "has no atoms");
  if (!structure.cell.is_crystal()) {
    if (!cell)
      throw FileError(path, "has no unit cell (CRYST1, _cell); give -cell, or use a model of a "
                            "crystal");
    structure.cell.set((*cell)[0], (*cell)[1], (*cell)[2], (*cell)[3], (*cell)[4], (*cell)[5]);
    structure.spacegroup_hm = "P 1";
    warnings.push_back(path +
                       ": has no unit cell; its atoms are placed in the cell of -cell, in P 1");
  }
  requireCell(path, structure.cell);
  if (structure.models.size() > 1)
    warnings.push_back(path + ": has " + std::to_string(structure.models.size()) +
                       " models; the first is used");
  structure.models.resize(1, structure.models.front());
  structure.setup_cell_images();
  bool copies = false;
  for (const gemmi::NcsOp &op : structure.ncs)
    copies = copies || !op.given;
  if (copies)
    gemmi::expand_ncs(structure, gemmi::HowToNameCopiedChain::Short);
  return structure;
}

/// Multiplies all occupancies.
void shareCrystal(gemmi::Structure &structure, double share) {
  for (gemmi::Chain &chain : structure.models.front().chains)
    for (gemmi::Residue &residue : chain.residues)
      for (gemmi::Atom &atom : residue.atoms)
        atom.occ = float(atom.occ * share);
}

/// Adds the atoms of another model with its share of the crystal.
void join(gemmi::Structure &structure, const ModelPart &part,
          const std::optional<std::array<double, 6>> &cell, std::vector<std::string> &warnings) {
  gemmi::Structure other = crystalOf(part.path, part.content, part.format, cell, warnings);
  const std::array<double, 6> a = numbersOf(structure.cell), b = numbersOf(other.cell);
  constexpr double rounding = 1e-4;
  for (std::size_t i = 0; i < 6; ++i)
    if (std::fabs(a[i] / b[i] - 1) > rounding)
      throw FileError(part.path, "has another unit cell than the first model; models with weights "
                                 "share one crystal");
  if (&groupOf(part.path, other) != &groupOf(structure.name, structure))
    throw FileError(part.path, "is in another space group than the first model; models with "
                               "weights share one crystal");
  shareCrystal(other, part.share);
  auto &chains = structure.models.front().chains;
  chains.insert(chains.end(), other.models.front().chains.begin(),
                other.models.front().chains.end());
}

} // namespace

std::optional<std::array<double, 6>>
cellOfModel(const std::string &path, const std::string &content, StructureFactorFormat format) {
  return withGemmi(path, "a model", [&]() -> std::optional<std::array<double, 6>> {
    const gemmi::Structure structure = structureOf(path, content, format);
    if (!structure.cell.is_crystal())
      return std::nullopt;
    requireCell(path, structure.cell);
    return numbersOf(structure.cell);
  });
}

StructureFactors factorsOfModel(const std::string &path, const std::string &content,
                                StructureFactorFormat format, const ModelOptions &options,
                                const std::optional<std::array<double, 6>> &cell) {
  return withGemmi(path, "a model", [&] {
    std::vector<std::string> warnings;
    gemmi::Structure structure = crystalOf(path, content, format, cell, warnings);
    shareCrystal(structure, options.share);
    for (const ModelPart &part : options.others)
      join(structure, part, cell, warnings);
    StructureFactors result = FactorsOfModel(path, structure, options).calculate();
    result.warnings = warnings;
    return result;
  });
}

AtomsOfModel atomsIn(const std::string &path, const std::string &content,
                     StructureFactorFormat format,
                     const std::optional<std::array<double, 6>> &cell) {
  return withGemmi(path, "a model", [&] {
    AtomsOfModel result;
    const gemmi::Structure structure = crystalOf(path, content, format, cell, result.warnings);
    const gemmi::Model &model = structure.models.front();
    checkedAtoms(path, model);
    const gemmi::SpaceGroup &group = groupOf(path, structure);
    const gemmi::GroupOps operations = group.operations();
    for (const gemmi::Chain &chain : model.chains)
      for (const gemmi::Residue &residue : chain.residues)
        for (const gemmi::Atom &atom : residue.atoms)
          for (const gemmi::Op op : operations) {
            const gemmi::Fractional at = structure.cell.fractionalize(atom.pos);
            const auto image = op.apply_to_xyz({at.x, at.y, at.z});
            result.atoms.push_back({atom.element.uname(), image, atom.occ, atom.b_iso});
          }
    result.cell = numbersOf(structure.cell);
    result.spaceGroup = group.hm;
    return result;
  });
}

} // namespace nanobragg::io
