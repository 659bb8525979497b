#include "runtime/gpu/cuda/Runner.h"

#include "lib/Target/GpuVendor.h"
#include "runtime/processor/Partition.h"
#include "runtime/processor/Progress.h"
#include "runtime/processor/Stopwatch.h"

#include <cstddef>

namespace nanobragg::cuda {
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
class StreamWait {
public:
  StreamWait(const Driver &driver, Stream stream) : driver(driver), stream(stream) {}
  StreamWait(const StreamWait &) = delete;
  ~StreamWait() { driver.synchronize(stream); }

private:
  const Driver &driver;
  Stream stream;
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
    : device(std::move(on)), kernel(std::move(handle)), module(Module::of(device, kernel)),
      large(kernel->num_parameters), images(kernel->num_outputs) {
  const Device::Current current(*device);
  device->driver().check(device->driver().createStream(&stream, NonBlocking), "begin");
}

Runner::~Runner() {
  Context ignored;
  if (!device->push())
    return;
  device->driver().destroyStream(stream);
  device->driver().popContext(&ignored);
}

std::size_t Runner::held() const {
  std::size_t sum = block.bytes() + accumulators.bytes() + lists.bytes();
  for (const Large &l : large)
    sum += l.resident.bytes() + l.memory.bytes();
  for (const Memory &image : images)
    sum += image.bytes();
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
  const Driver &driver = device->driver();
  ArgumentBlock &content = work.plan.block;
  const auto copy = [&](Address to, const void *from, std::size_t bytes) {
    driver.check(driver.copyToDevice(to, from, bytes, stream), "take the data");
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
        resident.upload(*device, stream, work.keys[i], data, bytes);
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
    driver.check(driver.setBytes(accumulators.address(), 0, accumulators.bytes(), stream),
                 "clear memory");
  // No launch writes pixels that are not lit.
  for (std::uint32_t i = 0; kernel->reach && i != kernel->num_outputs; ++i)
    if (work.plan.imageBytes[i])
      driver.check(driver.setBytes(images[i].address(), 0, work.plan.imageBytes[i], stream),
                   "clear memory");
}

void Runner::launch(Function function, std::int64_t blocks, std::int64_t threads,
                    void **parameters) {
  const Driver &driver = device->driver();
  driver.check(driver.launch(function, unsigned(blocks), 1, 1, unsigned(threads), 1, 1, 0, stream,
                             parameters, nullptr),
               "launch the kernel");
}

void Runner::launch(const RunPlan &plan, std::int64_t blocks, Address tile) {
  const Address base = block.address();
  Address addresses[] = {base + plan.pointersAt, base + plan.workspaceAt, tile,
                         base + plan.outputsAt, accumulators.address()};
  void *parameters[] = {&addresses[0], &addresses[1], &addresses[2], &addresses[3], &addresses[4]};
  launch(module->entry(), blocks, kernel->device->threads, parameters);
}

/// Lists of the next launch are made while one runs. False when it was cancelled.
bool Runner::launchLit(Work &work, const void *const *arguments, const RenderedRows &rows,
                       const RunOptions &options) {
  const Driver &driver = device->driver();
  const RunPlan &plan = work.plan;
  ThreadTeam team(resolveThreads(options.threads));
  LitBatches batches(*kernel, arguments, plan.workspace.get(), plan.shape, team);
  std::int64_t total = 0;
  for (std::size_t i = 0; i != batches.size(); ++i)
    total += renderedRows(batches.rows(i), rows);
  Progress progress(options.progress, options.progressInterval, total);
  const auto cancelled = [&] { return options.cancel && options.cancel->requested(); };
  LitBatch copied;
  const StreamWait wait(driver, stream); // ahead of its memory
  work.result.firstTileSeconds = work.sinceCall.seconds();
  for (std::size_t i = 0; i != batches.size() && !cancelled(); ++i) {
    LitBatch next = batches.make(i);
    driver.check(driver.synchronize(stream), "render");
    if (i != 0)
      progress.add(renderedRows(batches.rows(i - 1), rows));
    copied = std::move(next);
    if (copied.blocks() == 0)
      continue;
    reserve(lists, device, copied.bytes());
    const void *content = copied.placedAt(lists.address());
    driver.check(driver.copyToDevice(lists.address(), content, copied.bytes(), stream),
                 "take the lists");
    work.result.uploadedBytes += std::int64_t(copied.bytes());
    const std::int64_t blocks = (copied.blocks() + plan.warpsOfBlock - 1) / plan.warpsOfBlock;
    launch(plan, plan.sums ? plan.blocksOfSums : blocks, copied.tile(lists.address()));
    ++work.result.launches;
  }
  driver.check(driver.synchronize(stream), "render");
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
    device->driver().check(device->driver().synchronize(stream), "render");
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
  Address address = accumulators.address();
  std::int64_t warps = work.plan.warps();
  std::int64_t doubles = work.plan.accumulatorBytes / std::int64_t(sizeof(double));
  void *parameters[] = {&address, &warps, &doubles};
  launch(module->reduce(), doubles, work.plan.warp, parameters);
}

void Runner::runOnce(Work &work, const void *const *arguments, const RenderedRows &rows,
                     void *const *outputs, const RunOptions &options) {
  const Driver &driver = device->driver();
  allocate(work, arguments);
  const Device::Current current(*device);
  const StreamWait wait(driver, stream);
  upload(work, arguments);
  work.result.deviceBytes = std::int64_t(held());

  const Stopwatch sinceUpload;
  driver.check(driver.synchronize(stream), "take the data");
  const Stopwatch sinceLaunch;
  const bool done =
      kernel->reach ? launchLit(work, arguments, rows, options) : launchTiles(work, rows, options);
  if (!done) {
    work.result.cancelled = true;
    return;
  }
  const AlignedMemory sum = allocateAligned(work.plan.accumulatorBytes, "an accumulator");
  if (work.plan.sums) {
    reduce(work);
    driver.check(driver.synchronize(stream), "add up the sums");
  }
  work.result.deviceSeconds = sinceLaunch.seconds();
  if (work.plan.sums)
    driver.check(driver.copyToHost(sum.get(), accumulators.address(),
                                   std::size_t(work.plan.accumulatorBytes), stream),
                 "hand out the sums");
  for (std::uint32_t i = 0; i != kernel->num_outputs; ++i)
    if (work.plan.imageBytes[i])
      driver.check(
          driver.copyToHost(outputs[i], images[i].address(), work.plan.imageBytes[i], stream),
          "hand out the image");
  driver.check(driver.synchronize(stream), "render");
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
  const std::int64_t resident = std::int64_t(module->residentBlocks()) * device->multiprocessors();
  Work work{RunPlan(*kernel, arguments, shape, resident), {}, sinceCall, {}};
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

} // namespace nanobragg::cuda
