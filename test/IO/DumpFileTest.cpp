#include "lib/Formats/DumpFile.h"

#include "test/IO/TemporaryDirectory.h"

#include <cstring>
#include <limits>

namespace nanobragg::io {
namespace {

std::string bytesOf(const std::vector<double> &values) {
  std::string bytes(values.size() * sizeof(double), '\0');
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

struct DumpFileTest : testing::Test {
  TemporaryDirectory directory;
  HklGrid parse(const std::string &bytes) { return readDump(directory.add("Fdump.bin", bytes)); }
  void expectError(const std::string &bytes, const std::string &part) {
    expectFileError([&] { parse(bytes); }, part);
  }
};

TEST_F(DumpFileTest, WritesBoundsAndOneExtraZeroPlanePerAxis) {
  OutputFile out(directory.path("Fdump.bin"));
  writeDump(out, {-1, 0, 2, 2, 3, 4, {1, 2, 3, 4}});
  out.commit();
  EXPECT_EQ(directory.read("Fdump.bin"), "-1 0 2 2 3 4\n\f" + bytesOf({1, 2, 0, 0, 0, 0, //
                                                                       3, 4, 0, 0, 0, 0, //
                                                                       0, 0, 0, 0, 0, 0}));
}

TEST_F(DumpFileTest, ReadsBackWhatItWrote) {
  HklGrid grid{-2, 3, 0, 1, -1, 2, {}};
  for (int i = 0; i < 6 * 2 * 4; ++i)
    grid.values.push_back(i * 1.25 - 7);
  OutputFile out(directory.path("Fdump.bin"));
  writeDump(out, grid);
  out.commit();
  const HklGrid back = readDump(directory.path("Fdump.bin"));
  EXPECT_EQ(back.values, grid.values);
  EXPECT_EQ(back.hMin, -2);
  EXPECT_EQ(back.hMax, 3);
  EXPECT_EQ(back.kMax, 1);
  EXPECT_EQ(back.lMin, -1);
}

TEST_F(DumpFileTest, ANodeThatBeginsWithWhiteSpaceBytesIsNotEatenInto) {
  double corner = 0;
  const unsigned char bytes[8] = {'\n', '\t', ' ', '\f', 0x14, 0xae, 0xb7, 0x3f};
  std::memcpy(&corner, bytes, sizeof corner);
  const HklGrid grid = parse("0 0 0 0 0 0\n\f" + bytesOf({corner, 0, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(grid.values, std::vector<double>{corner});
}

TEST_F(DumpFileTest, RefusesMalformedFiles) {
  const std::string nodes = bytesOf({1, 0, 0, 0, 0, 0, 0, 0});
  expectError("", "does not begin with six index bounds");
  expectError("0 0 0 0\n\f" + nodes, "does not begin with six index bounds");
  expectError("0 0 0 0 0 x\n\f" + nodes, "does not begin with six index bounds");
  expectError("0 0 0 0 0 99999999999\n\f" + nodes, "does not begin with six index bounds");
  expectError("0 0 0 0 0 0\n" + nodes, "no newline and form feed");
  expectError("0 0 0 0 0 0", "no newline and form feed");
  expectError("1 0 0 0 0 0\n\f" + nodes, "a lower index bound above the upper");
  expectError("0 0 0 0 0 0\n\f" + nodes.substr(1), "has 63 bytes of nodes where 64 are due");
  expectError("0 0 0 0 0 0\n\f" + nodes + "x", "has 65 bytes of nodes where 64 are due");
  expectError("0 0 0 0 0 0\n\f" +
                  bytesOf({std::numeric_limits<double>::quiet_NaN(), 0, 0, 0, 0, 0, 0, 0}),
              "not a number");
}

TEST_F(DumpFileTest, ChecksSizesBeforeAllocating) {
  expectError("-2000000000 2000000000 -2000000000 2000000000 0 9\n\f", "too large");
  expectError("0 99 0 99 0 99\n\f", "has 0 bytes of nodes where 8242408 are due");
}

} // namespace
} // namespace nanobragg::io
