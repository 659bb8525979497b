#include "lib/Images/FloatImage.h"
#include "lib/Images/ImageFile.h"
#include "lib/Images/NpyFile.h"
#include "lib/Images/SmvFile.h"
#include "test/IO/TemporaryDirectory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace nanobragg;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

struct CompareFiles : testing::Test {
  std::string npy(const std::string &name, std::vector<std::size_t> shape,
                  std::vector<double> values) {
    io::OutputFile out(folder.path(name));
    io::writeNpy(out, shape, values);
    out.commit();
    return out.path();
  }
  std::string raw(const std::string &name, std::vector<float> values) {
    io::OutputFile out(folder.path(name));
    io::writeFloatImage(out, values);
    out.commit();
    return out.path();
  }
  std::string refusal(auto read) {
    try {
      read();
    } catch (const io::FileError &error) {
      return error.what();
    }
    return "no error";
  }
  io::TemporaryDirectory folder;
};

TEST_F(CompareFiles, RawFloatsAreSquareUnlessTheShapeIsGiven) {
  const std::string path = raw("a.bin", {1, 2, 3, 4});
  const Image square = readImage(path, std::nullopt);
  EXPECT_EQ(square.slow, 2);
  EXPECT_EQ(square.fast, 2);
  const Image flat = readImage(path, Shape{1, 4});
  EXPECT_EQ(flat.slow, 1);
  EXPECT_EQ(flat.fast, 4);
  EXPECT_THAT(flat.pixels, ElementsAre(1, 2, 3, 4));
}

TEST_F(CompareFiles, NpyOfRankTwoAndThree) {
  const Image image = readImage(npy("a.npy", {2, 3}, {1, 2, 3, 4, 5, 6}), std::nullopt);
  EXPECT_EQ(image.slow, 2);
  EXPECT_EQ(image.fast, 3);
  const Image panels = readImage(npy("b.npy", {3, 1, 2}, {1, 2, 3, 4, 5, 6}), std::nullopt);
  EXPECT_EQ(panels.panels, 3);
  EXPECT_EQ(panels.pixels[5], 6);
}

TEST_F(CompareFiles, Smv) {
  io::SmvHeader header;
  header.fastPixels = 3;
  header.slowPixels = 2;
  io::OutputFile out(folder.path("a.img"));
  io::writeSmv(out, header, std::vector<std::uint16_t>{1, 2, 3, 4, 5, 60000});
  out.commit();
  const Image image = readImage(out.path(), std::nullopt);
  EXPECT_EQ(image.slow, 2);
  EXPECT_EQ(image.fast, 3);
  EXPECT_EQ(image.pixels[5], 60000);
}

TEST_F(CompareFiles, RawFloatsTakeTheShapeOfTheOtherImage) {
  const std::string other = npy("a.npy", {2, 3, 2}, std::vector<double>(12, 1));
  const std::string path = raw("b.bin", std::vector<float>(12, 2));
  const auto [test, reference] = readImages(path, other, std::nullopt);
  EXPECT_EQ(test.panels, 2);
  EXPECT_EQ(test.slow, 3);
  EXPECT_EQ(test.pixels[0], 2);
  EXPECT_EQ(reference.pixels[0], 1);
  const auto swapped = readImages(other, path, std::nullopt);
  EXPECT_EQ(swapped[1].fast, 2);
  EXPECT_EQ(swapped[1].pixels[0], 2);
}

TEST_F(CompareFiles, Refusals) {
  const std::string three = raw("a.bin", {1, 2, 3}), four = raw("b.bin", {1, 2, 3, 4});
  EXPECT_THAT(refusal([&] { readImage(three, std::nullopt); }), HasSubstr("--shape=SLOW,FAST"));
  EXPECT_THAT(refusal([&] { readImage(three, Shape{2, 2}); }), HasSubstr("12 bytes where 4"));
  EXPECT_THAT(refusal([&] { readImage(npy("c.npy", {3}, {1, 2, 3}), std::nullopt); }),
              HasSubstr("has 1 dimensions"));
  EXPECT_THAT(refusal([&] {
                readImages(four, npy("d.npy", {1, 5}, std::vector<double>(5)), std::nullopt);
              }),
              HasSubstr("has 2 x 2 pixels and"));
  EXPECT_THAT(refusal([&] { readImage(folder.path("none"), std::nullopt); }), HasSubstr("none"));
}

} // namespace
