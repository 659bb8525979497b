// Decisions of the runtime about a GPU that need none.
#include "lib/Target/GpuVendor.h"
#include "nanobragg/DeviceChoice.h"
#include "runtime/gpu/ArgumentBlock.h"
#include "runtime/gpu/Tiles.h"
#include "runtime/processor/KernelSamples.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace {

using namespace nanobragg;
using namespace nanobragg::gpu;

std::int64_t rowsOf(const nb_tile &tile) { return tile.slow_end - tile.slow_begin; }

TEST(Tiles, AQuickPanelIsOneLaunch) {
  const auto tiles = planTiles({3, 1024, 1024}, 10, 128, 528);
  ASSERT_EQ(tiles.size(), 3u);
  for (std::int64_t panel = 0; panel != 3; ++panel) {
    EXPECT_EQ(tiles[std::size_t(panel)].panel, panel);
    EXPECT_EQ(rowsOf(tiles[std::size_t(panel)]), 1024);
  }
}

TEST(Tiles, LongPanelsAreSplitWithoutGaps) {
  const auto tiles = planTiles({2, 1000, 1024}, 10000, 128, 528);
  EXPECT_GT(tiles.size(), 8u);
  std::int64_t row = 0;
  for (const nb_tile &tile : tiles) {
    EXPECT_EQ(tile.panel * 1000 + tile.slow_begin, row);
    EXPECT_LE(tile.slow_end, 1000);
    row = tile.panel * 1000 + tile.slow_end;
  }
  EXPECT_EQ(row, 2000);
}

TEST(Tiles, EveryLaunchFillsTheChip) {
  // A row of a million samples for each pixel is more than a launch should take.
  for (const nb_tile &tile : planTiles({1, 4096, 4096}, 1e6, 128, 528))
    EXPECT_GE(rowsOf(tile) * 32, 528 - 32);
}

TEST(Tiles, SeveralDevicesHaveSeveralLaunches) {
  const auto tiles = planTiles({2, 1000, 1024}, 10, 128, 528, 4);
  ASSERT_EQ(tiles.size(), 8u);
  EXPECT_EQ(rowsOf(tiles[3]), 250);
  EXPECT_EQ(planTiles({1, 3, 1024}, 10, 128, 528, 4).size(), 3u);
}

TEST(Tiles, EveryLaunchHasRows) {
  for (const nb_tile &tile : planTiles({1, 3, 5}, 1e12, 128, 2))
    EXPECT_GT(rowsOf(tile), 0);
}

TEST(Sums, BlocksDependOnTheChipAndTheAccumulator) {
  EXPECT_EQ(blocksForSums(528, 1000, 4), 1056);
  EXPECT_EQ(blocksForSums(528, 1000000, 4), 250); // 1 GB
  EXPECT_EQ(blocksForSums(528, std::int64_t(1) << 40, 4), 2);
}

TEST(Samples, AreTheProductOfTheCounts) {
  const nb_kernel_parameter parameters[] = {{"oversample", NB_PARAMETER_INDEX, "1"},
                                            {"mosaic_domains", NB_PARAMETER_INDEX, "1"},
                                            {"fast_pixels", NB_PARAMETER_INDEX, "1"},
                                            {"phi0", NB_PARAMETER_F64, "rad"}};
  nb_kernel_descriptor kernel = {};
  kernel.parameters = parameters;
  kernel.num_parameters = 4;
  const std::int64_t oversample = 3, domains = 5, pixels = 100;
  const double phi = 7;
  const void *arguments[] = {&oversample, &domains, &pixels, &phi};
  EXPECT_EQ(samplesPerPixel(kernel, arguments), 45);
}

TEST(Pace, AimsAtAFifthOfASecond) {
  Pace pace;
  pace.took(1e9, 0.4);
  EXPECT_DOUBLE_EQ(pace.samples(), 5e8);
  pace.took(1e3, 0); // a clock says nothing of so short a time
  EXPECT_DOUBLE_EQ(pace.samples(), 2e5);
}

TEST(ArgumentBlock, KeepsWhatIsAppendedAligned) {
  ArgumentBlock block;
  const char one = 1;
  EXPECT_EQ(block.append(&one, 1), 0u);
  const std::size_t second = block.append(nullptr, 24);
  EXPECT_EQ(second, 64u);
  block.setAddress(second + 16, 0x1122334455667788);
  EXPECT_EQ(block.bytes(), 88u);
  EXPECT_EQ(static_cast<const unsigned char *>(block.data())[80], 0x88);
  EXPECT_EQ(static_cast<const unsigned char *>(block.data())[64], 0);
}

TEST(ArgumentBlock, KnowsTheLengthOfTables) {
  const nb_kernel_parameter parameters[] = {{"mosaic_axis", NB_PARAMETER_TABLE_VEC3, "1"},
                                            {"mosaic_domains", NB_PARAMETER_INDEX, "1"},
                                            {"hkl", NB_PARAMETER_HKL_GRID, "1"},
                                            {"mask", NB_PARAMETER_MASK, "1"},
                                            {"table", NB_PARAMETER_TABLE_F64, "1"}};
  nb_kernel_descriptor kernel = {};
  kernel.parameters = parameters;
  kernel.num_parameters = 5;
  const std::int64_t domains = 5;
  const nb_hkl_grid grid = {-1, 1, 0, 3, 2, 2, nullptr};
  const void *arguments[] = {nullptr, &domains, &grid, nullptr, nullptr};
  const ImageShape shape = {2, 3, 4};
  EXPECT_EQ(valueBytes(kernel, arguments, 0, shape), 5 * 3 * sizeof(double));
  EXPECT_EQ(valueBytes(kernel, arguments, 2, shape), 3 * 4 * sizeof(double));
  EXPECT_EQ(valueBytes(kernel, arguments, 3, shape), 24u);
  EXPECT_THAT([&] { valueBytes(kernel, arguments, 4, shape); },
              testing::ThrowsMessage<std::runtime_error>(testing::HasSubstr("'table'")));
}

TEST(DeviceChoice, IsReadAndWritten) {
  using Kind = DeviceChoice::Kind;
  for (const char *text : {"auto", "cpu", "gpu-on-cpu", "cuda", "cuda:12", "all", "opencl:all"})
    EXPECT_EQ(DeviceChoice::fromString(text)->toString(), text);
  EXPECT_EQ(*DeviceChoice::fromString("cuda:12"), (DeviceChoice{Kind::Gpu, 12, &gpuVendors()[0]}));
  EXPECT_EQ(*DeviceChoice::fromString("all"), (DeviceChoice{Kind::Gpu, DeviceChoice::every}));
  for (const char *text :
       {"", "cuda:", "cpu:all", "cuda:-1", "cuda:1x", "cuda:99999999999", "cpu:0", "gpu"})
    EXPECT_FALSE(DeviceChoice::fromString(text)) << text;
}

} // namespace
