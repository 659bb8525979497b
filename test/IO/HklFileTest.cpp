#include "lib/Formats/HklFile.h"

#include "test/IO/TemporaryDirectory.h"

#include <zlib.h>

#include <chrono>
#include <random>

namespace nanobragg::io {
namespace {

struct HklFileTest : testing::Test {
  TemporaryDirectory directory;
  HklFile parse(std::string_view text, double defaultF = 0) {
    return readHkl(directory.add("f.hkl", text), defaultF);
  }
  void expectError(std::string_view text, const std::string &part) {
    expectFileError([&] { parse(text); }, part);
  }
};

TEST_F(HklFileTest, FillsTheBoundingBox) {
  const HklFile file = parse("1 -2 3 10.5\n2 -1 3 -7\n", 4);
  EXPECT_EQ(file.reflections, 2u);
  EXPECT_EQ(file.duplicates, 0u);
  const HklGrid &grid = file.grid;
  EXPECT_EQ(grid.hMin, 1);
  EXPECT_EQ(grid.hMax, 2);
  EXPECT_EQ(grid.kMin, -2);
  EXPECT_EQ(grid.kMax, -1);
  EXPECT_EQ(grid.lMin, 3);
  EXPECT_EQ(grid.lMax, 3);
  EXPECT_EQ(grid.values, (std::vector<double>{10.5, 4, 4, -7}));
}

TEST_F(HklFileTest, LFastestHSlowest) {
  const HklGrid grid = parse("0 0 0 1\n0 0 1 2\n0 1 0 3\n1 0 0 5\n1 1 1 8\n").grid;
  EXPECT_EQ(grid.values, (std::vector<double>{1, 2, 3, 0, 5, 0, 0, 8}));
}

TEST_F(HklFileTest, IgnoresCommentsBlankLinesLineEndsAndFurtherColumns) {
  const HklFile file = parse("# made by hand\r\n\r\n  \t\n 0\t0 0 1.5e1 0.3 FOM\r\n"
                             "0 0 1 2 # strong\n+1 0 0 +3");
  EXPECT_EQ(file.reflections, 3u);
  EXPECT_EQ(file.grid.values, (std::vector<double>{15, 2, 3, 0}));
}

TEST_F(HklFileTest, AcceptsWholeNumbersWrittenAsReals) {
  EXPECT_EQ(parse("1.0 2.000 -3. 5\n").grid.lMin, -3);
  EXPECT_EQ(parse("1e1 2 3 5\n").grid.hMin, 10);
}

/// A further column makes a line one for the general reader.
TEST_F(HklFileTest, BothReadersGiveTheSameNumbers) {
  std::mt19937 random(1);
  std::string plain, general;
  for (int i = 0; i != 2000; ++i) {
    std::string number = random() % 3 ? "" : "-";
    for (int digits = int(random() % 17) + 1, point = int(random() % 17); digits-- > 0; --point)
      number += point == 0 ? std::string(1, char('0' + random() % 10)) + "."
                           : std::string(1, char('0' + random() % 10));
    const std::string line =
        std::to_string(i % 50 - 25) + " " + std::to_string(i / 50) + " -7 " + number;
    plain += line + (i % 5 ? "\n" : " \t\r\n");
    general += line + " 1\n";
  }
  const HklFile a = parse(plain), b = parse(general);
  EXPECT_EQ(a.reflections, 2000u);
  EXPECT_EQ(a.grid.values, b.grid.values);
  EXPECT_EQ(a.grid.hMin, b.grid.hMin);
}

TEST_F(HklFileTest, CountsLinesOfBothReaders) {
  expectError("0 0 1 2\n0 0 2 3 4\n0 0 3 5\n0 0 x 4\n", "f.hkl:4: cannot read l from 'x'");
}

TEST_F(HklFileTest, LastDuplicateWins) {
  const HklFile file = parse("0 0 1 5\n0 0 1 6\n0 0 1 7\n");
  EXPECT_EQ(file.reflections, 3u);
  EXPECT_EQ(file.duplicates, 2u);
  EXPECT_EQ(file.grid.values, std::vector<double>{7});
}

TEST_F(HklFileTest, RefusesMalformedLines) {
  expectError("0 0 0 1\n0 0.5 1 2\n", "f.hkl:2: index k is '0.5'; Miller indices are whole");
  expectError("h k l F\n", "f.hkl:1: cannot read h from 'h'");
  expectError("1 2 3\n", "f.hkl:1: column F is missing");
  expectError("1\n", "column k is missing");
  expectError("1 2 3 abc\n", "cannot read F from 'abc'");
  expectError("1 2 3 4x\n", "cannot read F from '4x'");
  expectError("1 2 3 nan\n", "cannot read F");
  expectError("1 2 3 inf\n", "cannot read F");
  expectError("1 2 3 1e999\n", "cannot read F");
  expectError("1,2,3,4\n", "cannot read h from '1,2,3,4'");
  expectError("1 2 3x 4\n", "cannot read l");
  expectError("1 2 +-3 4\n", "cannot read l");
  expectError("99999999999 0 0 1\n", "out of range");
  expectError(std::string_view("\0\1\2\3", 4), "f.hkl:1: cannot read h from '?");
}

TEST_F(HklFileTest, RefusesFilesWithoutReflections) {
  expectError("", "f.hkl: has no reflections");
  expectError("# nothing\n\n", "has no reflections");
}

TEST_F(HklFileTest, RefusesABoxThatDoesNotFitIntoMemory) {
  expectError("0 0 0 1\n2000000000 2000000000 2000000000 1\n",
              "span h 0..2000000000, k 0..2000000000, l 0..2000000000");
}

TEST_F(HklFileTest, RefusesMissingFilesAndDirectories) {
  expectFileError([&] { readHkl(directory.path("none.hkl"), 0); }, "No such file");
  expectFileError([&] { readHkl(directory.path(""), 0); }, "Is a directory");
}

TEST_F(HklFileTest, ReadsGzip) {
  const std::string path = directory.path("packed");
  gzFile file = gzopen(path.c_str(), "wb");
  gzputs(file, "1 0 0 2\n2 0 0 3\n");
  gzclose(file);
  EXPECT_EQ(readHkl(path, 0).grid.values, (std::vector<double>{2, 3}));
}

TEST_F(HklFileTest, ReadsTwoHundredThousandLinesFast) {
  std::string text;
  for (int h = -35; h <= 35; ++h)
    for (int k = -35; k <= 35; ++k)
      for (int l = -20; l <= 20; ++l)
        text += std::to_string(h) + " " + std::to_string(k) + " " + std::to_string(l) + " " +
                std::to_string(std::abs(h * k + l)) + ".125\n";
  const std::string path = directory.add("big.hkl", text);
  const auto start = std::chrono::steady_clock::now();
  const HklFile file = readHkl(path, 0);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  EXPECT_EQ(file.reflections, 71u * 71 * 41);
  // About 20 ms on one idle core; the bound only has to catch a return to slow parsing.
  EXPECT_LT(seconds.count(), 1.0);
}

} // namespace
} // namespace nanobragg::io
