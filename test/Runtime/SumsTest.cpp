// How rows are dealt to accumulators, by a kernel that writes down what it is asked for.
#include "runtime/processor/Partition.h"
#include "test/Runtime/TestKernels.h"

#include <gmock/gmock.h>

#include <atomic>
#include <cmath>

using namespace nanobragg;
using testing::HasSubstr;
using testing::ThrowsMessage;

namespace {

constexpr std::int64_t accumulatorDoubles = 8;
std::atomic<int> finished{0};
std::int64_t finishedParts = 0;

// The sum over rows of sin(row), rows counted through all panels of 100 rows.
constexpr nb_kernel_output outputs[] = {{"image", NB_OUTPUT_IMAGE, "photons"},
                                        {"gradient.phi0", NB_OUTPUT_F64, "1/rad"}};

const nb_kernel_descriptor &sumKernel() {
  static const nb_kernel_descriptor kernel = [] {
    nb_kernel_descriptor k = {};
    k.abi_version = NB_KERNEL_ABI_VERSION;
    k.size = sizeof(k);
    k.image_type = NB_IMAGE_F64;
    k.name = "sum";
    k.variant = "";
    k.num_outputs = std::size(outputs);
    k.outputs = outputs;
    k.workspace_size = [](const void *const *) -> std::int64_t { return 0; };
    k.prepare = [](const void *const *, void *) {};
    k.accumulator_size = [](const void *const *) { return accumulatorDoubles * 8; };
    k.scratch_size = [](const void *const *) -> std::int64_t { return 64; };
    k.run_tile = [](const void *const *, const void *, const nb_tile *tile, void *const *images,
                    void *accumulator, void *scratch) {
      auto *sum = static_cast<double *>(accumulator);
      *static_cast<double *>(scratch) = 0;
      for (std::int64_t slow = tile->slow_begin; slow != tile->slow_end; ++slow) {
        *sum += std::sin(double(tile->panel * 100 + slow));
        static_cast<double *>(images[0])[tile->panel * 100 + slow] = 1;
      }
    };
    k.finish = [](const void *const *, void *, void *const *accumulators, std::int64_t count,
                  void *const *results) {
      double sum = 0;
      for (std::int64_t i = 0; i != count; ++i)
        sum += *static_cast<const double *>(accumulators[i]);
      *static_cast<double *>(results[1]) = sum;
      finishedParts = count;
      ++finished;
    };
    k.output_sizes = [](const void *const *, std::int64_t *sizes) { sizes[1] = 1; };
    return k;
  }();
  return kernel;
}

constexpr ImageShape shape{3, 100, 1};

double sumOf(const RunOptions &options) {
  OutputMemory memory(sumKernel());
  memory.resize(outputSizes(sumKernel(), nullptr, shape), nullptr);
  const RunResult result =
      runKernel(sumKernel(), nullptr, shape, {0, 100}, memory.addresses(), options);
  EXPECT_FALSE(result.cancelled);
  const std::int64_t accumulators = result.threads == 1 ? 2 : 64;
  EXPECT_EQ(result.accumulatorBytes, accumulators * 64 + result.threads * 64);
  EXPECT_EQ(finishedParts, result.threads == 1 ? 1 : 64);
  EXPECT_THAT(memory.numbers("image"), testing::Each(1));
  return memory.numbers("gradient.phi0")[0];
}

TEST(Sums, AreTheSameBitsForAnyThreadsAndTiles) {
  const double one = sumOf({.threads = 1});
  double plain = 0;
  for (int row = 0; row != 300; ++row)
    plain += std::sin(double(row));
  EXPECT_NEAR(one, plain, 1e-12);
  for (int threads : {2, 3, 7})
    for (std::int64_t rows : {0, 1, 5})
      EXPECT_EQ(sumOf({.threads = threads, .rowsPerTile = rows}), one) << threads << " " << rows;
}

TEST(Sums, ACancelledRunIsNotFinished) {
  CancellationToken token;
  token.request();
  OutputMemory memory(sumKernel());
  memory.resize(outputSizes(sumKernel(), nullptr, shape), nullptr);
  finished = 0;
  EXPECT_TRUE(
      runKernel(sumKernel(), nullptr, shape, {0, 100}, memory.addresses(), {.cancel = &token})
          .cancelled);
  EXPECT_EQ(finished, 0);
}

TEST(Sums, AKernelWithoutFinishIsIncomplete) {
  nb_kernel_descriptor kernel = sumKernel();
  kernel.finish = nullptr;
  EXPECT_THAT([&] { checkDescriptor(kernel); },
              ThrowsMessage<std::runtime_error>(HasSubstr("incomplete")));
}

TEST(Sums, OutputsAreFoundByNameAndType) {
  OutputMemory memory(sumKernel());
  EXPECT_THAT([&] { memory.numbers("image"); },
              ThrowsMessage<std::invalid_argument>(HasSubstr("before the first run")));
  std::vector<double> image(300);
  memory.resize(outputSizes(sumKernel(), nullptr, shape), image.data());
  EXPECT_EQ(memory.addresses()[0], image.data());
  EXPECT_EQ(memory.numbers("gradient.phi0").size(), 1u);
  EXPECT_THAT([&] { memory.numbers("image"); },
              ThrowsMessage<std::invalid_argument>(HasSubstr("memory of the caller")));
  EXPECT_THAT([&] { memory.floats("gradient.phi0"); },
              ThrowsMessage<std::invalid_argument>(HasSubstr("holds doubles")));
  EXPECT_THAT(
      [&] { memory.numbers("gradient.cell_a"); },
      ThrowsMessage<std::invalid_argument>(HasSubstr("'gradient.cell_a' is not an output")));
}

/// Rows of all parts, which have to follow each other.
std::int64_t rowsIn(const Partition &parts) {
  std::int64_t end = 0;
  for (std::int64_t i = 0; i != parts.size(); ++i) {
    EXPECT_EQ(parts[i].begin, end);
    end = parts[i].end;
  }
  return end;
}

TEST(Partition, CoversAllRowsInPartsOfEqualWork) {
  const RenderedRows rows{10, 30};
  const Partition parts = Partition::forSums({4, 100, 8}, rows, 64);
  EXPECT_EQ(parts.size(), 64);
  EXPECT_EQ(rowsIn(parts), 400);
  for (std::int64_t i = 0; i != parts.size(); ++i)
    EXPECT_THAT(renderedRows(parts[i], {4, 100, 8}, rows),
                testing::AllOf(testing::Ge(1), testing::Le(2)));
  EXPECT_EQ(Partition::forSums({1, 5, 8}, {0, 5}, 64).size(), 5);
  EXPECT_EQ(rowsIn(Partition::forSums({1, 5, 8}, {5, 5}, 64)), 5);
}

TEST(Partition, BoundsTheMemoryOfAccumulators) {
  const auto count = [](std::int64_t megabytes) {
    return Partition::forSums({1, 1000, 8}, {0, 1000}, megabytes << 20).size();
  };
  EXPECT_EQ(Partition::forSums({1, 1000, 8}, {0, 1000}, 80000).size(), 26); // 2 MB
  EXPECT_EQ(count(1), 16);
  EXPECT_EQ(count(4), 16);
  EXPECT_EQ(count(5), 12); // 64 MB
  EXPECT_EQ(count(1000), 1);
}

} // namespace
