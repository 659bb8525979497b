#include "lib/Quantities/QuantityRows.h"

namespace nanobragg {
namespace {

constexpr Range cellCount = upTo(1e9);
constexpr UsualValues crystalSize{1e-6, 10, 1e-5, 1}, displacements{0, 1e5, 1e-3, 1e4},
    spreads{0, 180, 0, 1.5}, turns{0, 360, 0, 360, true};

std::string wrongCell(std::span<const double> cell) {
  if (cell[0] == 0)
    return "the edge a must be greater than 0 A";
  if (cell.size() != 1 && cell.size() != 3 && cell.size() != 6)
    return "a cell has six numbers, and " + std::to_string(cell.size()) +
           " are given; give A B C ALPHA BETA GAMMA, or A B C of a cell with right angles";
  for (std::size_t i = 3; i < cell.size(); ++i)
    if (cell[i] >= 180)
      return numberText(cell[i]) + " degrees is out of range; angles must be less than 180";
  return {};
}

/// Completes a cell where numbers are missing or 0: b and c are as a, angles are 90 degrees.
void completeCell(Options &o) {
  for (std::size_t i = 1; i != 6; ++i)
    if ((*o.cell)[i] == 0)
      (*o.cell)[i] = i < 3 ? (*o.cell)[0] : units::radians(90);
}

std::string oneOrThree(std::span<const double> numbers) {
  return numbers.size() == 2 ? "give one number, or three" : "";
}

// flags, values, unit, what holds without it, meaning, range, fields, and what not every row has
constexpr Quantity rowsBeforeShapes[] = {
    {"-cell", "A [B C ALPHA BETA GAMMA]", &flagUnit::cell, "none; b and c as a, angles 90",
     "unit cell; with -mat its lengths and volume replace those of the matrix",
     Range::notNegative(), in<&O::cell>,
     More{.python = "Crystal.cell",
          .parameter = "cell",
          .wrong = wrongCell,
          .also = completeCell,
          .usual = UsualValues{0.5, 1e5, 2, 2000}}},
    {"-misset", "X Y Z", &flagUnit::degrees, "none",
     "rotate the crystal about lab X, then Y, then Z; or the word random: a random orientation",
     Range::any(), in<&O::misset>,
     More{.python = "Crystal.misset",
          .parameter = "misset",
          .also = [](Options &o) { o.missetRandom = false; },
          .usual = turns}},
    {"-misset_seed", "N", &flagUnit::one, "different in each run",
     "random-number seed of the orientation", seeds, in<&O::missetSeed>,
     More{.python = "Crystal.misset_seed", .only = "with -misset random"}},
    {"-default_F", "F", &flagUnit::electrons, "0",
     "structure factor of reflections that no file lists", Range::any(), in<&O::defaultF>,
     More{.python = "Crystal.default_F", .parameter = "default_F"}},
    {"-N", "N", &flagUnit::cells, "1", "unit cells along each axis; 0 means 1", cellCount,
     in<&O::na, &O::nb, &O::nc>,
     More{.python = "Crystal.ncells",
          .parameter = "ncells",
          .only = "along an axis without a crystal size (-xtalsize)",
          .zeroIsUnset = true}},
    {"-Na", "N", &flagUnit::cells, "1", "unit cells along a", cellCount, in<&O::na>,
     More{.parameter = "ncells",
          .only = "without a crystal size along a (-xtal_thick)",
          .zeroIsUnset = true}},
    {"-Nb", "N", &flagUnit::cells, "1", "unit cells along b", cellCount, in<&O::nb>,
     More{.parameter = "ncells",
          .only = "without a crystal size along b (-xtal_width)",
          .zeroIsUnset = true}},
    {"-Nc", "N", &flagUnit::cells, "1", "unit cells along c", cellCount, in<&O::nc>,
     More{.parameter = "ncells",
          .only = "without a crystal size along c (-xtal_height)",
          .zeroIsUnset = true}},
    {"-Ncells_def", "D E F", &flagUnit::cells, "0 0 0",
     "with -gauss_xtal: off-diagonal elements of the matrix [[Na, D, F], [D, Nb, E], [F, E, Nc]], "
     "whose spots are ellipsoids of any orientation",
     Range::between(-1e9, 1e9), in<&O::ncellsDef>,
     More{.python = "Crystal.ncells_def", .parameter = "ncells"}},
    {"-xtalsize -xtal_size -samplesize -sample_size", "SIZE", &flagUnit::millimetres, "from -N",
     "crystal size along each axis; overrides -N, clipped to the beam along b and c",
     Range::notNegative(), in<&O::sampleX, &O::sampleY, &O::sampleZ>,
     More{.python = "Crystal.size", .zeroIsUnset = true, .usual = crystalSize}},
    {"-xtal_thick -xtal_x -sample_thick -sample_x", "SIZE", &flagUnit::millimetres, "from -Na",
     "crystal size along a", Range::notNegative(), in<&O::sampleX>,
     More{.zeroIsUnset = true, .usual = crystalSize}},
    {"-xtal_width -xtal_y -sample_width -sample_y -width", "SIZE", &flagUnit::millimetres,
     "from -Nb", "crystal size along b", Range::notNegative(), in<&O::sampleY>,
     More{.zeroIsUnset = true, .usual = crystalSize}},
    {"-xtal_height -xtal_heigh -xtal_z -sample_height -sample_heigh -sample_z -height -heigh",
     "SIZE", &flagUnit::millimetres, "from -Nc", "crystal size along c", Range::notNegative(),
     in<&O::sampleZ>, More{.zeroIsUnset = true, .usual = crystalSize}},
};

Quantity quantityOf(const CrystalShapeRow &row) {
  return {row.flags,      "",
          &flagUnit::one, row.shape == O().shape ? "on" : "off",
          row.meaning,    Range::any(),
          in<&O::shape>,  More{.python = "Crystal.shape", .value = double(row.shape)}};
}

constexpr Quantity rowsAfterShapes[] = {
    {"-fudge", "FACTOR", &flagUnit::one, "1", "scales the squared spot radius",
     Range::notNegative(), in<&O::fudge>,
     More{.python = "Crystal.fudge",
          .parameter = "fudge",
          .only = "without -square_xtal, which has no spot radius"}},
    {"-mosaic -mosaici* -mosaic_spr*", "SPREAD", &flagUnit::degrees, "0",
     "largest rotation of a mosaic domain, 90 for a powder; with --average=closed the standard "
     "deviation of rotations about each axis",
     Range::notNegative(), in<&O::mosaicSpread>,
     More{.python = "Crystal.mosaic_spread",
          .parameter = "mosaic_spread",
          .only = "without -mosaic_abc",
          .usual = spreads}},
    {"-mosaic_abc", "A B C", &flagUnit::degrees, "none",
     "mosaic spread (standard deviation) about a*, about c x a* and about c; replaces -mosaic",
     Range::notNegative(), in<&O::mosaicAbc>,
     More{.python = "Crystal.mosaic_abc", .parameter = "mosaic_abc", .usual = spreads}},
    {"-mosaic_domains -mosaic_dom*", "N", &flagUnit::domains,
     "10 with -mosaic or -mosaic_abc, else 1", "mosaic domains", upTo(1e8), in<&O::mosaicDomains>,
     More{.python = "Crystal.mosaic_domains",
          .parameter = "mosaic_domains",
          .only = "with a mosaic spread (-mosaic, -mosaic_abc) and without --average=closed or "
                  "quadrature",
          .zeroIsUnset = true}},
    {"-mosaic_seed", "N", &flagUnit::one, "12345678", "random-number seed of the mosaic domains",
     seeds, in<&O::mosaicSeed>,
     More{.python = "Crystal.mosaic_seed",
          .only = "with a mosaic spread (-mosaic, -mosaic_abc) and without --average=closed or "
                  "quadrature"}},
    {"-mosaic_lab", "", &flagUnit::one, "off",
     "rotate mosaic domains about axes of the laboratory, not of the crystal", Range::any(),
     in<&O::mosaicInLab>, More{.python = "Crystal.mosaic_in_lab", .only = "with -mosaic"}},
    {"-diffuse_gamma", "X [Y Z]", &flagUnit::angstroms, "none",
     "diffuse scattering: correlation length of displacements along a*, c x a* and c",
     Range::positive(), in<&O::diffuseGamma>,
     More{.python = "Crystal.diffuse_gamma",
          .parameter = "diffuse_gamma",
          .oneForAll = true,
          .wrong = oneOrThree,
          .usual = displacements}},
    {"-diffuse_sigma", "X [Y Z]", &flagUnit::angstroms, "none",
     "diffuse scattering: root mean square displacement along a*, c x a* and c",
     Range::notNegative(), in<&O::diffuseSigma>,
     More{.python = "Crystal.diffuse_sigma",
          .parameter = "diffuse_sigma",
          .oneForAll = true,
          .wrong = oneOrThree,
          .usual = displacements}},
    {"-laue_group", "NUMBER", &flagUnit::one, "1",
     "symmetry of diffuse scattering: -1 112/m 12/m1 2/m11 mmm 4/m 4/mmm -3 -3m1 -31m 6/m 6/mmm "
     "m-3 m-3m, counted from 1",
     Range::between(1, 14), in<&O::laueGroup>,
     More{.python = "Crystal.laue_group", .only = "with -diffuse_gamma"}},
    {"--average", "sampled|closed|quadrature|draws", &flagUnit::one,
     "sampled; closed for Gaussian crystals with --shots, --frames or --nexus, with a continuous "
     "spectrum and in Python, unless a flag sets a number of samples",
     "how pixels are averaged: sampled, over the sub-pixels, phi steps, mosaic domains and "
     "wavelengths set by flags; closed, over normal distributions and the pixel's area in closed "
     "form, for Gaussian crystals; quadrature, over the same distributions for all crystals, by as "
     "many draws as each pixel needs; draws, by a fixed number of draws",
     Range::any(), in<&O::averaging>, More{.python = "Crystal.average"}},
    {"--average-draws", "N", &flagUnit::one, "4096",
     "draws per pixel; with quadrature the smallest number", upTo(1e7), in<&O::averageDraws>,
     More{.python = "Crystal.average_draws",
          .only = "with --average=draws and quadrature",
          .zeroIsUnset = true}},
    {"--average-tolerance", "FRACTION", &flagUnit::one, "1e-3; with quadrature 1e-2",
     "accepted error of an average, relative to the peak of its spot. With quadrature it sets the "
     "number of draws; with closed, the number of quadrature nodes and the default of --cull. A "
     "warning is printed if spreads are too wide for it",
     Range::between(1e-8, 0.1), in<&O::averageTolerance>,
     More{.python = "Crystal.average_tolerance", .only = "with --average=closed and quadrature"}},
    {"-interpolate", "", &flagUnit::one, "on for two cells or fewer",
     "tricubic interpolation between structure factors", Range::any(), in<&O::interpolate>,
     More{.python = "Crystal.interpolate", .only = "with structure factors from a file"}},
    {"-nointerpolate", "", &flagUnit::one, "on for three cells or more",
     "the structure factor of the nearest reflection", Range::any(), in<&O::interpolate>,
     More{.python = "Crystal.interpolate",
          .only = "with structure factors from a file",
          .value = 0}},
    {"-dmin", "D", &flagUnit::angstroms, "0", "resolution limit; no light beyond it",
     Range::notNegative(), in<&O::dmin>,
     More{.python = "Crystal.dmin",
          .parameter = "dmin",
          .usual = UsualValues{0.05, 1000, 0.3, 100}}},
};

constexpr std::string_view model = "-hkl --hkl-channels";

constexpr Quantity modelRows[] = {
    {"--hkl-dmin", "D", &flagUnit::angstroms,
     "that of the detector's corners or of -dmin, not finer than 1 for cells above 1e4 A^3",
     "resolution limit of structure factors calculated from a model", Range::between(0.2, 1000),
     in<&O::modelDmin>,
     More{.python = "Crystal.hkl_dmin", .with = model, .usual = UsualValues{0.2, 1000, 0.3, 100}}},
    {"--k-sol", "DENSITY", &flagUnit::electronsPerVolume, "0, no bulk solvent",
     "density of the bulk solvent around a model, 0.35 for most proteins", upTo(10),
     in<&O::solventDensity>, More{.with = model}},
    {"--b-sol", "B", &flagUnit::squareAngstroms, "46", "B factor of the bulk solvent", upTo(10000),
     in<&O::solventB>, More{.with = "--k-sol"}},
    {"--no-anomalous", "", &flagUnit::one, "off",
     "calculate the structure factors of a model without f' and f''", Range::any(),
     in<&O::anomalousScattering>, More{.with = model, .without = "--anomalous-atoms", .value = 0}},
    {"-background_oversample", "N", &flagUnit::subPixels, "-oversample if given, else 1",
     "sub-pixels of the background along each edge of a pixel", Range::between(1, 10000),
     in<&O::backgroundOversample>,
     More{.python = "Beam.background_oversample", .only = "with a background table (-stol)"}},
};

} // namespace

std::span<const Quantity> crystalQuantities() {
  static const std::vector<Quantity> rows = [] {
    std::vector<Quantity> all(std::begin(rowsBeforeShapes), std::end(rowsBeforeShapes));
    for (const CrystalShapeRow &shape : crystalShapes)
      if (shape.flags)
        all.push_back(quantityOf(shape));
    all.insert(all.end(), std::begin(rowsAfterShapes), std::end(rowsAfterShapes));
    return all;
  }();
  return rows;
}
std::span<const Quantity> modelQuantities() { return modelRows; }

} // namespace nanobragg
