#include "lib/Formats/TextFiles.h"

#include "test/IO/TemporaryDirectory.h"

namespace nanobragg::io {
namespace {

struct TextFilesTest : testing::Test {
  TemporaryDirectory directory;
  Mat3 matrix(std::string_view text) { return readMatrix(directory.add("A.mat", text)); }
  std::vector<SourceLine> sources(std::string_view text) {
    return readSources(directory.add("s.txt", text));
  }
  StolTable stol(std::string_view text) { return readStol(directory.add("bg.stol", text)); }
};

TEST_F(TextFilesTest, MatrixTakesTheFirstNineNumbers) {
  EXPECT_EQ(matrix("  0.01 -0.02 0.003\n 1 2 3\r\n 0.5 0 7 \n 0.0 0.0 0.0\ncell\n"),
            (Mat3{0.01, -0.02, 0.003, 1, 2, 3, 0.5, 0, 7}));
  EXPECT_EQ(matrix("1 0 0 0 1 0 0 0 1")[8], 1);
}

TEST_F(TextFilesTest, MatrixRefusals) {
  expectFileError([&] { matrix("1 2 3\n4 5 6\n7 8\n"); }, "A.mat: has 8 of the nine numbers");
  expectFileError([&] { matrix(""); }, "has 0 of the nine numbers");
  expectFileError([&] { matrix("1 2 3\n4 five 6\n7 8 9\n"); }, "A.mat:2: 'five' is not a number");
  expectFileError([&] { matrix("1 2 nan 4 5 6 7 8 9"); }, "'nan' is not a number");
  expectFileError([&] { matrix("1 2 3 2 4 6 1 0 0"); }, "the matrix is singular");
  expectFileError([&] { readMatrix(directory.path("none")); }, "No such file");
}

TEST_F(TextFilesTest, SourcesWithAllColumns) {
  const auto list = sources("# x y z weight lambda\n-10 0.5 -0.25 2 1e-10\n\n-10,1,2;3:1.5e-10\n");
  ASSERT_EQ(list.size(), 2u);
  EXPECT_EQ(list[0].position[1], 0.5);
  EXPECT_EQ(list[0].weight, 2.0);
  EXPECT_EQ(list[0].wavelength, 1e-10);
  EXPECT_EQ(list[1].position[2], 2.0);
  EXPECT_EQ(list[1].weight, 3.0);
  EXPECT_EQ(list[1].wavelength, 1.5e-10);
}

class MissingColumns : public TextFilesTest, public testing::WithParamInterface<const char *> {};

TEST_P(MissingColumns, AreAbsentWhateverEndsTheLine) {
  const auto list = sources(std::string("-10 0 1") + GetParam());
  ASSERT_EQ(list.size(), 1u);
  EXPECT_EQ(list[0].position[2], 1.0);
  EXPECT_FALSE(list[0].weight.has_value());
  EXPECT_FALSE(list[0].wavelength.has_value());
}

INSTANTIATE_TEST_SUITE_P(LineEnds, MissingColumns,
                         testing::Values("\n", "\r\n", "", " \n", "\t\r\n", " # weightless"));

TEST_F(TextFilesTest, LinesOfSourcesHaveThreeToFiveColumns) {
  expectFileError([&] { sources("-10 0 0\n-10\n"); },
                  "s.txt:2: has 1 column, and a source is x y z");
  expectFileError([&] { sources("# eV weight\n9500 0.3\n"); }, "s.txt:2: has 2 columns");
  expectFileError([&] { sources("-10 0 0 1 1e-10 7\n"); }, "s.txt:1: has more than 5 columns");
}

TEST_F(TextFilesTest, LinesOfSourcesHaveAnyColumnsInTheCProgram) {
  const auto list = readSources(directory.add("s.txt", "-10\n-10 0 0 1 1e-10 7\n"), Rule::C);
  ASSERT_EQ(list.size(), 2u);
  EXPECT_EQ(list[0].position[0], -10.0);
  EXPECT_FALSE(list[0].position[1].has_value());
  EXPECT_EQ(list[1].wavelength, 1e-10);
}

TEST_F(TextFilesTest, SourceRefusals) {
  expectFileError([&] { sources("# only comments\n"); }, "s.txt: has no sources");
  expectFileError([&] { sources(""); }, "has no sources");
  expectFileError([&] { sources("-10 0 0\n-10 zero 0\n"); }, "s.txt:2: column 2 is 'zero'");
  expectFileError([&] { sources("0 0 0 1 1e-10\n"); }, "the source is at the sample");
  expectFileError([&] { sources("-10 0 0 -1\n"); }, "the weight is negative");
  expectFileError([&] { sources("-10 0 0 1 1.5\n"); }, "the wavelength is 1.5 m; the fifth column");
  expectFileError([&] { sources("-10 0 0 1 0\n"); }, "the wavelength is 0 m");
  expectFileError([&] { sources("-10 0 0 1 -1e-10\n"); }, "the wavelength is -1e-10 m");
  expectFileError([&] { readSources(directory.path("none")); }, "No such file");
}

TEST_F(TextFilesTest, StolTable) {
  const auto table = stol("0 2.57\n0.1, 2.5\r\n# end\n0.5\t2");
  ASSERT_EQ(table.points.size(), 3u);
  EXPECT_EQ(table.points[1].stol, 0.1);
  EXPECT_EQ(table.points[2].f, 2);
  EXPECT_EQ(table.unsorted, 0u);
}

TEST_F(TextFilesTest, StolTableIsSorted) {
  const auto table = stol("0 2.5\n0.2 6\n# of shortwater.stol\n0.18 7\n0.3 4\n0.25 5\n");
  ASSERT_EQ(table.points.size(), 5u);
  EXPECT_EQ(table.unsorted, 4u);
  const double expected[][2] = {{0, 2.5}, {0.18, 7}, {0.2, 6}, {0.25, 5}, {0.3, 4}};
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(table.points[i].stol, expected[i][0]);
    EXPECT_EQ(table.points[i].f, expected[i][1]);
  }
}

TEST_F(TextFilesTest, StolRefusals) {
  expectFileError([&] { stol("0 1\n0.1\n"); }, "bg.stol:2: the second column is missing");
  expectFileError([&] { stol("\n"); }, "has no data");
  expectFileError([&] { stol("0 F\n"); }, "bg.stol:1: column 2 is 'F'");
  expectFileError([&] { stol("0 1\n0.1 2\n0.1 3\n"); },
                  "bg.stol:3: has the sin(theta)/lambda of line 2");
  expectFileError([&] { stol("0.1 1\n0.2 2\n0.1 3\n"); },
                  "bg.stol:3: has the sin(theta)/lambda of line 1");
  expectFileError([&] { stol("0 1 2\nx"); }, "bg.stol:2: column 1 is 'x'");
}

} // namespace
} // namespace nanobragg::io
