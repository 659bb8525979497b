#include "runtime/gpu/Runner.h"

#include "runtime/processor/Partition.h"
#include "runtime/processor/Progress.h"
#include "runtime/processor/Stopwatch.h"

#include <cstddef>

namespace nanobragg::gpu {
namespace {

/// Room for `bytes` in memory that is kept from run to run.
void reserve(Memory &memory, const std::shared_ptr<Device> &device, std::size_t bytes) {
  if (memory.bytes() < bytes)
    memory = Memory(device, bytes);
}

/// Gives up what is too small, and counts what will be allocated in its place.
void makeRoom(MemoryNeed &need, const char *what, Memory &memory, std::size_t bytes) {
  if (memory.bytes() >= bytes)
    return;
  memory = Memory();
  need.add(what, bytes);
}

/// Waits at its end for all that was queued: the driver reads and writes the host's memory until
/// then, whatever is thrown meanwhile.
class QueueWait {
public:
  explicit QueueWait(Queue &queue) : queue(queue) {}
  QueueWait(const QueueWait &) = delete;
  ~QueueWait() { queue.waitAnyway(); }

private:
  Queue &queue;
};

} // namespace

/// One run under way.
struct Runner::Work {
  RunPlan plan;
  std::vector<std::string> keys; ///< keys of resident data, by the parameter's number
  Stopwatch sinceCall;
  RunResult result;
};

Runner::Runner(KernelHandle handle, std::shared_ptr<Device> on)
    : device(std::move(on)), kernel(std::move(handle)), module(device->module(kernel)),
      queue(device->openQueue()), large(kernel->num_parameters), images(kernel->num_outputs) {}

/// Visits each Memory and each ResidentData, empty ones too.
template <typename Visit>
void Runner::forEachMemory(Visit visit) const {
  for (const Memory *memory : {&block, &accumulators, &lists})
    visit(*memory);
  for (const Large &l : large) {
    visit(l.resident);
    visit(l.memory);
  }
  for (const Memory &image : images)
    visit(image);
}

std::size_t Runner::held() const {
  std::size_t sum = 0;
  forEachMemory([&](const auto &memory) { sum += memory.bytes(); });
  return sum;
}

void Runner::release() {
  for (Large &l : large)
    l = Large();
  for (Memory &image : images)
    image = Memory();
  block = Memory();
  accumulators = Memory();
  lists = Memory();
}

/// Everything that the run needs, checked before any of it is allocated.
void Runner::allocate(Work &work, const void *const *arguments) {
  MemoryNeed need;
  work.keys.resize(kernel->num_parameters);
  for (std::uint32_t i = 0; i != kernel->num_parameters; ++i) {
    const nb_parameter_kind kind = kernel->parameters[i].kind;
    if (!isLarge(kind))
      continue;
    const std::size_t bytes = valueBytes(*kernel, arguments, i, work.plan.shape);
    if (kind == NB_PARAMETER_IMAGE) {
      makeRoom(need, kernel->parameters[i].name, large[i].memory, bytes);
      continue;
    }
    const void *data = kind == NB_PARAMETER_HKL_GRID
                           ? static_cast<const nb_hkl_grid *>(arguments[i])->data
                           : arguments[i];
    work.keys[i] = ResidentData::keyOf(data, bytes);
    ResidentData &resident = large[i].resident;
    if (resident.holds(work.keys[i]))
      continue;
    resident.reset();
    if (!resident.adopt(*device, work.keys[i]))
      need.add(kernel->parameters[i].name, bytes);
  }
  for (std::uint32_t i = 0; i != kernel->num_outputs; ++i)
    makeRoom(need, kernel->outputs[i].name, images[i], work.plan.imageBytes[i]);
  makeRoom(need, "parameters and tables", block, work.plan.block.bytes());
  makeRoom(need, "sums over pixels", accumulators, work.plan.accumulatorsBytes());
  need.check(*device);

  for (std::uint32_t i = 0; i != kernel->num_parameters; ++i)
    if (kernel->parameters[i].kind == NB_PARAMETER_IMAGE)
      reserve(large[i].memory, device, valueBytes(*kernel, arguments, i, work.plan.shape));
  for (std::uint32_t i = 0; i != kernel->num_outputs; ++i)
    reserve(images[i], device, work.plan.imageBytes[i]);
  reserve(block, device, work.plan.block.bytes());
  reserve(accumulators, device, work.plan.accumulatorsBytes());
}

void Runner::upload(Work &work, const void *const *arguments) {
  ArgumentBlock &content = work.plan.block;
  const auto copy = [&](Address to, const void *from, std::size_t bytes) {
    queue->copyToDevice(to, from, bytes);
    work.result.uploadedBytes += std::int64_t(bytes);
  };
  for (std::uint32_t i = 0; i != kernel->num_parameters; ++i) {
    const nb_parameter_kind kind = kernel->parameters[i].kind;
    Address value = block.address() + work.plan.valuesAt[i];
    if (kind == NB_PARAMETER_IMAGE) {
      value = large[i].memory.address();
      copy(value, arguments[i], valueBytes(*kernel, arguments, i, work.plan.shape));
    } else if (isLarge(kind)) {
      ResidentData &resident = large[i].resident;
      const bool grid = kind == NB_PARAMETER_HKL_GRID;
      const void *data = grid ? static_cast<const nb_hkl_grid *>(arguments[i])->data : arguments[i];
      if (!resident.holds(work.keys[i])) {
        const std::size_t bytes = valueBytes(*kernel, arguments, i, work.plan.shape);
        resident.upload(*device, *queue, work.keys[i], data, bytes);
        work.result.uploadedBytes += std::int64_t(bytes);
      }
      if (grid)
        content.setAddress(work.plan.valuesAt[i] + offsetof(nb_hkl_grid, data), resident.address());
      else
        value = resident.address();
    }
    content.setAddress(work.plan.pointersAt + i * sizeof(Address), value);
  }
  for (std::uint32_t i = 0; i != kernel->num_outputs; ++i)
    content.setAddress(work.plan.outputsAt + i * sizeof(Address), images[i].address());
  copy(block.address(), content.data(), content.bytes());
  if (work.plan.sums)
    queue->clear(accumulators.address(), accumulators.bytes());
  // No launch writes pixels that are not lit.
  for (std::uint32_t i = 0; kernel->reach && i != kernel->num_outputs; ++i)
    if (work.plan.imageBytes[i])
      queue->clear(images[i].address(), work.plan.imageBytes[i]);
}

/// All memory that a kernel may find by addresses in other memory.
std::vector<Address> Runner::addresses() const {
  std::vector<Address> all;
  forEachMemory([&](const auto &memory) {
    if (memory.bytes())
      all.push_back(memory.address());
  });
  return all;
}

void Runner::launch(const RunPlan &plan, std::int64_t blocks, Address tile) {
  const Address base = block.address();
  const Address pointers[] = {base + plan.pointersAt, base + plan.workspaceAt, tile,
                              base + plan.outputsAt, accumulators.address()};
  queue->launch(*module,
                {Entry::Render, blocks, kernel->device->threads, pointers, {}, addresses()});
}

/// Lists of the next launch are made while one runs. False when it was cancelled.
bool Runner::launchLit(Work &work, const void *const *arguments, const RenderedRows &rows,
                       const RunOptions &options) {
  const RunPlan &plan = work.plan;
  ThreadTeam team(resolveThreads(options.threads));
  LitBatches batches(*kernel, arguments, plan.workspace.get(), plan.shape, team);
  std::int64_t total = 0;
  for (std::size_t i = 0; i != batches.size(); ++i)
    total += renderedRows(batches.rows(i), rows);
  Progress progress(options.progress, options.progressInterval, total);
  const auto cancelled = [&] { return options.cancel && options.cancel->requested(); };
  LitBatch copied;
  const QueueWait wait(*queue); // ahead of its memory
  work.result.firstTileSeconds = work.sinceCall.seconds();
  for (std::size_t i = 0; i != batches.size() && !cancelled(); ++i) {
    LitBatch next = batches.make(i);
    queue->wait("render");
    if (i != 0)
      progress.add(renderedRows(batches.rows(i - 1), rows));
    copied = std::move(next);
    if (copied.blocks() == 0)
      continue;
    reserve(lists, device, copied.bytes());
    const void *content = copied.placedAt(lists.address());
    queue->copyToDevice(lists.address(), content, copied.bytes());
    work.result.uploadedBytes += std::int64_t(copied.bytes());
    const std::int64_t blocks = (copied.blocks() + plan.warpsOfBlock - 1) / plan.warpsOfBlock;
    launch(plan, plan.sums ? plan.blocksOfSums : blocks, copied.tile(lists.address()));
    ++work.result.launches;
  }
  queue->wait("render");
  work.result.deviceBytes = std::int64_t(held());
  work.result.culled = true;
  work.result.samplesLit = batches.samplesLit();
  work.result.samplesEvaluated = batches.samplesEvaluated();
  return !cancelled();
}

/// False when it was cancelled.
bool Runner::launchTiles(Work &work, const RenderedRows &rows, const RunOptions &options) {
  const RunPlan &plan = work.plan;
  std::int64_t total = 0;
  for (const nb_tile &tile : plan.tiles)
    total += renderedRows(tile, rows);
  Progress progress(options.progress, options.progressInterval, total);
  const auto cancelled = [&] { return options.cancel && options.cancel->requested(); };
  if (cancelled())
    return false;
  work.result.firstTileSeconds = work.sinceCall.seconds();
  double queued = 0;
  std::int64_t queuedRows = 0;
  Stopwatch sinceQueued;
  for (std::size_t i = 0; i != plan.tiles.size(); ++i) {
    const nb_tile &tile = plan.tiles[i];
    launch(plan, plan.blocksOf(tile), block.address() + plan.tilesAt + i * sizeof(nb_tile));
    ++work.result.launches;
    queuedRows += renderedRows(tile, rows);
    queued += double(renderedRows(tile, rows) * plan.shape.fast) * plan.samplesOfPixel;
    if (queued < pace.samples() || i + 1 == plan.tiles.size())
      continue;
    queue->wait("render");
    pace.took(queued, sinceQueued.seconds());
    sinceQueued = Stopwatch();
    progress.add(queuedRows);
    queued = 0;
    queuedRows = 0;
    if (cancelled())
      return false;
  }
  return true;
}

/// The accumulators of all warps into the first.
void Runner::reduce(const Work &work) {
  const Address address[] = {accumulators.address()};
  const std::int64_t doubles = work.plan.accumulatorBytes / std::int64_t(sizeof(double));
  const std::int64_t numbers[] = {work.plan.warps(), doubles};
  queue->launch(*module, {Entry::Reduce, doubles, work.plan.warp, address, numbers, {}});
}

void Runner::runOnce(Work &work, const void *const *arguments, const RenderedRows &rows,
                     void *const *outputs, const RunOptions &options) {
  allocate(work, arguments);
  const QueueWait wait(*queue);
  upload(work, arguments);
  work.result.deviceBytes = std::int64_t(held());

  const Stopwatch sinceUpload;
  queue->wait("take the data");
  const Stopwatch sinceLaunch;
  const bool done =
      kernel->reach ? launchLit(work, arguments, rows, options) : launchTiles(work, rows, options);
  if (!done) {
    work.result.cancelled = true;
    return;
  }
  const AlignedMemory sum = allocateAligned(work.plan.accumulatorBytes, "an accumulator");
  if (work.plan.sums)
    reduce(work);
  queue->wait("render");
  work.result.deviceSeconds = sinceLaunch.seconds();
  if (work.plan.sums)
    queue->copyToHost(sum.get(), accumulators.address(), std::size_t(work.plan.accumulatorBytes));
  for (std::uint32_t i = 0; i != kernel->num_outputs; ++i)
    if (work.plan.imageBytes[i])
      queue->copyToHost(outputs[i], images[i].address(), work.plan.imageBytes[i]);
  queue->wait("hand out the results");
  if (work.plan.sums) {
    void *const all[] = {sum.get()};
    kernel->finish(arguments, work.plan.workspace.get(), all, 1, outputs);
  }
  work.result.runSeconds = sinceUpload.seconds();
  if (options.progress)
    options.progress(1);
}

RunResult Runner::run(const void *const *arguments, const ImageShape &shape,
                      const RenderedRows &rows, void *const *outputs, const RunOptions &options) {
  const Stopwatch sinceCall;
  Work work{RunPlan(*kernel, arguments, shape, module->residentBlocks()), {}, sinceCall, {}};
  work.result.prepareSeconds = sinceCall.seconds();
  work.result.workspaceBytes = work.plan.workspaceBytes;
  work.result.accumulatorBytes = std::int64_t(work.plan.accumulatorsBytes());
  work.result.device = device->describe();
  try {
    runOnce(work, arguments, rows, outputs, options);
  } catch (...) {
    release();
    throw;
  }
  return work.result;
}

} // namespace nanobragg::gpu
