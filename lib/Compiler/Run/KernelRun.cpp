#include "lib/Compiler/Run/KernelRun.h"

#include "lib/Experiment/CheckedSize.h"

#include <cstring>
#include <new>

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
      sizes(kernel.num_outputs,
            nanobragg::productOf({shape[0], shape[1], shape[2]}, "an image")) {
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
    const nb_tile tile{panel, begin, end, nullptr};
    kernel.run_tile(arguments.data(), workspace.get(), &tile, places.data(), accumulator.get(),
                    scratch.get());
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
