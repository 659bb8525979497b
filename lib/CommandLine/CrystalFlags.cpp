#include "lib/CommandLine/Flag.h"

namespace nanobragg {
namespace {

constexpr double mostCells = 1e9;

void setCrystalSize(CommandLine &line, const Values &v) {
  line.options.sampleX = line.options.sampleY = line.options.sampleZ = v.number();
}

/// Along three axes; one number stands for all.
Vec3 oneOrThree(const Values &v) {
  if (v.size() == 2)
    v.refuse("give one number, or three");
  return {v.number(0), v.number(v.size() == 3 ? 1 : 0), v.number(v.size() == 3 ? 2 : 0)};
}

template <CrystalShape shape>
void setShape(CommandLine &line, const Values &) {
  line.options.shape = shape;
}

} // namespace

FlagGroup crystalFlags() {
  return {
      "Crystal",
      {
          {.spellings = {"-cell"},
           .values = "A [B C ALPHA BETA GAMMA]",
           .unit = "A and degrees",
           .fallback = "none; b and c as a, angles 90",
           .help = "unit cell; with -mat its lengths and volume replace the matrix's",
           .range = Range::notNegative(),
           .apply =
               [](CommandLine &line, const Values &v) {
                 std::array<double, 6> cell{};
                 for (std::size_t i = 0; i < v.size(); ++i)
                   cell[i] = v.number(i);
                 if (cell[0] == 0)
                   v.refuse("the edge a must be greater than 0 A");
                 for (std::size_t i = 3; i < 6; ++i)
                   if (cell[i] >= 180)
                     v.refuse(v.text(i) + " degrees is out of range; angles must be less than 180");
                 line.options.cell = cell;
               }},
          {.spellings = {"-mat", "-matrix"},
           .values = "FILE",
           .fallback = "none",
           .help = "MOSFLM orientation matrix: nine numbers, columns a* b* c*, times wavelength/A",
           .apply = [](CommandLine &line, const Values &v) { line.files.matrix = v.text(); }},
          {.spellings = {"-misset"},
           .values = "X Y Z",
           .unit = "degrees",
           .fallback = "none",
           .help = "turn the crystal about lab X, then Y, then Z; the one word random: a random "
                   "orientation",
           .alone = [](std::string_view word) { return word.find("rand") != word.npos; },
           .apply =
               [](CommandLine &line, const Values &v) {
                 line.options.missetRandom = v.size() == 1;
                 if (v.size() == 3)
                   line.options.misset = Vec3{v.number(0), v.number(1), v.number(2)};
               }},
          {.spellings = {"-misset_seed"},
           .values = "N",
           .fallback = "another one each run",
           .help = "random-number seed of -misset random",
           .range = Range::between(-2147483647, 2147483647),
           .apply =
               [](CommandLine &line, const Values &v) {
                 line.options.missetSeed = v.integer();
                 // The C program takes the word for -misset too, whatever the next two words are.
                 if (line.semantics.flagPrefixes != Rule::C || v.following().size() < 3)
                   return;
                 line.options.misset = Vec3{v.number(), leadingNumber(v.following()[1]),
                                            leadingNumber(v.following()[2])};
                 line.options.missetRandom = false;
                 line.warnings.push_back("-misset_seed also sets -misset, as in the C program; put "
                                         "it before -misset, or last");
               }},
          {.spellings = {"-default_F"},
           .values = "F",
           .unit = "electrons",
           .fallback = "0",
           .help = "structure factor of every reflection that no file gives",
           .apply = [](CommandLine &line, const Values &v) { line.options.defaultF = v.number(); }},
          {.spellings = {"-N"},
           .values = "N",
           .unit = "cells",
           .fallback = "1",
           .help = "unit cells along each axis; 0 counts as 1",
           .range = Range::between(0, mostCells),
           .apply =
               [](CommandLine &line, const Values &v) {
                 line.options.na = line.options.nb = line.options.nc = v.integer();
               }},
          {.spellings = {"-Na"},
           .values = "N",
           .unit = "cells",
           .fallback = "1",
           .help = "unit cells along a",
           .range = Range::between(0, mostCells),
           .apply = [](CommandLine &line, const Values &v) { line.options.na = v.integer(); }},
          {.spellings = {"-Nb"},
           .values = "N",
           .unit = "cells",
           .fallback = "1",
           .help = "unit cells along b",
           .range = Range::between(0, mostCells),
           .apply = [](CommandLine &line, const Values &v) { line.options.nb = v.integer(); }},
          {.spellings = {"-Nc"},
           .values = "N",
           .unit = "cells",
           .fallback = "1",
           .help = "unit cells along c",
           .range = Range::between(0, mostCells),
           .apply = [](CommandLine &line, const Values &v) { line.options.nc = v.integer(); }},
          {.spellings = {"-Ncells_def"},
           .values = "D E F",
           .unit = "cells",
           .fallback = "0 0 0",
           .help = "with -gauss_xtal, spots of any orientation: widths [[Na, D, F], [D, Nb, E], "
                   "[F, E, Nc]]",
           .range = Range::between(-mostCells, mostCells),
           .apply =
               [](CommandLine &line, const Values &v) {
                 line.options.ncellsDef = {v.number(0), v.number(1), v.number(2)};
               }},
          {.spellings = {"-xtalsize", "-xtal_size", "-samplesize", "-sample_size"},
           .values = "SIZE",
           .unit = "mm",
           .fallback = "from -N",
           .help = "crystal size along each axis; beats -N, clipped to the beam along b and c",
           .range = Range::notNegative(),
           .apply = setCrystalSize},
          {.spellings = {"-xtal_thick", "-xtal_x", "-sample_thick", "-sample_x"},
           .values = "SIZE",
           .unit = "mm",
           .fallback = "from -Na",
           .help = "crystal size along a",
           .range = Range::notNegative(),
           .apply = [](CommandLine &line, const Values &v) { line.options.sampleX = v.number(); }},
          {.spellings = {"-xtal_width", "-xtal_y", "-sample_width", "-sample_y", "-width"},
           .values = "SIZE",
           .unit = "mm",
           .fallback = "from -Nb",
           .help = "crystal size along b",
           .range = Range::notNegative(),
           .apply = [](CommandLine &line, const Values &v) { line.options.sampleY = v.number(); }},
          {.spellings = {"-xtal_height", "-xtal_heigh", "-xtal_z", "-sample_height",
                         "-sample_heigh", "-sample_z", "-height", "-heigh"},
           .values = "SIZE",
           .unit = "mm",
           .fallback = "from -Nc",
           .help = "crystal size along c",
           .range = Range::notNegative(),
           .apply = [](CommandLine &line, const Values &v) { line.options.sampleZ = v.number(); }},
          {.spellings = {"-square_xtal"},
           .fallback = "on",
           .help = "parallelepiped crystal",
           .apply = setShape<CrystalShape::Square>},
          {.spellings = {"-round_xtal"},
           .fallback = "off",
           .help = "ellipsoidal crystal",
           .apply = setShape<CrystalShape::Round>},
          {.spellings = {"-gauss_xtal"},
           .fallback = "off",
           .help = "Gaussian spots, no fringes between them",
           .apply = setShape<CrystalShape::Gauss>},
          {.spellings = {"-tophat_spots", "-binary_spots"},
           .fallback = "off",
           .help = "spots of constant intensity, nothing between them",
           .apply = setShape<CrystalShape::Tophat>},
          {.spellings = {"-fudge"},
           .values = "FACTOR",
           .fallback = "1",
           .help = "scales the squared spot radius; not with -square_xtal",
           .range = Range::notNegative(),
           .apply = [](CommandLine &line, const Values &v) { line.options.fudge = v.number(); }},
          {.spellings = {"-mosaic", "-mosaici*", "-mosaic_spr*"},
           .values = "SPREAD",
           .unit = "degrees",
           .fallback = "0",
           .help = "largest rotation of a mosaic domain; 90 for a powder",
           .range = Range::notNegative(),
           .apply = [](CommandLine &line,
                       const Values &v) { line.options.mosaicSpread = v.number(); }},
          {.spellings = {"-mosaic_abc"},
           .values = "A B C",
           .unit = "degrees",
           .fallback = "none",
           .help = "mosaic spread (standard deviation) about a*, about c x a* and about c; takes "
                   "the place "
                   "of -mosaic",
           .range = Range::notNegative(),
           .apply =
               [](CommandLine &line, const Values &v) {
                 line.options.mosaicAbc = {v.number(0), v.number(1), v.number(2)};
               }},
          {.spellings = {"-mosaic_domains", "-mosaic_dom*"},
           .values = "N",
           .unit = "domains",
           .fallback = "10 with -mosaic or -mosaic_abc, else 1",
           .help = "mosaic domains",
           .range = Range::between(0, 1e8),
           .apply = [](CommandLine &line,
                       const Values &v) { line.options.mosaicDomains = v.integer(); }},
          {.spellings = {"-mosaic_seed"},
           .values = "N",
           .fallback = "12345678",
           .help = "random-number seed of the mosaic domains",
           .range = Range::between(-2147483647, 2147483647),
           .apply = [](CommandLine &line,
                       const Values &v) { line.options.mosaicSeed = v.integer(); }},
          {.spellings = {"-diffuse_gamma"},
           .values = "X [Y Z]",
           .unit = "A",
           .fallback = "none",
           .help = "diffuse scattering: correlation length of displacements along a*, c x a* and c",
           .range = Range::positive(),
           .apply = [](CommandLine &line,
                       const Values &v) { line.options.diffuseGamma = oneOrThree(v); }},
          {.spellings = {"-diffuse_sigma"},
           .values = "X [Y Z]",
           .unit = "A",
           .fallback = "none",
           .help = "diffuse scattering: root mean square displacement along a*, c x a* and c",
           .range = Range::notNegative(),
           .apply = [](CommandLine &line,
                       const Values &v) { line.options.diffuseSigma = oneOrThree(v); }},
          {.spellings = {"-laue_group"},
           .values = "NUMBER",
           .fallback = "1",
           .help = "symmetry of diffuse scattering: -1 112/m 12/m1 2/m11 mmm 4/m 4/mmm -3 -3m1 "
                   "-31m 6/m "
                   "6/mmm m-3 m-3m, counted from 1",
           .range = Range::between(1, 14),
           .apply = [](CommandLine &line,
                       const Values &v) { line.options.laueGroup = v.integer(); }},
          {.spellings = {"-interpolate"},
           .fallback = "on when two cells or fewer",
           .help = "tricubic interpolation between structure factors",
           .apply = [](CommandLine &line, const Values &) { line.options.interpolate = true; }},
          {.spellings = {"-nointerpolate"},
           .fallback = "on with three cells or more",
           .help = "the structure factor of the nearest reflection",
           .apply = [](CommandLine &line, const Values &) { line.options.interpolate = false; }},
          {.spellings = {"-dmin"},
           .values = "D",
           .unit = "A",
           .fallback = "0",
           .help = "nothing beyond this resolution",
           .range = Range::notNegative(),
           .apply = [](CommandLine &line, const Values &v) { line.options.dmin = v.number(); }},
      }};
}

} // namespace nanobragg
