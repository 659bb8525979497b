//===- Runner.cpp ---------------------------------------------------------===//
#include "Runner.h"

#include "AlignedMemory.h"
#include "Partition.h"
#include "Progress.h"

#include <algorithm>
#include <cstddef>
#include <optional>

namespace nanobragg::cuda {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::int64_t threadsOfWarp = 32;

double secondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Room for `bytes` in memory that is kept from run to run.
void reserve(Memory &memory, const std::shared_ptr<Device> &device, std::size_t bytes) {
  if (memory.bytes() < bytes)
    memory = Memory(device, bytes);
}

/// Gives up what is too small, and counts what will be allocated in its place.
void plan(MemoryNeed &need, const char *what, Memory &memory, std::size_t bytes) {
  if (memory.bytes() >= bytes)
    return;
  memory = Memory();
  need.add(what, bytes);
}

} // namespace

/// One run.
struct Runner::Work {
  ImageShape shape;
  std::int64_t workspaceBytes = 0;
  AlignedMemory workspace;
  std::vector<nb_tile> tiles;
  double samplesPerPixel = 1;
  bool sums = false;
  std::int64_t accumulatorBytes = 0; ///< of one
  std::int64_t blocks = 0;           ///< of a launch with sums
  std::vector<std::size_t> imageBytes;
  std::vector<std::string> keys; ///< of resident data, by the parameter's number

  ArgumentBlock block;
  std::vector<std::size_t> places; ///< of the parameters' values in the block
  std::size_t pointersAt = 0, outputsAt = 0, tilesAt = 0, workspaceAt = 0;

  Clock::time_point called = Clock::now();
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
  std::size_t sum = block.bytes() + accumulators.bytes();
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
}

/// Everything that the run needs, checked before any of it is allocated.
void Runner::allocate(Work &work, const void *const *arguments) {
  MemoryNeed need;
  work.keys.resize(kernel->num_parameters);
  for (std::uint32_t i = 0; i != kernel->num_parameters; ++i) {
    const nb_parameter_kind kind = kernel->parameters[i].kind;
    if (!isLarge(kind))
      continue;
    const std::size_t bytes = valueBytes(*kernel, arguments, i, work.shape);
    if (kind == NB_PARAMETER_IMAGE) {
      plan(need, kernel->parameters[i].name, large[i].memory, bytes);
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
    plan(need, kernel->outputs[i].name, images[i], work.imageBytes[i]);
  plan(need, "parameters and tables", block, work.block.bytes());
  const std::size_t sums =
      std::size_t(work.blocks * kernel->device->threads / threadsOfWarp * work.accumulatorBytes);
  plan(need, "sums over pixels", accumulators, sums);
  need.check(*device);

  for (std::uint32_t i = 0; i != kernel->num_parameters; ++i)
    if (kernel->parameters[i].kind == NB_PARAMETER_IMAGE)
      reserve(large[i].memory, device, valueBytes(*kernel, arguments, i, work.shape));
  for (std::uint32_t i = 0; i != kernel->num_outputs; ++i)
    reserve(images[i], device, work.imageBytes[i]);
  reserve(block, device, work.block.bytes());
  reserve(accumulators, device, sums);
  work.result.accumulatorBytes = std::int64_t(sums);
}

void Runner::upload(Work &work, const void *const *arguments) {
  const Driver &driver = device->driver();
  ArgumentBlock &content = work.block;
  const auto copy = [&](Address to, const void *from, std::size_t bytes) {
    driver.check(driver.copyToDevice(to, from, bytes, stream), "take the data");
    work.result.uploadedBytes += std::int64_t(bytes);
  };
  for (std::uint32_t i = 0; i != kernel->num_parameters; ++i) {
    const nb_parameter_kind kind = kernel->parameters[i].kind;
    Address value = block.address() + work.places[i];
    if (kind == NB_PARAMETER_IMAGE) {
      value = large[i].memory.address();
      copy(value, arguments[i], valueBytes(*kernel, arguments, i, work.shape));
    } else if (isLarge(kind)) {
      ResidentData &resident = large[i].resident;
      const bool grid = kind == NB_PARAMETER_HKL_GRID;
      const void *data =
          grid ? static_cast<const nb_hkl_grid *>(arguments[i])->data : arguments[i];
      if (!resident.holds(work.keys[i])) {
        const std::size_t bytes = valueBytes(*kernel, arguments, i, work.shape);
        resident.upload(*device, stream, work.keys[i], data, bytes);
        work.result.uploadedBytes += std::int64_t(bytes);
      }
      if (grid)
        content.setAddress(work.places[i] + offsetof(nb_hkl_grid, data), resident.address());
      else
        value = resident.address();
    }
    content.setAddress(work.pointersAt + i * sizeof(Address), value);
  }
  for (std::uint32_t i = 0; i != kernel->num_outputs; ++i)
    content.setAddress(work.outputsAt + i * sizeof(Address), images[i].address());
  copy(block.address(), content.data(), content.bytes());
  if (work.sums)
    driver.check(driver.setBytes(accumulators.address(), 0, accumulators.bytes(), stream),
                 "clear memory");
}

void Runner::launch(Function function, std::int64_t blocks, std::int64_t threads,
                    void **parameters) {
  const Driver &driver = device->driver();
  driver.check(driver.launch(function, unsigned(blocks), 1, 1, unsigned(threads), 1, 1, 0, stream,
                             parameters, nullptr),
               "launch the kernel");
}

/// False when it was cancelled.
bool Runner::launchTiles(Work &work, const RenderedRows &rows, const RunOptions &options) {
  std::int64_t total = 0;
  for (const nb_tile &tile : work.tiles)
    total += renderedRows(tile, rows);
  Progress progress(options.progress, options.progressInterval, total);
  const auto cancelled = [&] { return options.cancel && options.cancel->requested(); };
  if (cancelled())
    return false;
  work.result.firstTileSeconds = secondsSince(work.called);
  const std::int64_t threads = kernel->device->threads;
  const std::int64_t chunksOfRow = (work.shape.fast + threads - 1) / threads;
  double queued = 0;
  std::int64_t queuedRows = 0;
  auto begun = Clock::now();
  for (std::size_t i = 0; i != work.tiles.size(); ++i) {
    const nb_tile &tile = work.tiles[i];
    Address addresses[] = {block.address() + work.pointersAt, block.address() + work.workspaceAt,
                           block.address() + work.tilesAt + i * sizeof(nb_tile),
                           block.address() + work.outputsAt, accumulators.address()};
    void *parameters[] = {&addresses[0], &addresses[1], &addresses[2], &addresses[3],
                          &addresses[4]};
    launch(module->entry(),
           work.sums ? work.blocks : (tile.slow_end - tile.slow_begin) * chunksOfRow, threads,
           parameters);
    ++work.result.launches;
    queuedRows += renderedRows(tile, rows);
    queued += double(renderedRows(tile, rows) * work.shape.fast) * work.samplesPerPixel;
    if (queued < pace.samples() || i + 1 == work.tiles.size())
      continue;
    device->driver().check(device->driver().synchronize(stream), "render");
    pace.took(queued, secondsSince(begun));
    begun = Clock::now();
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
  std::int64_t warps = work.blocks * kernel->device->threads / threadsOfWarp;
  std::int64_t doubles = work.accumulatorBytes / std::int64_t(sizeof(double));
  void *parameters[] = {&address, &warps, &doubles};
  launch(module->reduce(), doubles, threadsOfWarp, parameters);
}

void Runner::runOnce(Work &work, const void *const *arguments, const RenderedRows &rows,
                     void *const *outputs, const RunOptions &options) {
  const Driver &driver = device->driver();
  allocate(work, arguments);
  const Device::Current current(*device);
  // The driver reads and writes the host's memory until then, whatever is thrown meanwhile.
  struct Finally {
    const Driver &driver;
    Stream stream;
    ~Finally() { driver.synchronize(stream); }
  } finally{driver, stream};
  upload(work, arguments);
  work.result.deviceBytes = std::int64_t(held());

  const auto start = Clock::now();
  if (!launchTiles(work, rows, options)) {
    work.result.cancelled = true;
    return;
  }
  const AlignedMemory sum = allocateAligned(work.accumulatorBytes, "an accumulator");
  if (work.sums) {
    reduce(work);
    driver.check(driver.copyToHost(sum.get(), accumulators.address(),
                                   std::size_t(work.accumulatorBytes), stream),
                 "hand out the sums");
  }
  for (std::uint32_t i = 0; i != kernel->num_outputs; ++i)
    if (work.imageBytes[i])
      driver.check(
          driver.copyToHost(outputs[i], images[i].address(), work.imageBytes[i], stream),
          "hand out the image");
  driver.check(driver.synchronize(stream), "render");
  if (work.sums) {
    void *const all[] = {sum.get()};
    kernel->finish(arguments, work.workspace.get(), all, 1, outputs);
  }
  work.result.runSeconds = secondsSince(start);
  if (options.progress)
    options.progress(1);
}

RunResult Runner::run(const void *const *arguments, const ImageShape &shape,
                      const RenderedRows &rows, void *const *outputs, const RunOptions &options) {
  Work work;
  work.shape = shape;
  work.workspaceBytes = kernel->workspace_size(arguments);
  work.workspace = allocateAligned(work.workspaceBytes, "a workspace");
  kernel->prepare(arguments, work.workspace.get());

  const std::int64_t threads = kernel->device->threads;
  const std::int64_t resident =
      std::int64_t(module->residentBlocks()) * device->multiprocessors();
  work.samplesPerPixel = samplesPerPixel(*kernel, arguments);
  work.tiles = planTiles(shape, work.samplesPerPixel, threads, resident);
  for (std::uint32_t i = 0; i != kernel->num_outputs; ++i) {
    const bool image = kernel->outputs[i].kind == NB_OUTPUT_IMAGE;
    const std::size_t pixel = kernel->image_type == NB_IMAGE_F32 ? sizeof(float) : sizeof(double);
    work.imageBytes.push_back(image ? std::size_t(shape.pixels()) * pixel : 0);
    work.sums |= !image;
  }
  if (work.sums) {
    work.accumulatorBytes = kernel->accumulator_size(arguments);
    work.blocks = blocksForSums(resident, work.accumulatorBytes, threads / threadsOfWarp);
  }

  ArgumentBlock &content = work.block;
  work.pointersAt = content.append(nullptr, kernel->num_parameters * sizeof(Address));
  work.outputsAt = content.append(nullptr, kernel->num_outputs * sizeof(Address));
  work.tilesAt = content.append(work.tiles.data(), work.tiles.size() * sizeof(nb_tile));
  for (std::uint32_t i = 0; i != kernel->num_parameters; ++i) {
    const nb_parameter_kind kind = kernel->parameters[i].kind;
    const std::size_t bytes = kind == NB_PARAMETER_HKL_GRID ? sizeof(nb_hkl_grid)
                              : isLarge(kind)               ? 0
                                              : valueBytes(*kernel, arguments, i, shape);
    work.places.push_back(content.append(bytes ? arguments[i] : nullptr, bytes));
  }
  work.workspaceAt = content.append(work.workspace.get(), std::size_t(work.workspaceBytes));
  work.result.prepareSeconds = secondsSince(work.called);
  work.result.workspaceBytes = work.workspaceBytes;
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
