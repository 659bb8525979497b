#include "lib/Compiler/Run/KernelRun.h"

#include "lib/Experiment/CheckedSize.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <new>
#include <stdexcept>

using namespace mlir::nb;

static constexpr std::align_val_t alignment{64};

void KernelRun::Release::operator()(void *memory) const { ::operator delete(memory, alignment); }

KernelRun::Memory KernelRun::allocate(int64_t bytes) {
  void *memory = ::operator new(size_t(bytes), alignment);
  std::memset(memory, 0, size_t(bytes));
  return Memory(memory);
}

KernelRun::KernelRun(const nb_kernel_descriptor &kernel, std::vector<const void *> given,
                     std::array<int64_t, 3> shape)
    : kernel(kernel), arguments(std::move(given)), shape(shape),
      sizes(kernel.num_outputs, nanobragg::productOf({shape[0], shape[1], shape[2]}, "an image")) {
  if (kernel.output_sizes)
    kernel.output_sizes(arguments.data(), sizes.data());
  for (int64_t size : sizes)
    places.push_back(outputs.emplace_back(size_t(size)).data());
  workspace = allocate(kernel.workspace_size(arguments.data()));
  accumulator = allocate(kernel.accumulator_size ? kernel.accumulator_size(arguments.data()) : 0);
  scratch = allocate(kernel.scratch_size ? kernel.scratch_size(arguments.data()) : 0);
}

void KernelRun::prepare() { kernel.prepare(arguments.data(), workspace.get()); }

void KernelRun::render(int64_t begin, int64_t end) {
  for (int64_t panel = 0; panel < shape[0]; ++panel) {
    nb_tile tile{panel, begin, end, nullptr};
    const auto run = [&] {
      kernel.run_tile(arguments.data(), workspace.get(), &tile, places.data(), accumulator.get(),
                      scratch.get());
    };
    if (kernel.reach)
      renderAll(tile, run);
    else
      run();
  }
}

/// A kernel that leaves samples out is told that all are lit: a block of pixels at a time.
void KernelRun::renderAll(nb_tile &tile, const std::function<void()> &run) {
  nb_reach_tables tables;
  kernel.reach(arguments.data(), &tables);
  const auto &numbers = *reinterpret_cast<const nb_reach_numbers *>(
      static_cast<const double *>(workspace.get()) + tables.numbers);
  // Lists count in 32 bits.
  const int64_t beams = int64_t(numbers.beams), bases = int64_t(numbers.bases);
  if (numbers.beams * numbers.bases > std::numeric_limits<int32_t>::max())
    throw std::runtime_error("a culled kernel is run with all its samples lit, and each pixel has "
                             "more than 2^31 of them; run the program without nb-cull");
  std::vector<int32_t> outer, innerBegin, inner;
  std::vector<int64_t> reflection;
  for (int64_t beam = 0; beam != beams; ++beam) {
    outer.push_back(int32_t(beam));
    innerBegin.push_back(int32_t(beam * bases));
    for (int64_t basis = 0; basis != bases; ++basis) {
      inner.push_back(int32_t(basis));
      reflection.push_back(basis);
    }
  }
  innerBegin.push_back(int32_t(beams * bases));
  const int64_t lastSlow = std::min(tile.slow_end - 1, int64_t(numbers.slow_max));
  const int64_t lastFast = std::min(int64_t(numbers.fast_pixels) - 1, int64_t(numbers.fast_max));
  const int32_t begins[] = {0, int32_t(outer.size())};
  const int32_t slowEnd = int32_t(lastSlow + 1);
  for (int64_t s = std::max(tile.slow_begin, int64_t(numbers.slow_min)); s <= lastSlow;
       s += int64_t(numbers.block_slow))
    for (int64_t f = std::max<int64_t>(0, int64_t(numbers.fast_min)); f <= lastFast;
         f += int64_t(numbers.block_fast)) {
      const int32_t slow = int32_t(s), fast = int32_t(f);
      const nb_lit lit{1,
                       &slow,
                       &fast,
                       begins,
                       outer.data(),
                       innerBegin.data(),
                       inner.data(),
                       reflection.data(),
                       &slowEnd};
      tile.lit = &lit;
      run();
    }
}

void KernelRun::finish() {
  void *accumulators[] = {accumulator.get()};
  if (kernel.finish)
    kernel.finish(arguments.data(), workspace.get(), accumulators, 1, places.data());
}

std::vector<std::vector<double>> KernelRun::results() const {
  std::vector<std::vector<double>> results = outputs;
  for (size_t i = 0; i != sizes.size(); ++i) {
    if (kernel.outputs[i].kind != NB_OUTPUT_IMAGE || kernel.image_type != NB_IMAGE_F32)
      continue;
    const auto *pixels = reinterpret_cast<const float *>(outputs[i].data());
    results[i].assign(pixels, pixels + sizes[i]);
  }
  return results;
}
