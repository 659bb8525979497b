#include "lib/Compiler/Lab/LabRun.h"

#include "lib/Transforms/Reach/AverageReach.h"
#include "runtime/processor/StepCount.h"

#include "llvm/ADT/ScopeExit.h"

#include <algorithm>
#include <ctime>

using namespace mlir::nb;
using nanobragg::RunResult;

static std::vector<const void *> addressesOf(const RunArguments &arguments) {
  std::vector<const void *> addresses;
  for (const InterpreterArgument &argument : arguments)
    addresses.push_back(argument.data);
  return addresses;
}

LabRun::LabRun(const nb_kernel_descriptor &kernel, Subject &subject)
    : kernel(kernel), subject(subject), arguments(addressesOf(subject.arguments(kernel))),
      memory(kernel) {
  auto [panels, slow, fast] = subject.shape();
  shape = {panels, slow, fast};
  memory.resize(nanobragg::outputSizes(kernel, arguments.data(), shape), nullptr);
}

static double processorSeconds() {
  timespec used = {};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return double(used.tv_sec) + double(used.tv_nsec) * 1e-9;
}

namespace {
/// Tables are made ahead of what is timed.
struct Timed {
  const nb_kernel_descriptor *kernel;
  bool exact;
  double prepared;
};
Timed timed;

/// Has an average all reflections listed that --cull=exact leaves; false where it is none.
bool listAll(const nb_kernel_descriptor &kernel, const void *const *arguments, void *workspace) {
  if (!kernel.reach)
    return false;
  nb_reach_tables tables;
  kernel.reach(arguments, &tables);
  auto &numbers =
      *reinterpret_cast<nb_reach_numbers *>(static_cast<double *>(workspace) + tables.numbers);
  numbers.bound = std::max(numbers.bound, exactBound);
  return numbers.averaged != 0;
}

void prepareTimed(const void *const *arguments, void *workspace) {
  timed.kernel->prepare(arguments, workspace);
  timed.exact = timed.exact && listAll(*timed.kernel, arguments, workspace);
  timed.prepared = processorSeconds();
}
} // namespace

bool LabRun::runExact() const {
  run(/*exact=*/true);
  return timed.exact;
}

RunResult LabRun::run(bool exact) const {
  nanobragg::RunOptions options;
  options.threads = 1;
  const Subject::Part &part = subject.part();
  timed = {&kernel, exact, 0};
  nb_kernel_descriptor watched = kernel;
  watched.prepare = prepareTimed;
  RunResult result =
      nanobragg::runKernel(watched, arguments.data(), shape, {part.firstRow, part.lastRow + 1},
                           memory.addresses(), options);
  result.runSeconds = processorSeconds() - timed.prepared;
  return result;
}

std::vector<std::vector<double>> LabRun::results() const {
  std::vector<std::vector<double>> results;
  for (uint32_t i = 0; i != kernel.num_outputs; ++i) {
    const char *name = kernel.outputs[i].name;
    if (memory.isFloat(name)) {
      auto pixels = memory.floats(name);
      results.emplace_back(pixels.begin(), pixels.end());
    } else {
      auto numbers = memory.numbers(name);
      results.emplace_back(numbers.begin(), numbers.end());
    }
  }
  return results;
}

namespace {
/// The part of a run that is counted: not the runtime's search for light, nor rows not rendered.
struct Counted {
  const nb_kernel_descriptor *kernel;
  nanobragg::StepCounter *counter;
  Subject::Part part;
};
Counted counted;

void countTile(const void *const *arguments, const void *workspace, const nb_tile *tile,
               void *const *outputs, void *accumulator, void *scratch) {
  nb_tile rows = *tile;
  rows.slow_begin = std::max(rows.slow_begin, counted.part.firstRow);
  rows.slow_end = std::min(rows.slow_end, counted.part.lastRow + 1);
  if (rows.slow_begin >= rows.slow_end)
    return;
  counted.counter->start();
  counted.kernel->run_tile(arguments, workspace, &rows, outputs, accumulator, scratch);
  counted.counter->stop();
}
} // namespace

std::optional<double> mlir::nb::countInstructions(const nb_kernel_descriptor &kernel,
                                                  Subject &subject) {
  // A microsecond each, some ten for a sample of one lane.
  constexpr double someSamples = 5e3, mostSamples = 1e5;
  const Subject::Part before = subject.part();
  auto leave = llvm::scope_exit([&] { subject.restrictTo(before); });
  const auto computed = [&] {
    return kernel.reach ? LabRun(kernel, subject).run().samplesEvaluated
                        : subject.samples() * subject.share();
  };
  if (const double all = computed(); all > someSamples)
    subject.restrictTo(subject.samples() * subject.share() * someSamples / all);
  if (computed() > mostSamples)
    return std::nullopt; // in a few pixels
  nanobragg::StepCounter counter(reinterpret_cast<const void *>(kernel.run_tile));
  counted = {&kernel, &counter, subject.part()};
  nb_kernel_descriptor stepped = kernel;
  stepped.run_tile = countTile;
  LabRun(stepped, subject).run();
  const double asked = subject.samples() * subject.share();
  if (counter.count() == 0 || asked == 0)
    return std::nullopt;
  return double(counter.count()) / asked;
}
