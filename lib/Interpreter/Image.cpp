#include "lib/Interpreter/Images.h"
#include "lib/Interpreter/Map.h"
#include "lib/Interpreter/PartialSums.h"
#include "lib/Interpreter/Run.h"
#include "lib/Interpreter/Tiles.h"
#include "lib/Parallel/ThreadTeam.h"

#include <optional>

using namespace mlir;
using namespace mlir::nb;
using namespace mlir::nb::evaluation;

namespace {
/// An nb.image, resolved.
struct ImagePlan {
  mutable ImageOp op;
  Body body;
  SmallVector<Slot> counts, roi;
  Slot mask, panel, slow, fast;
  SmallVector<Slot> yields, images; ///< one for each image
  SmallVector<Type> elements;       ///< one for each image
  unsigned firstTensor = 0;
  SmallVector<Summand> sums;
  /// Point spread takes the images: a trace needs the pixels around its own, this far.
  bool spreads = false;
  std::optional<Slot> spreadRadius; ///< none: all pixels

  void run(Frame &root) const;

private:
  PixelRange range(Frame &root) const;
  void makeImages(Frame &root, ArrayRef<int64_t> shape) const;
  void render(Frame &root, const PixelRange &range) const;
  void trace(Frame &root, const PixelRange &range) const;
  void renderAround(const Pixel &pixel, Frame &root, PixelRange range) const;
};

/// The values of one thread; it begins with all that is known outside the image.
struct Worker {
  Frame frame;
  TilePixels pixels;
  std::unique_ptr<Observer> observer;

  explicit Worker(const Frame &root, bool observed = true) {
    frame.uniformWords = root.uniformWords;
    frame.varyingWords.resize(root.varyingWords.size());
    frame.tables.resize(root.tables.size());
    frame.grids.resize(root.grids.size());
    frame.run = root.run;
    if (observed && root.run->makeObserver) {
      observer = root.run->makeObserver();
      observer->pixels = &pixels;
      frame.observer = observer.get();
    }
  }

  void compute(const ImagePlan &plan) {
    frame.lanes = int64_t(pixels.fast.size());
    *frame.integers(plan.panel) = pixels.panel;
    std::copy(pixels.slow.begin(), pixels.slow.end(), frame.integers(plan.slow));
    std::copy(pixels.fast.begin(), pixels.fast.end(), frame.integers(plan.fast));
    plan.body.run(frame, everything);
  }
};
} // namespace

PixelRange ImagePlan::range(Frame &root) const {
  auto number = [&](Slot slot) { return *root.integers(slot); };
  PixelRange range = {number(counts[0]), number(counts[1]), number(counts[2])};
  range.fastMax = range.fast - 1;
  range.slowMax = range.slow - 1;
  if (!roi.empty()) {
    range.fastMin = std::max(number(roi[0]), range.fastMin);
    range.fastMax = std::min(number(roi[1]), range.fastMax);
    range.slowMin = std::max(number(roi[2]), range.slowMin);
    range.slowMax = std::min(number(roi[3]), range.slowMax);
  }
  if (op.getMask())
    range.mask = root.object<const Tensor>(mask);
  return range;
}

void ImagePlan::makeImages(Frame &root, ArrayRef<int64_t> shape) const {
  for (auto [i, slot] : llvm::enumerate(images))
    makeImage(root, firstTensor + i, slot, elements[i], shape);
}

void ImagePlan::render(Frame &root, const PixelRange &range) const {
  TileOutcomes outcomes(range.tiles(), root);
  PartialSums partialSums(sums, root);
  Partition partition(range.tiles(), partialSums.size());
  std::vector<std::vector<double>> totals(sums.empty() ? 0 : size_t(partition.parts));
  nanobragg::ThreadTeam team(nanobragg::threadsOf(root.run->options.threads));
  std::vector<std::optional<Worker>> workers(size_t(team.size()));
  auto renderTile = [&](int64_t tile, int64_t part, Worker &worker) {
    if (outcomes.stopBefore(tile))
      return;
    range.pixelsOf(tile, worker.pixels);
    worker.frame.failedAt = nullptr;
    std::vector<ProbeStatistics> probes = outcomes.emptyProbes();
    worker.frame.probes = root.probes ? &probes : nullptr;
    if (!worker.pixels.fast.empty()) {
      worker.compute(*this);
      if (!worker.frame.failed() && !sums.empty())
        partialSums.add(worker.frame, totals[size_t(part)]);
    }
    if (!worker.frame.failed())
      for (auto [i, value] : llvm::enumerate(yields))
        range.write(worker.pixels, *root.tensors[firstTensor + i], worker.frame.reals(value),
                    value.varying);
    outcomes.finish(tile, worker.frame, std::move(probes));
  };
  team.forEach(partition.parts, [&](int64_t part, int thread) {
    std::optional<Worker> &worker = workers[size_t(thread)];
    if (!worker)
      worker.emplace(root);
    for (int64_t tile = partition.begin(part); tile < partition.begin(part + 1); ++tile)
      renderTile(tile, part, *worker);
  });
  partialSums.conclude(root, totals);
  outcomes.conclude();
}

/// The pixels whose light reaches one that is traced. No instrument sees them.
void ImagePlan::renderAround(const Pixel &pixel, Frame &root, PixelRange range) const {
  if (spreadRadius) {
    const int64_t radius = *root.integers(*spreadRadius);
    range.fastMin = std::max(range.fastMin, pixel.fast - radius);
    range.fastMax = std::min(range.fastMax, pixel.fast + radius);
    range.slowMin = std::max(range.slowMin, pixel.slow - radius);
    range.slowMax = std::min(range.slowMax, pixel.slow + radius);
  }
  Worker worker(root, /*observed=*/false);
  const int64_t count = range.tiles() / range.panels;
  for (int64_t tile = count * pixel.panel; tile != count * (pixel.panel + 1); ++tile) {
    range.pixelsOf(tile, worker.pixels);
    if (!worker.pixels.fast.empty())
      worker.compute(*this);
    if (worker.frame.failed())
      return root.fail(worker.frame.failedAt, worker.frame.failure);
    for (auto [i, value] : llvm::enumerate(yields))
      range.write(worker.pixels, *root.tensors[firstTensor + i], worker.frame.reals(value),
                  value.varying);
  }
}

/// The one pixel of a trace, which is all of the image where no stage needs others; sums are over
/// it alone.
void ImagePlan::trace(Frame &root, const PixelRange &range) const {
  Pixel pixel = *root.run->options.trace;
  if (auto why = range.whyNotRendered(pixel))
    return root.fail(op, *why);
  SmallVector<int64_t, 3> shape = {1, 1, 1};
  if (spreads)
    shape = {range.panels, range.slow, range.fast};
  makeImages(root, shape);
  if (spreads)
    renderAround(pixel, root, range);
  if (root.failed())
    return;
  Worker worker(root);
  worker.pixels = {pixel.panel, {pixel.slow}, {pixel.fast}};
  worker.compute(*this);
  std::vector<double> total;
  PartialSums partialSums(sums, root);
  if (!worker.frame.failed()) {
    partialSums.add(worker.frame, total);
    const int64_t at =
        spreads ? (pixel.panel * range.slow + pixel.slow) * range.fast + pixel.fast : 0;
    for (auto [i, value] : llvm::enumerate(yields))
      root.tensors[firstTensor + i]->set(at, *worker.frame.reals(value));
  }
  partialSums.conclude(root, total);
  if (worker.frame.failed())
    root.fail(worker.frame.failedAt, worker.frame.failure);
}

void ImagePlan::run(Frame &root) const {
  PixelRange pixels = range(root);
  if (auto why = pixels.whyNotAnImage())
    return root.fail(op, *why);
  if (root.run->options.trace)
    return trace(root, pixels);
  makeImages(root, {pixels.panels, pixels.slow, pixels.fast});
  render(root, pixels);
}

/// Tells a trace of the stages after this image.
static void planSpread(Value image, ImagePlan &plan, Planner &planner) {
  if (image.use_empty() || !llvm::all_of(image.getUsers(), llvm::IsaPred<PointSpreadOp>))
    return;
  plan.spreads = true;
  auto spread = cast<PointSpreadOp>(*image.user_begin());
  if (image.hasOneUse() && isa<BlockArgument>(spread.getRadius()))
    plan.spreadRadius = planner.slot(spread.getRadius());
}

static LogicalResult planImage(ImageOp op, Planner &planner) {
  if (planner.insideImage)
    return op->emitOpError("inside an image cannot be run; write a sum over its pixels (nb.sum)");
  if (op->getParentOp() != op->getParentOfType<func::FuncOp>())
    return op->emitOpError("inside a loop or a branch cannot be run; write the choice into the "
                           "image (arith.select)");
  auto plan = std::make_shared<ImagePlan>();
  plan->op = op;
  for (Value count : op.getCounts())
    plan->counts.push_back(planner.slot(count));
  for (Value bound : op.getRoi())
    plan->roi.push_back(planner.slot(bound));
  if (op.getMask())
    plan->mask = planner.slot(op.getMask());

  planner.insideImage = true;
  Slot *variables[] = {&plan->panel, &plan->slow, &plan->fast};
  for (auto [i, argument] : llvm::enumerate(op.getInductionVars())) {
    auto slot = planner.define(argument, bitOf(op.getDimension(i)));
    if (failed(slot))
      return failure();
    *variables[i] = *slot;
  }
  LogicalResult planned = planner.plan(*op.getBodyBlock(), plan->body);
  planner.insideImage = false;
  if (failed(planned))
    return failure();

  plan->firstTensor = planner.numTensors;
  for (auto [result, value] : llvm::zip_equal(op->getResults(), op.getYield().getValues())) {
    auto tensor = dyn_cast<RankedTensorType>(result.getType());
    if (!tensor) {
      auto sum = Summand::plan(op, value, result, 0, planner);
      if (failed(sum))
        return failure();
      plan->sums.push_back(*sum);
      continue;
    }
    auto slot = planner.define(result, 0);
    if (failed(slot))
      return failure();
    plan->images.push_back(*slot);
    plan->elements.push_back(tensor.getElementType());
    plan->yields.push_back(planner.slot(value));
    ++planner.numTensors;
    planSpread(result, *plan, planner);
  }
  planner.step(op, 0, [plan](Frame &frame) { plan->run(frame); });
  return success();
}

void evaluation::attachImage(MLIRContext *context) { evaluateBy<ImageOp, planImage>(context); }
