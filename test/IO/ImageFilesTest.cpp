#include "lib/Images/FloatImage.h"
#include "lib/Images/ImageScaling.h"
#include "lib/Images/NpyFile.h"

#include "test/IO/TemporaryDirectory.h"

#include <array>
#include <cstring>
#include <stdexcept>

namespace nanobragg::io {
namespace {

struct ImageFilesTest : testing::Test {
  TemporaryDirectory directory;

  template <typename T>
  std::string writeArray(std::vector<std::size_t> shape, const std::vector<T> &values) {
    OutputFile out(directory.path("a.npy"));
    writeNpy(out, shape, std::span<const T>(values));
    out.commit();
    return directory.path("a.npy");
  }
  void expectNpyError(const std::string &bytes, const std::string &part) {
    expectFileError([&] { readNpy(directory.add("bad.npy", bytes)); }, part);
  }
};

TEST_F(ImageFilesTest, FloatImageIsBareFloats) {
  const std::vector<float> pixels{0, 1.5f, -2, 3e10f};
  OutputFile out(directory.path("f.bin"));
  writeFloatImage(out, pixels);
  out.commit();
  const std::string bytes = directory.read("f.bin");
  ASSERT_EQ(bytes.size(), 16u);
  float second = 0;
  std::memcpy(&second, bytes.data() + 4, 4);
  EXPECT_EQ(second, 1.5f);
  EXPECT_EQ(readFloatImage(directory.path("f.bin"), 4), pixels);
}

TEST_F(ImageFilesTest, FloatImageOfAnotherSizeIsRefused) {
  const std::string path = directory.add("f.bin", "0123456789ab");
  expectFileError([&] { readFloatImage(path, 4); }, "has 12 bytes where 4 pixels need 16");
  expectFileError([&] { readFloatImage(path, 2); }, "has 12 bytes where 2 pixels need 8");
}

TEST_F(ImageFilesTest, PgmAsTheCProgramWritesIt) {
  EXPECT_EQ(pgmHeader(3, 2, 6.967151234), "P5\n3 2\n# pixels scaled by 6.96715\n255\n");
}

TEST_F(ImageFilesTest, NpyHeaderIsNumPys) {
  writeArray<float>({2, 3}, {1, 2, 3, 4, 5, 6});
  const std::string bytes = directory.read("a.npy");
  std::string expected("\x93NUMPY\1\0\x76\0", 10);
  expected += "{'descr': '<f4', 'fortran_order': False, 'shape': (2,3,), }";
  expected.resize(127, ' ');
  expected += '\n';
  ASSERT_EQ(bytes.size(), 128u + 24);
  EXPECT_EQ(bytes.substr(0, 128), expected);
}

TEST_F(ImageFilesTest, NpyReadsBackBothTypesAndAnyRank) {
  NpyArray array = readNpy(writeArray<float>({2, 3}, {1, 2, 3, 4, 5, 6.5f}));
  EXPECT_EQ(array.shape, (std::vector<std::size_t>{2, 3}));
  EXPECT_EQ(std::get<std::vector<float>>(array.values)[5], 6.5f);
  array = readNpy(writeArray<double>({2}, {0.1, -7}));
  EXPECT_EQ(array.shape, std::vector<std::size_t>{2});
  EXPECT_EQ(std::get<std::vector<double>>(array.values), (std::vector<double>{0.1, -7}));
  array = readNpy(writeArray<double>({}, {42}));
  EXPECT_TRUE(array.shape.empty());
  array = readNpy(writeArray<double>({0, 5}, {}));
  EXPECT_TRUE(std::get<std::vector<double>>(array.values).empty());
}

TEST_F(ImageFilesTest, NpyWriterRefusesAShapeThatDoesNotFit) {
  EXPECT_THROW(writeArray<float>({2, 2}, {1, 2, 3}), std::invalid_argument);
}

TEST_F(ImageFilesTest, NpyRefusals) {
  writeArray<double>({3}, {1, 2, 3});
  const std::string good = directory.read("a.npy");
  const auto replaced = [&](const std::string &from, const std::string &to) {
    std::string bytes = good;
    bytes.replace(bytes.find(from), from.size(), to);
    return bytes;
  };
  expectNpyError("", "is not a .npy file");
  expectNpyError("PK\3\4 an archive of arrays", "is not a .npy file");
  expectNpyError(good.substr(0, 40), "ends inside the .npy header");
  expectNpyError(good.substr(0, good.size() - 1), "has 23 bytes of values");
  expectNpyError(good + "x", "has 25 bytes of values");
  expectNpyError(replaced("False", "True "), "is in Fortran order");
  expectNpyError(replaced("<f8", "<i8"), "has values of another type");
  expectNpyError(replaced("<f8", ">f8"), "has values of another type");
  expectNpyError(replaced("(3,)", "(x,)"), "malformed shape");
  expectNpyError(replaced("(3,)", "(4,)"), "has 24 bytes of values");
  expectNpyError(replaced("(3,), }   ", "(-3,), }  "), "malformed shape");
  expectNpyError(replaced("shape", "shine"), "lacks shape");
  std::string overflowing = good;
  const std::string huge = "(4611686018427387904,4,4,), }";
  overflowing.replace(good.find("(3,)"), huge.size(), huge);
  expectNpyError(overflowing, "do not fit its shape");
}

} // namespace
} // namespace nanobragg::io
