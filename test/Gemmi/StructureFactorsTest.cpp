// Reflection files and models against what they say, and against a sum over atoms.
#include "lib/Files/FileError.h"
#include "lib/Gemmi/FrenchWilson.h"
#include "lib/Gemmi/Model.h"
#include "lib/Gemmi/Reflections.h"

#include <cmath>
#include <complex>
#include <cstring>
#include <gemmi/fprime.hpp>
#include <gemmi/it92.hpp>
#include <gemmi/symmetry.hpp>
#include <gemmi/unitcell.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sstream>

namespace nanobragg::io {
namespace {

using testing::HasSubstr;

double at(const HklGrid &g, int h, int k, int l) {
  const std::int64_t kSpan = g.kMax - g.kMin + 1, lSpan = g.lMax - g.lMin + 1;
  return g.values[std::size_t(((h - g.hMin) * kSpan + (k - g.kMin)) * lSpan + (l - g.lMin))];
}

/// A merged MTZ file of `rows`, with H K L and these columns.
std::string mtzBytes(const char *group, const std::vector<std::pair<std::string, char>> &columns,
                     const std::vector<float> &rows) {
  const int width = int(columns.size()) + 3, count = int(rows.size()) / width;
  std::string bytes(80, '\0');
  bytes.replace(0, 4, "MTZ ");
  const std::int32_t header = 21 + std::int32_t(rows.size());
  std::memcpy(bytes.data() + 4, &header, 4);
  bytes.replace(8, 2, "\x44\x41"); // little-endian
  bytes.append(reinterpret_cast<const char *>(rows.data()), rows.size() * sizeof(float));
  const auto line = [&](std::string text) {
    text.resize(80, ' ');
    bytes += text;
  };
  const gemmi::SpaceGroup *sg = gemmi::find_spacegroup_by_name(group);
  line("VERS MTZ:V1.1");
  line("NCOL " + std::to_string(width) + " " + std::to_string(count) + " 0");
  line("CELL 50 60 70 90 90 " + std::string(sg->number == 143 ? "120" : "90"));
  line("SYMINF 1 1 P " + std::to_string(sg->number) + " '" + sg->hm + "' PG1");
  line("COLUMN H H 0 9 1");
  line("COLUMN K H 0 9 1");
  line("COLUMN L H 0 9 1");
  for (const auto &[label, type] : columns)
    line("COLUMN " + label + " " + std::string(1, type) + " 0 9 1");
  line("NDIF 1");
  line("PROJECT 1 p");
  line("CRYSTAL 1 c");
  line("DATASET 1 d");
  line("DCELL 1 50 60 70 90 90 90");
  line("DWAVEL 1 1.0");
  line("END");
  line("MTZENDOFHEADERS");
  return bytes;
}

template <typename Read>
std::string refusalOf(Read read) {
  try {
    read();
  } catch (const FileError &error) {
    return error.what();
  }
  return "";
}

StructureFactors mtz(const std::string &bytes, const std::string &label = "", double defaultF = 0) {
  return readMtz({"a.mtz", label}, bytes, defaultF);
}

TEST(Mtz, ExpandsByTheSpaceGroupAndItsMates) {
  const auto f = mtz(mtzBytes("P 2 2 2", {{"FP", 'F'}, {"SIGFP", 'Q'}}, {1, 2, 3, 10, 1}));
  for (int h : {-1, 1})
    for (int k : {-2, 2})
      for (int l : {-3, 3})
        EXPECT_EQ(at(f.grid, h, k, l), 10);
  EXPECT_EQ(f.reflections, 1u);
  EXPECT_EQ((*f.cell)[1], 60);
}

TEST(Mtz, TakesFPlusAndFMinus) {
  const auto f = mtz(mtzBytes("P 2 2 2", {{"FP", 'F'}, {"F(+)", 'G'}, {"F(-)", 'G'}},
                              {1, 2, 3, 10, 11, 9, 1, 1, 1, 5, NAN, 4}));
  EXPECT_EQ(at(f.grid, 1, 2, 3), 11);
  EXPECT_EQ(at(f.grid, 1, -2, -3), 11);
  EXPECT_EQ(at(f.grid, -1, -2, -3), 9);
  EXPECT_EQ(at(f.grid, -1, 2, 3), 9);
  EXPECT_EQ(at(f.grid, 1, 1, 1), 4) << "one of a pair that was not measured";
}

TEST(Mtz, AddsHalfOfTheAnomalousDifference) {
  const auto f = mtz(mtzBytes("P 1", {{"F", 'F'}, {"DANO", 'D'}}, {1, 2, 3, 10, 4}));
  EXPECT_EQ(at(f.grid, 1, 2, 3), 12);
  EXPECT_EQ(at(f.grid, -1, -2, -3), 8);
}

TEST(Mtz, ExtinctNodesAreZeroWhateverTheDefault) {
  const auto f = mtz(mtzBytes("C 2 2 21", {{"F", 'F'}}, {2, 2, 3, 10}), "", 7);
  EXPECT_EQ(at(f.grid, 1, 2, 3), 0) << "h + k is odd";
  EXPECT_EQ(at(f.grid, 0, 0, 1), 0) << "a screw axis";
  EXPECT_EQ(at(f.grid, 1, 1, 3), 7);
  EXPECT_EQ(at(f.grid, -2, 2, -3), 10);
}

TEST(Mtz, TurnsHexagonalIndices) {
  const auto f = mtz(mtzBytes("P 3", {{"F", 'F'}}, {1, 2, 3, 10}));
  EXPECT_EQ(at(f.grid, 2, -3, 3), 10); // h k l -> k, -h-k, l
  EXPECT_EQ(at(f.grid, -3, 1, 3), 10);
  EXPECT_EQ(at(f.grid, 2, 1, 3), 0);
}

TEST(Mtz, RefusesWhatIsNoAmplitude) {
  const auto refusal = [](const std::vector<std::pair<std::string, char>> &columns,
                          const std::string &label) {
    std::vector<float> row(3 + columns.size(), 1);
    return refusalOf([&] { mtz(mtzBytes("P 1", columns, row), label); });
  };
  EXPECT_THAT(refusal({{"IMEAN", 'J'}}, ""),
              HasSubstr("a.mtz: has intensities (IMEAN) without their sigmas (SIGIMEAN)"));
  EXPECT_THAT(refusal({{"I", 'J'}, {"F", 'F'}}, "I"), HasSubstr("without their sigmas"));
  EXPECT_THAT(refusal({{"IA", 'J'}, {"IB", 'J'}}, ""),
              HasSubstr("several columns of intensities (IA, IB); say which with FILE:LABEL"));
  EXPECT_THAT(refusal({{"FA", 'F'}, {"FB", 'F'}}, ""), HasSubstr("a.mtz:FA"));
  EXPECT_THAT(refusal({{"FA", 'F'}}, "FC"), HasSubstr("the columns of amplitudes are FA"));
  EXPECT_EQ(refusal({{"FA", 'F'}, {"FB", 'F'}}, "FB"), "");
}

TEST(FrenchWilson, GivesTheTablesOfThePaper) {
  // E(F) and its sigma for h = (I/sigma) - (sigma/expected) of -4, -2, 0, 1, 3, in units of the
  // root of sigma; centric with half of the last. The paper's centric values are 0.003 too small:
  // at h = 0 they are 0.578, and sqrt(pi/8) / (2^(1/4) Gamma(5/4)) is 0.5814.
  const double h[] = {-4, -2, 0, 1, 3};
  const double acentric[] = {0.423, 0.549, 0.822, 1.070, 1.706};
  const double acentricSigma[] = {0.216, 0.269, 0.349, 0.376, 0.304};
  const double centric[] = {0.269, 0.356, 0.578, 0.832, 1.632};
  const double centricSigma[] = {0.203, 0.261, 0.375, 0.445, 0.349};
  for (int i = 0; i < 5; ++i) {
    const auto one = frenchWilson(4 * h[i], 4, 1e9, false),
               other = frenchWilson(4 * h[i], 4, 1e9, true);
    EXPECT_NEAR(one.F / 2, acentric[i], 1e-3);
    EXPECT_NEAR(one.sigma / 2, acentricSigma[i], 1e-3);
    EXPECT_NEAR(other.F / 2, centric[i], 4e-3);
    EXPECT_NEAR(other.sigma / 2, centricSigma[i], 2e-3);
  }
  EXPECT_NEAR(frenchWilson(0, 1, 1e9, true).F,
              std::sqrt(std::acos(-1.0) / 8) / (std::pow(2, 0.25) * std::tgamma(1.25)), 1e-6);
}

TEST(FrenchWilson, IsTheRootOfWhatIsSureAndWilsonsMeanOfWhatIsNot) {
  for (const bool centric : {false, true}) {
    EXPECT_NEAR(frenchWilson(1e6, 1, 1e6, centric).F, 1000, 1e-3);
    EXPECT_NEAR(frenchWilson(1e6, 1, 1e6, centric).sigma, 0.0005, 1e-6);
  }
  EXPECT_NEAR(frenchWilson(30, 1e7, 4, false).F, std::sqrt(std::acos(-1.0)), 1e-3);
  EXPECT_NEAR(frenchWilson(30, 1e7, 4, true).F, std::sqrt(8 / std::acos(-1.0)), 1e-3);
  EXPECT_GT(frenchWilson(-50, 1, 1, false).F, 0);
}

TEST(Mtz, TakesIntensities) {
  const std::vector<std::pair<std::string, char>> means = {{"IMEAN", 'J'}, {"SIGIMEAN", 'Q'}};
  const auto f = mtz(mtzBytes("P 2 2 2", means,
                              {1, 2, 3, 1e4, 1, 3, 2, 1, -5, 2, 2, 2, 1, 9e3, 0, 1, 1, 2, NAN, 1}));
  EXPECT_NEAR(at(f.grid, 1, -2, 3), 100, 1e-2);
  const double weak = at(f.grid, 3, 2, 1), expected = (1e4 - 5) / 2;
  EXPECT_NEAR(weak, frenchWilson(-5, 2, expected, false).F, 1e-3);
  EXPECT_EQ(at(f.grid, 2, 2, 1), 0) << "has no sigma, so it was not measured";
  EXPECT_EQ(f.reflections, 2u);
  EXPECT_THAT(f.notes.front(), HasSubstr("intensities IMEAN by French and Wilson's method"));
}

TEST(Mtz, TakesIPlusAndIMinus) {
  const auto f =
      mtz(mtzBytes("P 2 2 2",
                   {{"IMEAN", 'J'},
                    {"SIGIMEAN", 'Q'},
                    {"I(+)", 'K'},
                    {"SIGI(+)", 'M'},
                    {"I(-)", 'K'},
                    {"SIGI(-)", 'M'}},
                   {1, 2, 3, 1e4, 1, 1.44e4, 1, 1e4, 1, 1, 1, 1, 1e4, 1, 8.1e3, 1, 0, 0}));
  EXPECT_NEAR(at(f.grid, 1, 2, 3), 120, 1e-2);
  EXPECT_NEAR(at(f.grid, -1, -2, -3), 100, 1e-2);
  EXPECT_NEAR(at(f.grid, -1, -1, -1), 90, 1e-2) << "one of a pair that was not measured";
}

TEST(Mtz, ExpectsMoreWhereSymmetryMultipliesAndNothingWhereItExtinguishes) {
  const std::vector<std::pair<std::string, char>> means = {{"I", 'J'}, {"SIGI", 'Q'}};
  const auto f = mtz(mtzBytes("P 2 2 21", means,
                              {1, 2, 3, 100, 1, 2, 1, 3, 100, 1, 0, 0, 2, 1, 50, 0, 0, 3, 40, 1}));
  // 0 0 l: centric, twice as bright on average.
  EXPECT_NEAR(at(f.grid, 0, 0, 2), frenchWilson(1, 50, 2 * (100 + 100 + 0.5) / 3, true).F, 1e-3);
  EXPECT_EQ(at(f.grid, 0, 0, 3), 0);
}

TEST(Mtz, TakesIndicesAndPhasesByTheirLabels) {
  std::string bytes =
      mtzBytes("P 1", {{"PHIC", 'P'}, {"FC", 'F'}, {"PHIB", 'P'}}, {7, 1, 2, 90, 10, 3});
  for (const auto &[from, to] :
       {std::pair("COLUMN L H", "COLUMN K H"), std::pair("COLUMN K H", "COLUMN H H"),
        std::pair("COLUMN H H", "COLUMN FREE I"), std::pair("COLUMN PHIB P", "COLUMN L H")}) {
    std::string line = to;
    line.resize(20, ' ');
    bytes.replace(bytes.find(from), 20, line);
  }
  EXPECT_EQ(at(mtz(bytes).grid, 1, 2, 3), 10);
  StructureFactors f = readMtz({"a.mtz", ""}, bytes, 0, true);
  f.grid.values = f.imaginary;
  EXPECT_NEAR(at(f.grid, 1, 2, 3), 10, 1e-5) << "PHIC stands before FC";
  bytes.replace(bytes.find("COLUMN L H"), 10, "COLUMN M H");
  EXPECT_THAT(refusalOf([&] { mtz(bytes); }), HasSubstr("has no column 'L'"));
}

TEST(Mtz, ShellsHaveTwoHundredReflections) {
  // Twice as bright at each further reflection: the mean of a shell depends on which are in it.
  std::vector<float> rows;
  double sum = 0;
  constexpr int count = 399;
  for (int h = 1; h <= count; ++h) {
    const float I = h == 1 ? 1 : float(h * h);
    sum += I;
    rows.insert(rows.end(), {float(h), 0, 0, I, 20});
  }
  const auto f = mtz(mtzBytes("P 1", {{"I", 'J'}, {"SIGI", 'Q'}}, rows));
  EXPECT_NEAR(at(f.grid, 1, 0, 0), frenchWilson(1, 20, sum / count, false).F, 1e-4);
}

TEST(Mtz, MergesWhatItListsAgain) {
  const auto once = mtz(mtzBytes("P 2 2 2", {{"F", 'F'}}, {1, 2, 3, 10, -1, -2, 3, 10.001f}));
  EXPECT_EQ(once.reflections, 1u);
  EXPECT_TRUE(once.warnings.empty()) << "equal but for rounding";
  // Friedel mates in rows of their own keep their difference.
  const auto f =
      mtz(mtzBytes("P 2 2 2", {{"F", 'F'}}, {1, 2, 3, 10, -1, -2, -3, 8, 1, -2, -3, 12}));
  EXPECT_EQ(at(f.grid, -1, 2, -3), 11);
  EXPECT_EQ(at(f.grid, -1, 2, 3), 8);
  ASSERT_EQ(f.warnings.size(), 1u);
  EXPECT_THAT(f.warnings.front(), HasSubstr("a.mtz: lists 1 values again"));
  const std::string twice =
      mtzBytes("P 1", {{"FC", 'F'}, {"PHIC", 'P'}}, {1, 2, 3, 10, 0, 1, 2, 3, 11, 0});
  EXPECT_THAT(refusalOf([&] { readMtz({"a.mtz", ""}, twice, 0, true); }),
              HasSubstr("lists the reflection 1 2 3 more than once"));
}

TEST(Mtz, RefusesDamage) {
  const std::string good = mtzBytes("P 1", {{"F", 'F'}}, {1, 2, 3, 10});
  EXPECT_THAT(refusalOf([&] { mtz(good.substr(0, 90)); }), HasSubstr("a.mtz"));
  std::string many = good;
  const std::size_t count = many.find("NCOL");
  many.replace(count, 20, "NCOL 4 900000000 0  ");
  EXPECT_THAT(refusalOf([&] { mtz(many); }), HasSubstr("promises 900000000 reflections"));
}

TEST(Cif, TakesIntensities) {
  const std::string head = "data_r1\n_cell.length_a 50\n_cell.length_b 60\n_cell.length_c 70\n"
                           "_cell.angle_alpha 90\n_cell.angle_beta 90\n_cell.angle_gamma 90\n"
                           "_symmetry.space_group_name_H-M 'P 2 2 2'\nloop_\n_refln.index_h\n"
                           "_refln.index_k\n_refln.index_l\n_refln.intensity_meas\n";
  const auto read = [](const std::string &text) {
    return readCifReflections({"a.cif", ""}, text, 0);
  };
  const auto f = read(head + "_refln.intensity_sigma\n1 2 3 400 1\n1 1 1 ? ?\n");
  EXPECT_NEAR(at(f.grid, 1, 2, -3), 20, 2e-3);
  EXPECT_EQ(f.reflections, 1u);
  EXPECT_THAT(refusalOf([&] { read(head + "1 2 3 400\n"); }),
              HasSubstr("intensities (intensity_meas) without their sigmas (intensity_sigma)"));
}

const char *sfCif = "data_r1\n_cell.length_a 50\n_cell.length_b 60\n_cell.length_c 70\n"
                    "_cell.angle_alpha 90\n_cell.angle_beta 90\n_cell.angle_gamma 90\n"
                    "_symmetry.space_group_name_H-M 'P 1 2 1'\nloop_\n_refln.index_h\n"
                    "_refln.index_k\n_refln.index_l\n_refln.F_meas_au\n_refln.F_calc\n"
                    "1 2 3 10 20\n2 0 1 ? 21\n";

TEST(CifReflections, ReadsAmplitudes) {
  const auto f = readCifReflections({"a.cif", ""}, sfCif, 0);
  EXPECT_EQ(at(f.grid, 1, 2, 3), 10);
  EXPECT_EQ(at(f.grid, -1, 2, -3), 10);
  EXPECT_EQ(f.reflections, 1u);
  const auto calculated = readCifReflections({"a.cif", "F_calc"}, sfCif, 0);
  EXPECT_EQ(at(calculated.grid, -2, 0, -1), 21);
}

TEST(CifReflections, MergesIntensitiesByTheirSigmas) {
  const std::string text = "data_r1\n_cell.length_a 50\n_cell.length_b 60\n_cell.length_c 70\n"
                           "_cell.angle_alpha 90\n_cell.angle_beta 90\n_cell.angle_gamma 90\n"
                           "_symmetry.space_group_name_H-M 'P 21 21 21'\nloop_\n"
                           "_refln.index_h\n_refln.index_k\n_refln.index_l\n"
                           "_refln.intensity_meas\n_refln.intensity_sigma\n"
                           "1 2 3 1000 1\n-1 -2 3 1300 2\n2 2 3 500 1\n";
  const auto f = readCifReflections({"a.cif", ""}, text, 0);
  EXPECT_NEAR(at(f.grid, -1, 2, -3), std::sqrt(1060), 1e-2);
  EXPECT_EQ(f.reflections, 2u);
  EXPECT_THAT(f.warnings, testing::ElementsAre(HasSubstr("mean, weighted by the sigmas")));
}

TEST(CifReflections, RefusesSeveralWavelengthsInAList) {
  std::string text = sfCif;
  text.replace(text.find("loop_"), 5,
               "loop_\n_diffrn_radiation_wavelength.id\n_diffrn_radiation_wavelength.wavelength\n"
               "1 0.979\n2 0.918\nloop_\n_refln.wavelength_id");
  text.replace(text.find("1 2 3 10"), 8, "1 1 2 3 10");
  text.replace(text.find("2 0 1 ?"), 7, "2 2 0 1 ?");
  EXPECT_THAT(refusalOf([&] { readCifReflections({"a.cif", ""}, text, 0); }),
              HasSubstr("several wavelengths in one list (_refln.wavelength_id 1 (0.979 A), 2 "
                        "(0.918 A))"));
  const auto f = readCifReflections(
      {"a.cif", ""}, std::string(sfCif) + "\n#\ndata_r2\n" + std::string(sfCif).substr(8), 0);
  EXPECT_THAT(f.warnings, testing::ElementsAre(HasSubstr("in 2 blocks; only the first, r1")));
}

const char *model =
    "CRYST1   20.000   24.000   28.000  90.00 100.00  90.00 P 1 21 1      2\n"
    "ATOM      1  C   ALA A   1       3.100   4.200   5.300  1.00 12.00           C\n"
    "ATOM      2  O   ALA A   1       4.100   6.250   7.350  0.50 15.00           O\n"
    "HETATM    3 SE   MSE A   2       9.000   8.000   2.000  1.00 20.00          SE\n";

struct Atom {
  double x, y, z, occupancy, b;
  gemmi::El element;
};

/// |F| by a sum over the atoms of the cell, with `more` added to all B factors.
double direct(const std::array<int, 3> &h, double wavelength, double more = 0,
              const gemmi::UnitCell &cell = {20, 24, 28, 90, 100, 90}) {
  const double s = cell.calculate_1_d2(h) / 4;
  std::complex<double> sum = 0;
  for (const Atom &a :
       {Atom{3.1, 4.2, 5.3, 1, 12, gemmi::El::C}, Atom{4.1, 6.25, 7.35, 0.5, 15, gemmi::El::O},
        Atom{9, 8, 2, 1, 20, gemmi::El::Se}}) {
    double fpp = 0;
    const int z = gemmi::Element(a.element).atomic_number();
    const double fp = gemmi::cromer_liberman(z, gemmi::hc() / wavelength, &fpp);
    const std::complex<double> f(gemmi::IT92<double>::get(a.element).calculate_sf(s) + fp, fpp);
    const gemmi::Fractional x = cell.fractionalize(gemmi::Position(a.x, a.y, a.z));
    for (const auto &[u, v, w] : {std::array{x.x, x.y, x.z}, {-x.x, x.y + 0.5, -x.z}})
      sum += a.occupancy * std::exp(-(a.b + more) * s) * f *
             std::polar(1.0, 2 * gemmi::pi() * (h[0] * u + h[1] * v + h[2] * w));
  }
  return std::abs(sum);
}

TEST(Model, FactorsAreThoseOfASumOverAtoms) {
  ModelOptions options;
  options.dmin = 2;
  options.wavelength = 0.9;
  const auto f = factorsOfModel("a.pdb", model, StructureFactorFormat::Pdb, options, {});
  for (const std::array<int, 3> h : {std::array{1, 2, 3}, {-4, 1, 5}, {3, -7, 2}, {0, 2, 0}}) {
    const double expected = direct(h, 0.9), mate = direct({-h[0], -h[1], -h[2]}, 0.9);
    EXPECT_NEAR(at(f.grid, h[0], h[1], h[2]), expected, 2e-3 * expected + 5e-3);
    EXPECT_NEAR(at(f.grid, -h[0], -h[1], -h[2]), mate, 2e-3 * mate + 5e-3);
  }
  EXPECT_GT(std::fabs(direct({3, -7, 2}, 0.9) - direct({-3, 7, -2}, 0.9)), 0.05)
      << "there is an anomalous difference to get right";
  EXPECT_NEAR(at(f.grid, 0, 3, 0), 0, 5e-3) << "extinct";
}

TEST(Model, FactorsOfSeveralModelsAddUpByTheirWeights) {
  std::string other = model;
  other.replace(other.find("3.100   4.200"), 13, "2.900   5.000");
  ModelOptions options;
  options.dmin = 2;
  options.phases = true;
  const auto of = [&](const std::string &text) {
    return factorsOfModel("a.pdb", text, StructureFactorFormat::Pdb, options, {});
  };
  const auto a = of(model), b = of(other);
  options.share = 0.7;
  options.others = {{"b.pdb", other, StructureFactorFormat::Pdb, 0.3}};
  const auto both = of(model);
  double most = 0;
  for (std::size_t i = 0; i < both.real.size(); ++i) {
    if (std::isnan(a.imaginary[i]))
      continue;
    EXPECT_NEAR(both.real[i], 0.7 * a.real[i] + 0.3 * b.real[i], 5e-3);
    EXPECT_NEAR(both.imaginary[i], 0.7 * a.imaginary[i] + 0.3 * b.imaginary[i], 5e-3);
    most = std::max(most, std::fabs(a.real[i] - b.real[i]));
  }
  EXPECT_GT(most, 1);
  options.others.front().content.replace(10, 5, "9.000"); // another edge
  EXPECT_THAT(refusalOf([&] { of(model); }), HasSubstr("b.pdb"));
}

TEST(Model, NegativeBFactorsSharpen) {
  std::string sharp = model;
  for (const auto &[from, to] : {std::pair(" 12.00", " -8.00"), std::pair(" 15.00", " -5.00"),
                                 std::pair("1.00 20.00 ", "1.00  0.00 ")})
    sharp.replace(sharp.find(from), std::strlen(from), to);
  ModelOptions options;
  options.dmin = 2;
  options.wavelength = 0.9;
  const auto f = factorsOfModel("a.pdb", sharp, StructureFactorFormat::Pdb, options, {});
  for (const std::array<int, 3> h : {std::array{1, 2, 3}, {-4, 1, 5}, {3, -7, 2}, {0, 2, 0}}) {
    const double expected = direct(h, 0.9, -20);
    EXPECT_NEAR(at(f.grid, h[0], h[1], h[2]), expected, 2e-3 * expected + 5e-3);
  }
}

TEST(Model, SkewCellsHaveAllTheirReflections) {
  std::string skew = model;
  skew.replace(skew.find("90.00 100.00"), 12, "90.00  35.00");
  ModelOptions options;
  options.dmin = 2;
  options.wavelength = 0.9;
  const auto f = factorsOfModel("a.pdb", skew, StructureFactorFormat::Pdb, options, {});
  const gemmi::UnitCell cell(20, 24, 28, 90, 35, 90);
  int far = 0;
  for (const std::array<int, 3> h : {std::array{9, 1, 12}, {8, -4, 11}, {3, 7, 2}, {-1, 2, 5}}) {
    if (cell.calculate_1_d2(h) > 0.25)
      continue;
    ++far;
    const double expected = direct(h, 0.9, 0, cell);
    EXPECT_NEAR(at(f.grid, h[0], h[1], h[2]), expected, 2e-3 * expected + 5e-3);
  }
  EXPECT_GE(far, 3);
}

TEST(Model, CentringOfGroupsOfNumberOneCounts) {
  const auto of = [](const std::string &group) {
    std::string text = model;
    text.replace(text.find("P 1 21 1"), 8, group);
    ModelOptions options;
    options.dmin = 3;
    options.kSol = 0.35;
    options.bSol = 46;
    return factorsOfModel("a.pdb", text, StructureFactorFormat::Pdb, options, {});
  };
  const auto plain = of("P 1     "), faces = of("F 1     ");
  for (const auto &[group, odd] :
       {std::pair("A 1     ", std::array{0, 1, 0}), std::pair("B 1     ", std::array{1, 0, 0}),
        std::pair("C 1     ", std::array{1, 2, 0}), std::pair("I 1     ", std::array{1, 1, 1})}) {
    const auto f = of(group);
    EXPECT_NEAR(at(f.grid, odd[0], odd[1], odd[2]), 0, 0.05) << group;
    EXPECT_GT(at(f.grid, 2, 2, 2), 1.2 * at(plain.grid, 2, 2, 2)) << group;
  }
  EXPECT_NEAR(at(faces.grid, 1, 1, 2), 0, 0.05);
  EXPECT_EQ(faces.spaceGroup, "F 1");
}

TEST(Model, SolventChangesLowAnglesOnly) {
  ModelOptions dry, wet;
  dry.dmin = wet.dmin = 2;
  wet.kSol = 0.35;
  wet.bSol = 46;
  const auto a = factorsOfModel("a.pdb", model, StructureFactorFormat::Pdb, dry, {});
  const auto b = factorsOfModel("a.pdb", model, StructureFactorFormat::Pdb, wet, {});
  EXPECT_GT(std::fabs(at(b.grid, 1, 0, 1) - at(a.grid, 1, 0, 1)), 5);
  EXPECT_NEAR(at(b.grid, 8, 4, 2), at(a.grid, 8, 4, 2), 2);
}

TEST(Model, SolventDoesNotDependOnTheResolutionLimit) {
  // Bulk solvent adds the difference between calculations with and without it.
  const auto solvent = [](double dmin, const std::array<int, 3> &h) {
    ModelOptions options;
    options.dmin = dmin;
    const auto dry = factorsOfModel("a.pdb", model, StructureFactorFormat::Pdb, options, {});
    options.kSol = 0.35;
    const auto wet = factorsOfModel("a.pdb", model, StructureFactorFormat::Pdb, options, {});
    return at(wet.grid, h[0], h[1], h[2]) - at(dry.grid, h[0], h[1], h[2]);
  };
  double difference = 0, total = 0;
  for (const std::array<int, 3> h :
       {std::array{1, 0, 0}, {1, 1, 0}, {0, 0, 2}, {1, 0, 1}, {2, 1, 0}})
    for (const double dmin : {4.0, 2.5, 1.0}) {
      const double finest = solvent(0.8, h);
      difference += std::fabs(solvent(dmin, h) - finest);
      total += std::fabs(finest);
    }
  EXPECT_LT(difference, 0.01 * total);
}

TEST(Model, ReadsFilesWithNamesAndNumbersAtTheEndOfLines) {
  ModelOptions options;
  options.dmin = 2;
  const auto expected = factorsOfModel("a.pdb", model, StructureFactorFormat::Pdb, options, {});
  std::istringstream lines(model);
  std::string old;
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind("ATOM", 0) == 0 || line.rfind("HETATM", 0) == 0) {
      line.resize(72, ' ');
      char columns[16];
      std::snprintf(columns, sizeof columns, "1ABC%4d", ++number);
      line += columns;
    }
    old += line + "\n";
  }
  ASSERT_GT(number, 0);
  const auto f = factorsOfModel("a.pdb", old, StructureFactorFormat::Pdb, options, {});
  EXPECT_EQ(f.grid.values, expected.grid.values);
}

TEST(Model, RefusesSolventInAFlatCell) {
  ModelOptions options;
  options.dmin = 2;
  options.kSol = 0.35;
  std::string flat = model;
  const std::size_t edge = flat.find("CRYST1") + 6;
  flat.replace(edge, 9, "    4.800");
  EXPECT_THAT(
      refusalOf([&] { factorsOfModel("a.pdb", flat, StructureFactorFormat::Pdb, options, {}); }),
      HasSubstr("too short for the mask of bulk solvent"));
}

TEST(Model, RefusesWhatItCannotScatterFrom) {
  const auto refusal = [](const std::string &text) {
    ModelOptions options;
    options.dmin = 2;
    return refusalOf(
        [&] { factorsOfModel("a.pdb", text, StructureFactorFormat::Pdb, options, {}); });
  };
  const std::string atoms = std::string(model).substr(std::string(model).find("ATOM"));
  EXPECT_THAT(refusal(atoms), HasSubstr("CRYST1"));
  std::string unknown = model;
  unknown.replace(unknown.find("SE\n"), 2, " X");
  EXPECT_THAT(refusal(unknown), HasSubstr("no scattering factor"));
  std::string sharp = model;
  sharp.replace(sharp.find(" 12.00"), 6, "-900.0");
  EXPECT_THAT(refusal(sharp), HasSubstr("has an impossible position, occupancy or B factor"));
  std::string unusual = model;
  unusual.replace(unusual.find("P 1 21 1"), 8, "F 1 m 1 ");
  EXPECT_THAT(refusal(unusual), HasSubstr("'F 1 m 1', which is not in the tables of settings"));
}

} // namespace
} // namespace nanobragg::io
