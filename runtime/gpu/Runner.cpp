#include "runtime/gpu/Runner.h"

#include "runtime/gpu/TracedQueue.h"

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

/// Where the parameter's numbers lie on the device already; null: they do not.
const DeviceMemory *givenOf(const RunOptions &options, const nb_kernel_parameter &parameter) {
  const auto found = options.onDevice.find(parameter.name);
  return found == options.onDevice.end() ? nullptr : &found->second;
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

/// The state of a run on this device.
struct Runner::Work {
  const Run &run;
  const RunPlan &plan = run.plan;
  ArgumentBlock block = plan.block;
  std::vector<std::string> keys{}; ///< keys of resident data, by the parameter's number
  std::vector<RowRange> rows{};    ///< rendered here, in order
  LitBatch copied{};               ///< until the next wait
  double queued = 0;               ///< samples since the last wait
  std::int64_t queuedRows = 0;     ///< rendered rows since then
  Stopwatch sinceQueued{};
  RunResult result{};
};

Runner::Runner(KernelHandle handle, std::shared_ptr<Device> on)
    : device(std::move(on)), kernel(std::move(handle)), module(device->module(kernel)),
      queue(traced(device->openQueue(), device->describe())), large(kernel->num_parameters),
      images(kernel->num_outputs) {}

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
void Runner::allocate(Work &work) {
  const void *const *arguments = work.run.arguments;
  MemoryNeed need;
  work.keys.resize(kernel->num_parameters);
  for (std::uint32_t i = 0; i != kernel->num_parameters; ++i) {
    const nb_parameter_kind kind = kernel->parameters[i].kind;
    if (!isLarge(kind) || givenOf(work.run.options, kernel->parameters[i]))
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
    if (kernel->parameters[i].kind == NB_PARAMETER_IMAGE &&
        !givenOf(work.run.options, kernel->parameters[i]))
      reserve(large[i].memory, device, valueBytes(*kernel, arguments, i, work.plan.shape));
  for (std::uint32_t i = 0; i != kernel->num_outputs; ++i)
    reserve(images[i], device, work.plan.imageBytes[i]);
  reserve(block, device, work.plan.block.bytes());
  reserve(accumulators, device, work.plan.accumulatorsBytes());
}

void Runner::upload(Work &work) {
  const void *const *arguments = work.run.arguments;
  ArgumentBlock &content = work.block;
  const auto copy = [&](Address to, const void *from, std::size_t bytes) {
    queue->copyToDevice(to, from, bytes);
    work.result.uploadedBytes += std::int64_t(bytes);
  };
  for (std::uint32_t i = 0; i != kernel->num_parameters; ++i) {
    const nb_parameter_kind kind = kernel->parameters[i].kind;
    Address value = block.address() + work.plan.valuesAt[i];
    if (const DeviceMemory *lies = givenOf(work.run.options, kernel->parameters[i])) {
      if (kind == NB_PARAMETER_HKL_GRID)
        content.setAddress(work.plan.valuesAt[i] + offsetof(nb_hkl_grid, data), lies->address);
      else
        value = lies->address;
    } else if (kind == NB_PARAMETER_IMAGE) {
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
  // No launch writes pixels that are not lit.
  for (std::uint32_t i = 0; kernel->reach && i != kernel->num_outputs; ++i)
    if (work.plan.imageBytes[i])
      queue->clear(images[i].address(), work.plan.imageBytes[i]);
}

/// All memory that a kernel may find by addresses in other memory.
std::vector<Address> Runner::addresses() const {
  std::vector<Address> all = given;
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

/// Lists are made while the launch before runs.
void Runner::launchLit(Work &work, Deal &deal, std::size_t number) {
  const RunPlan &plan = work.plan;
  LitBatch next = deal.makeList(number);
  queue->wait("render");
  deal.rendered(std::exchange(work.queuedRows, deal.rowsOf(number)));
  work.copied = std::move(next);
  if (work.copied.blocks() == 0)
    return;
  reserve(lists, device, work.copied.bytes());
  const void *content = work.copied.placedAt(lists.address());
  queue->copyToDevice(lists.address(), content, work.copied.bytes());
  work.result.uploadedBytes += std::int64_t(work.copied.bytes());
  const std::int64_t blocks = (work.copied.blocks() + plan.warpsOfBlock - 1) / plan.warpsOfBlock;
  launch(plan, plan.sums ? plan.blocksOfSums : blocks, work.copied.tile(lists.address()));
  ++work.result.launches;
}

/// Waits when about 0.2 s of work are queued.
void Runner::launchTile(Work &work, Deal &deal, std::size_t number) {
  const RunPlan &plan = work.plan;
  launch(plan, plan.blocksOf(deal.tile(number)),
         block.address() + plan.tilesAt + number * sizeof(nb_tile));
  ++work.result.launches;
  const std::int64_t rows = deal.rowsOf(number);
  work.queuedRows += rows;
  work.queued += double(rows * plan.shape.fast) * plan.samplesOfPixel;
  if (work.queued < pace.samples() || number + 1 == deal.launches())
    return;
  queue->wait("render");
  pace.took(work.queued, work.sinceQueued.seconds());
  work.sinceQueued = Stopwatch();
  deal.rendered(std::exchange(work.queuedRows, 0));
  work.queued = 0;
}

/// The accumulators of all warps into the first.
void Runner::reduce(const RunPlan &plan) {
  const Address address[] = {accumulators.address()};
  const std::int64_t doubles = plan.accumulatorBytes / std::int64_t(sizeof(double));
  const std::int64_t numbers[] = {plan.warps(), doubles};
  queue->launch(*module, {Entry::Reduce, doubles, plan.warp, address, numbers, {}});
}

void Runner::render(Work &work, Deal &deal) {
  const RunPlan &plan = work.plan;
  while (const auto portion = deal.next()) {
    if (plan.sums)
      queue->clear(accumulators.address(), plan.accumulatorsBytes());
    for (std::size_t i = portion->begin; i != portion->end && !deal.stops(); ++i) {
      deal.lists() ? launchLit(work, deal, i) : launchTile(work, deal, i);
      const nb_tile &tile = deal.tile(i);
      const std::int64_t above = tile.panel * plan.shape.slow;
      if (!work.rows.empty() && work.rows.back().end == above + tile.slow_begin)
        work.rows.back().end = above + tile.slow_end;
      else
        work.rows.push_back({above + tile.slow_begin, above + tile.slow_end});
    }
    if (plan.sums) {
      reduce(plan);
      queue->copyToHost(deal.sumsOf(*portion), accumulators.address(),
                        std::size_t(plan.accumulatorBytes));
    }
    // Who has work queued takes no more of it from others.
    if (work.run.devices > 1 && !deal.lists())
      queue->wait("render");
  }
}

/// The rows of images that were rendered here, unless the first image is to stay.
void Runner::download(Work &work) {
  for (std::uint32_t i = 0; i != kernel->num_outputs; ++i) {
    if (work.plan.imageBytes[i] == 0)
      continue;
    if (i == 0 && work.run.options.keepImage) {
      auto kept = std::make_shared<const Memory>(std::move(images[i]));
      const auto [type, number] = device->place();
      const Address address = kept->address();
      const std::size_t bytes = work.plan.imageBytes[i];
      work.result.image = {type,  number, address,
                           bytes, kept,   [kept, bytes](void *to) { kept->copyTo(to, bytes); }};
      continue;
    }
    const std::size_t ofRow =
        work.plan.imageBytes[i] / std::size_t(work.plan.shape.panels * work.plan.shape.slow);
    for (const RowRange &rows : work.rows) {
      const std::size_t begin = std::size_t(rows.begin) * ofRow;
      queue->copyToHost(static_cast<char *>(work.run.outputs[i]) + begin,
                        images[i].address() + begin, std::size_t(rows.end - rows.begin) * ofRow);
    }
  }
}

RunResult Runner::run(const Run &run, Deal &deal) {
  Work work{run};
  work.result.device = device->describe();
  given.clear();
  for (const auto &[name, memory] : run.options.onDevice)
    given.push_back(memory.address);
  allocate(work);
  const QueueWait wait(*queue); // ahead of the host's memory
  upload(work);
  queue->wait("take the data");
  const Stopwatch sinceLaunch;
  work.result.firstTileSeconds = run.sinceCall.seconds();
  work.sinceQueued = Stopwatch();
  render(work, deal);
  work.result.deviceBytes = std::int64_t(held());
  if (deal.stops())
    return work.result;
  queue->wait("render");
  work.result.deviceSeconds = sinceLaunch.seconds();
  download(work);
  queue->wait("hand out the results");
  return work.result;
}

} // namespace nanobragg::gpu
