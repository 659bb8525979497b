// Files of small molecules: core CIF and SHELX.
#include "lib/Files/FileError.h"
#include "lib/Gemmi/Model.h"
#include "lib/Gemmi/Reflections.h"
#include "test/IO/TemporaryDirectory.h"

#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace nanobragg::io {
namespace {

double at(const HklGrid &g, int h, int k, int l) {
  const std::int64_t kSpan = g.kMax - g.kMin + 1, lSpan = g.lMax - g.lMin + 1;
  return g.values[std::size_t(((h - g.hMin) * kSpan + (k - g.kMin)) * lSpan + (l - g.lMin))];
}

double real(const StructureFactors &f, int h, int k, int l) {
  HklGrid grid = f.grid;
  grid.values = f.real;
  return at(grid, h, k, l);
}

// P 21/c by its operations, as SHELXL writes it.
const std::string crystal = "data_salt\n"
                            "_cell_length_a 7.0\n_cell_length_b 8.0(2)\n_cell_length_c 9.0\n"
                            "_cell_angle_alpha 90\n_cell_angle_beta 100\n_cell_angle_gamma 90\n"
                            "loop_\n_space_group_symop_operation_xyz\n'x, y, z'\n"
                            "'-x, y+1/2, -z+1/2'\n'-x, -y, -z'\n'x, -y-1/2, z-1/2'\n";
const std::string list4 = crystal +
                          "loop_\n_refln_index_h\n_refln_index_k\n_refln_index_l\n"
                          "_refln_F_squared_calc\n_refln_F_squared_meas\n_refln_F_squared_sigma\n"
                          "1 2 3 390 400 0.1\n1 0 0 90 100 0.1\n";

TEST(CoreCif, TakesMeasuredSquaresInTheGroupOfItsOperations) {
  ASSERT_EQ(formatOf("a.hkl", list4), StructureFactorFormat::CifReflections);
  const StructureFactors f = readCifReflections({"salt.fcf", ""}, list4, 0);
  EXPECT_EQ(f.spaceGroup, "P 1 21/c 1");
  EXPECT_NEAR((*f.cell)[1], 8, 1e-9);
  for (int sign : {1, -1}) {
    EXPECT_NEAR(at(f.grid, sign, 2 * sign, 3 * sign), 20, 1e-3);
    EXPECT_NEAR(at(f.grid, sign, -2 * sign, 3 * sign), 20, 1e-3);
    EXPECT_EQ(at(f.grid, sign, 2 * sign, -3 * sign), 0);
  }
  EXPECT_NEAR(at(f.grid, 1, 0, 0), 10, 1e-3);
}

TEST(CoreCif, MeasuredSquaresGoBeforeCalculatedAmplitudes) {
  const std::string list6 =
      crystal + "loop_\n_refln_index_h\n_refln_index_k\n_refln_index_l\n_refln_F_squared_meas\n"
                "_refln_F_squared_sigma\n_refln_F_calc\n_refln_phase_calc\n"
                "1 2 3 400 0.1 15 180\n";
  EXPECT_NEAR(at(readCifReflections({"salt.fcf", ""}, list6, 0).grid, 1, 2, 3), 20, 1e-3);
  EXPECT_NEAR(at(readCifReflections({"salt.fcf", "F_calc"}, list6, 0).grid, 1, 2, 3), 15, 1e-3);
  const StructureFactors complex = readCifReflections({"salt.fcf", ""}, list6, 0, true);
  EXPECT_NEAR(real(complex, 1, 2, 3), -15, 1e-3);
}

const std::string atoms =
    crystal +
    "loop_\n_atom_site_label\n_atom_site_type_symbol\n_atom_site_fract_x\n_atom_site_fract_y\n"
    "_atom_site_fract_z\n_atom_site_U_iso_or_equiv\n_atom_site_occupancy\n"
    "Cl1 Cl 0.1 0.2 0.3 0.04 1\nNa1 Na 0 0 0 0.03 1\n";

TEST(CoreCif, FactorsOfAtomsAreThoseOfASum) {
  ASSERT_EQ(formatOf("a.hkl", atoms), StructureFactorFormat::CifModel);
  ModelOptions options;
  options.dmin = 1;
  options.anomalous = false;
  const StructureFactors f =
      factorsOfModel("salt.cif", atoms, StructureFactorFormat::CifModel, options, std::nullopt);
  // The same crystal as a PDB file, in which sodium on a centre of symmetry counts half.
  const std::string pdb =
      "CRYST1    7.000    8.000    9.000  90.00 100.00  90.00 P 1 21/c 1    4\n"
      "HETATM    1 CL   CL  A   1       0.231   1.600   2.659  1.00  3.16          CL\n"
      "HETATM    2 NA   NA  A   2       0.000   0.000   0.000  0.50  2.37          NA\n";
  const StructureFactors g =
      factorsOfModel("salt.pdb", pdb, StructureFactorFormat::Pdb, options, std::nullopt);
  ASSERT_EQ(f.grid.values.size(), g.grid.values.size());
  for (std::size_t i = 0; i < f.grid.values.size(); ++i)
    EXPECT_NEAR(f.grid.values[i], g.grid.values[i], 0.02 + 2e-3 * g.grid.values[i]);
  EXPECT_GT(at(f.grid, 1, 1, 1), 1);
}

TEST(CoreCif, DisplacementsAreInUnitsOfTheReciprocalCell) {
  const std::string head = atoms + "loop_\n_atom_site_aniso_label\n_atom_site_aniso_U_11\n"
                                   "_atom_site_aniso_U_22\n_atom_site_aniso_U_33\n"
                                   "_atom_site_aniso_U_12\n_atom_site_aniso_U_13\n"
                                   "_atom_site_aniso_U_23\n";
  // An isotropic displacement in an oblique cell: U_13 = U cos(beta*), beta* = 80 degrees.
  const std::string isotropic =
      head + "Cl1 0.04 0.04 0.04 0 " + std::to_string(0.04 * std::cos(80 * M_PI / 180)) + " 0\n";
  ModelOptions options;
  options.dmin = 1;
  options.anomalous = false;
  const auto of = [&](const std::string &text) {
    return factorsOfModel("salt.cif", text, StructureFactorFormat::CifModel, options, std::nullopt)
        .grid;
  };
  const HklGrid f = of(atoms), g = of(isotropic);
  for (std::size_t i = 0; i < f.values.size(); ++i)
    EXPECT_NEAR(f.values[i], g.values[i], 0.02 + 2e-3 * f.values[i]);
}

const std::string instructions = "TITL salt\nCELL 0.71073 7 8 9 90 100 90\nZERR 4 0 0 0 0 0 0\n"
                                 "LATT 1\nSYMM -X, 0.5+Y, 0.5-Z\nSFAC NA CL\nHKLF 4\n";
// The second line is an equivalent of the first, the third its Friedel mate.
const std::string reflections = "   1   2   3  399.00    1.00   1\n"
                                "  -1   2  -3  401.00    1.00   1\n"
                                "  -1  -2  -3  400.00    0.50   1\n"
                                "   1   0   0  100.00    0.10   1\n"
                                "   0   0   0    0.00    0.00   0\n";

class Shelx : public testing::Test {
protected:
  StructureFactors read(const std::string &text) const {
    return readShelx({directory.add("salt.hkl", text), ""}, text, 0);
  }
  TemporaryDirectory directory;
};

TEST_F(Shelx, AveragesEquivalentsAndTakesTheCrystalOfTheInstructions) {
  ASSERT_EQ(formatOf("a.hkl", reflections), StructureFactorFormat::Shelx);
  directory.add("salt.ins", instructions);
  const StructureFactors f = read(reflections);
  EXPECT_EQ(f.spaceGroup, "P 1 21/c 1");
  EXPECT_NEAR((*f.cell)[4], 100, 1e-9);
  EXPECT_NEAR(at(f.grid, 1, 2, 3), 20, 1e-2);
  EXPECT_NEAR(at(f.grid, 1, -2, 3), 20, 1e-2);
  EXPECT_NEAR(at(f.grid, -1, 0, 0), 10, 1e-2);
}

TEST_F(Shelx, KeepsFriedelMatesApartWithoutACentreOfSymmetry) {
  directory.add("salt.res", "CELL 1 7 8 9 90 100 90\nLATT -1\n");
  const StructureFactors f = read(reflections);
  EXPECT_EQ(f.spaceGroup, "P 1");
  EXPECT_NEAR(at(f.grid, 1, 2, 3), std::sqrt(399), 1e-2);
  EXPECT_NEAR(at(f.grid, -1, -2, -3), 20, 1e-2);
}

TEST_F(Shelx, TakesAmplitudes) {
  directory.add("salt.ins", "CELL 1 7 8 9 90 100 90\nLATT -1\nHKLF 3\n");
  EXPECT_NEAR(at(read(reflections).grid, 1, 2, 3), 399, 1e-2);
}

TEST_F(Shelx, TakesMatrixAndScaleOfTheInstructions) {
  directory.add("salt.ins",
                "CELL 1 7 8 9 90 100 90\nLATT -1\nTWIN\nHKLF 4 2 0 0 1 =\n 0 -1 0 1 0 0\nEND\n");
  const StructureFactors f = read(reflections);
  EXPECT_NEAR(at(f.grid, 3, -2, 1), std::sqrt(2 * 399), 1e-2);
  EXPECT_NEAR(at(f.grid, 0, 0, 1), std::sqrt(200), 1e-2);
  EXPECT_THAT(f.warnings, testing::ElementsAre(testing::HasSubstr("TWIN and BASF")));
  directory.add("salt.ins", "CELL 1 7 8 9 90 100 90\nLATT -1\nHKLF 4 1 0.5 0 0 0 1 0 0 0 1\n");
  expectFileError([&] { read(reflections); },
                  "salt.hkl:1: has indices that are not whole numbers after the matrix of HKLF");
  directory.add("salt.ins", "CELL 1 7 8 9 90 100 90\nLATT -1\nHKLF 4 1 0.5 0 0\n");
  expectFileError([&] { read(reflections); }, "not of nine numbers");
}

TEST_F(Shelx, AListMayEndWithItsFile) {
  const std::string open = reflections.substr(0, reflections.rfind("   0   0   0"));
  const std::string path = directory.add("salt.hkl", open);
  EXPECT_EQ(formatOf(path, open), StructureFactorFormat::Text) << "nothing says that it is F^2";
  directory.add("salt.ins", instructions);
  EXPECT_EQ(formatOf(path, open), StructureFactorFormat::Shelx);
  EXPECT_NEAR(at(read(open).grid, 1, 2, 3), 20, 1e-2);
}

TEST(ForeignFormats, AreNamedWithTheWayToConvertThem) {
  for (const auto &[content, sentence] :
       {std::pair("!FORMAT=XDS_ASCII    MERGE=FALSE\n", "intensities of XDS"),
        {"!OUTPUT_FILE=INTEGRATE.HKL    DATE= 8-Feb-2013\n", "let CORRECT scale them"},
        {" XPARM.XDS    VERSION Jan 10, 2022\n", "for --expt"},
        {"CrystFEL reflection list version 2.0\n", "get_hkl"},
        {"<!DOCTYPE html>\n<html>\n", "web page"},
        {"CrystFEL stream format 2.3\n", "partialator"},
        {" NREFlection=     2\n ANOMalous=FALSe\n", "CNS"},
        {"    1\n -987\n    57.8    57.8   150.1    90    90    90 p41212\n", "Scalepack"},
        {"    8 p41212\n  1  0  0\n", "Scalepack"},
        {"TITL sucrose\nCELL 1 7 8 9 90 90 90\nLATT -1\n", "instructions of SHELX"},
        {"{\"__id__\": \"ExperimentList\"}", "give it with --expt"},
        {"\x93\xbb"
         "dials::af::reflection_table\x01",
         "dials.merge"}})
    expectFileError([&] { formatOf("a.hkl", content); }, sentence);
  for (const char *list : {"1 2 3 400\n", "    1   2   3   400\n", "   1 -987   3   4\n", ""})
    EXPECT_EQ(formatOf("a.hkl", list), StructureFactorFormat::Text);
}

TEST_F(Shelx, SaysWhatIsMissing) {
  const auto refused = [&](const std::string &part) {
    expectFileError([&] { read(reflections); }, part);
  };
  refused("put salt.ins or salt.res beside it");
  directory.add("salt.ins", "CELL 1 7 8 9 90 100 90\nLATT -1\nHKLF 5\n");
  refused("HKLF 5");
  directory.add("salt.ins", "CELL 1 7 8 9 90 100 90\nLATT -1\nSYMM x,y,2z\n");
  refused("salt.ins");
}

TEST(ShelxFormat, ListsOfAmplitudesAreNone) {
  EXPECT_EQ(formatOf("a.hkl", "1 2 3 400\n0 0 4 100\n"), StructureFactorFormat::Text);
  EXPECT_EQ(formatOf("a.hkl", "   1   2   3  399.00    1.00\n   2   2   3  401.00    1.00\n"),
            StructureFactorFormat::Text);
}

} // namespace
} // namespace nanobragg::io
