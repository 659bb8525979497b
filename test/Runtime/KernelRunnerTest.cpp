#include "runtime/simulator/BoundProgram.h"
#include "test/Runtime/TestKernels.h"

#include <gmock/gmock.h>

#include <chrono>
#include <cmath>
#include <thread>

using namespace nanobragg;
using namespace nanobragg::test;
using testing::HasSubstr;
using testing::ThrowsMessage;

namespace {

std::vector<float> render(const Experiment &experiment, RunOptions options) {
  BoundProgram runner(Program(handleOf(waveKernel())), experiment);
  std::vector<float> image(std::size_t(runner.shape().pixels()), -1);
  EXPECT_FALSE(runner.run(image, options).cancelled);
  return image;
}

TEST(KernelRunner, WritesEveryPixelOfEveryPanel) {
  Experiment experiment = waveExperiment(5, 3);
  experiment.detector.panels.resize(2);
  const std::vector<float> image = render(experiment, {.threads = 2});
  ASSERT_EQ(image.size(), 2u * 5 * 3);
  for (int panel = 0; panel != 2; ++panel)
    for (int slow = 0; slow != 5; ++slow)
      for (int fast = 0; fast != 3; ++fast)
        EXPECT_EQ(image[std::size_t((panel * 5 + slow) * 3 + fast)],
                  float(2.0 * (1 + panel) + std::sin(double(slow * fast))));
}

TEST(KernelRunner, ImageDoesNotDependOnThreadsOrTiles) {
  Experiment experiment = waveExperiment(61, 17); // a prime: the last tile is a short one
  experiment.detector.panels.resize(3);
  const std::vector<float> reference = render(experiment, {.threads = 1, .rowsPerTile = 61});
  for (int threads : {1, 2, 7})
    for (std::int64_t rows : {0, 1, 4, 1000})
      EXPECT_EQ(render(experiment, {.threads = threads, .rowsPerTile = rows}), reference)
          << threads << " threads, " << rows << " rows";
}

TEST(KernelRunner, NextRunSeesChangedNumbers) {
  Experiment experiment = waveExperiment(1, 1);
  BoundProgram runner(Program(handleOf(waveKernel())), experiment);
  std::vector<float> image(1);
  runner.run(image);
  EXPECT_EQ(image[0], 2);
  experiment.beam.wavelength = 3;
  runner.run(image);
  EXPECT_EQ(image[0], 3);
}

TEST(KernelRunner, ProgressRisesToOneCountingRenderedRowsOnly) {
  Experiment experiment = waveExperiment(100, 2);
  experiment.detector.roiSlowMin = 50;
  std::vector<double> seen;
  render(experiment, {.threads = 1,
                      .rowsPerTile = 1,
                      .progress = [&](double f) { seen.push_back(f); },
                      .progressInterval = 0});
  ASSERT_EQ(seen.size(), 50u);
  EXPECT_DOUBLE_EQ(seen.front(), 1.0 / 50);
  EXPECT_EQ(seen.back(), 1);
  for (std::size_t i = 1; i != seen.size(); ++i)
    EXPECT_LT(seen[i - 1], seen[i]);
}

TEST(KernelRunner, ProgressIsMonotonicWithManyThreads) {
  const Experiment experiment = waveExperiment(4000, 4);
  std::vector<double> seen; // unguarded: calls must come one at a time
  render(experiment, {.threads = 8,
                      .rowsPerTile = 1,
                      .progress = [&](double f) { seen.push_back(f); },
                      .progressInterval = 0});
  EXPECT_TRUE(std::is_sorted(seen.begin(), seen.end()));
  EXPECT_EQ(seen.back(), 1);
}

TEST(KernelRunner, ProgressIsRateLimited) {
  const Experiment experiment = waveExperiment(4000, 4);
  int calls = 0;
  render(experiment, {.threads = 1,
                      .rowsPerTile = 1,
                      .progress = [&](double) { ++calls; },
                      .progressInterval = 1000});
  EXPECT_EQ(calls, 1);
}

TEST(KernelRunner, ProgressExceptionEndsTheRun) {
  const Experiment experiment = waveExperiment(100, 4);
  BoundProgram runner(Program(handleOf(waveKernel())), experiment);
  std::vector<float> image(400);
  for (int threads : {1, 4})
    EXPECT_THAT(
        [&] {
          runner.run(image, {.threads = threads,
                             .rowsPerTile = 1,
                             .progress = [](double) { throw std::runtime_error("enough"); },
                             .progressInterval = 0});
        },
        ThrowsMessage<std::runtime_error>("enough"));
}

TEST(KernelRunner, CancelledBeforehandLeavesTheImageAlone) {
  const Experiment experiment = waveExperiment(10, 10);
  BoundProgram runner(Program(handleOf(waveKernel())), experiment);
  std::vector<float> image(100, -1);
  CancellationToken token;
  token.request();
  bool finished = false;
  const RunResult result =
      runner.run(image, {.progress = [&](double f) { finished = f == 1; }, .cancel = &token});
  EXPECT_TRUE(result.cancelled);
  EXPECT_FALSE(finished);
  EXPECT_THAT(image, testing::Each(-1));
}

TEST(KernelRunner, CancelledFromAnotherThreadStopsSoon) {
  const Experiment experiment = waveExperiment(20000, 1); // 10 s on two threads
  BoundProgram runner(Program(handleOf(slowKernel())), experiment);
  std::vector<float> image(20000);
  CancellationToken token;
  std::thread canceller([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    token.request();
  });
  const RunResult result = runner.run(image, {.threads = 2, .cancel = &token});
  canceller.join();
  EXPECT_TRUE(result.cancelled);
  EXPECT_LT(result.runSeconds, 5);
}

TEST(KernelRunner, RefusesAnotherAbiVersion) {
  nb_kernel_descriptor kernel = waveKernel();
  kernel.abi_version = NB_KERNEL_ABI_VERSION + 1;
  EXPECT_THAT([&] { BoundProgram(Program(handleOf(kernel)), waveExperiment(1, 1)); },
              ThrowsMessage<std::runtime_error>(HasSubstr("kernel ABI")));
}

TEST(KernelRunner, RunsAKernelThatKnowsMoreFields) {
  struct Later {
    nb_kernel_descriptor known;
    const char *added;
  } later = {waveKernel(), "of a later compiler"};
  later.known.size = sizeof(later);
  const Experiment experiment = waveExperiment(4, 3);
  const auto imageOf = [&](const nb_kernel_descriptor &kernel) {
    std::vector<float> image(12);
    BoundProgram(Program(handleOf(kernel)), experiment).run(image, {.threads = 1});
    return image;
  };
  EXPECT_EQ(imageOf(later.known), imageOf(waveKernel()));
}

TEST(KernelRunner, RefusesAKernelThatNeedsWhatItDoesNotKnow) {
  nb_kernel_descriptor kernel = waveKernel();
  kernel.needs = NB_KERNEL_NEEDS_KNOWN | (1u << 20);
  EXPECT_THAT([&] { BoundProgram(Program(handleOf(kernel)), waveExperiment(1, 1)); },
              ThrowsMessage<std::runtime_error>(HasSubstr("needs features of a later version")));
}

TEST(KernelRunner, RefusesADescriptorThatIsTooSmall) {
  nb_kernel_descriptor kernel = waveKernel();
  kernel.size = offsetof(nb_kernel_descriptor, reach);
  EXPECT_THAT([&] { BoundProgram(Program(handleOf(kernel)), waveExperiment(1, 1)); },
              ThrowsMessage<std::runtime_error>(HasSubstr("incomplete")));
}

TEST(KernelRunner, RefusesAnIncompleteDescriptor) {
  nb_kernel_descriptor kernel = waveKernel();
  kernel.run_tile = nullptr;
  EXPECT_THAT([&] { BoundProgram(Program(handleOf(kernel)), waveExperiment(1, 1)); },
              ThrowsMessage<std::runtime_error>(HasSubstr("incomplete")));
}

TEST(KernelRunner, KernelOfAGpuNeedsCodeInPlaceOfRunTile) {
  const nb_device_code code = {"sm_90", "ptx", "7.8", ".version 7.8", 12};
  nb_device_kernel device = {"wave", nullptr, 128, 32, 1, &code};
  nb_kernel_descriptor kernel = waveKernel();
  kernel.run_tile = nullptr;
  kernel.device = &device;
  EXPECT_NO_THROW(checkDescriptor(kernel));
  device.num_codes = 0;
  EXPECT_THAT([&] { checkDescriptor(kernel); },
              ThrowsMessage<std::runtime_error>(HasSubstr("incomplete")));
}

TEST(KernelRunner, NamesAParameterThatTheExperimentLacks) {
  const nb_kernel_parameter wanted[] = {{"mask", NB_PARAMETER_MASK, "1"}};
  nb_kernel_descriptor kernel = waveKernel();
  kernel.num_parameters = 1;
  kernel.parameters = wanted;
  EXPECT_THAT([&] { BoundProgram(Program(handleOf(kernel)), waveExperiment(1, 1)); },
              ThrowsMessage<std::invalid_argument>(HasSubstr("'mask'")));
}

TEST(KernelRunner, RefusesAnImageOfAnotherSizeOrType) {
  const Experiment experiment = waveExperiment(4, 4);
  BoundProgram runner(Program(handleOf(waveKernel())), experiment);
  std::vector<float> small(15);
  EXPECT_THAT([&] { runner.run(small); },
              ThrowsMessage<std::invalid_argument>(HasSubstr("15 pixels")));
  std::vector<double> doubles(16);
  EXPECT_THAT([&] { runner.run(doubles); },
              ThrowsMessage<std::invalid_argument>(HasSubstr("float pixels")));
}

#if defined(__has_feature)
#define HAS_SANITIZER (__has_feature(address_sanitizer) || __has_feature(thread_sanitizer))
#elif defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define HAS_SANITIZER 1
#endif

TEST(KernelRunner, WorkspaceThatDoesNotFitIsBadAlloc) {
#if HAS_SANITIZER
  GTEST_SKIP() << "a sanitizer ends the process instead of throwing";
#endif
  nb_kernel_descriptor kernel = waveKernel();
  kernel.workspace_size = [](const void *const *) { return std::int64_t(1) << 60; };
  const Experiment experiment = waveExperiment(1, 1);
  BoundProgram runner(Program(handleOf(kernel)), experiment);
  std::vector<float> image(1);
  EXPECT_THROW(runner.run(image), std::bad_alloc);
}

} // namespace
