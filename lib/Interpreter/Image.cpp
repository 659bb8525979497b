#include "lib/Interpreter/Map.h"
#include "lib/Interpreter/Run.h"
#include "lib/Interpreter/Tiles.h"

#include <tbb/blocked_range.h>
#include <tbb/enumerable_thread_specific.h>
#include <tbb/global_control.h>
#include <tbb/info.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

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
  SmallVector<Slot> yields, images;
  unsigned firstTensor = 0;

  void run(Frame &root) const;

private:
  PixelRange range(Frame &root) const;
  void makeImages(Frame &root, const PixelRange &range) const;
  void render(Frame &root, const PixelRange &range) const;
};

/// The values of one thread; it begins with all that is known outside the image.
struct Worker {
  Frame frame;
  TilePixels pixels;
  std::unique_ptr<Observer> observer;

  explicit Worker(const Frame &root) {
    frame.uniformWords = root.uniformWords;
    frame.varyingWords.resize(root.varyingWords.size());
    frame.tables.resize(root.tables.size());
    frame.run = root.run;
    if (root.run->makeObserver) {
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

/// Zeroed memory for the images; the program's first goes to the caller's if he gave some.
void ImagePlan::makeImages(Frame &root, const PixelRange &range) const {
  for (auto [i, slot] : llvm::enumerate(images)) {
    auto image = std::make_unique<Tensor>();
    image->element = cast<RankedTensorType>(op->getResult(i).getType()).getElementType();
    image->shape = {range.panels, range.slow, range.fast};
    size_t bytes = size_t(image->size()) * (image->element.isF64() ? 8 : 4);
    if (void *memory = firstTensor + i == 0 ? root.run->options.image : nullptr) {
      std::fill_n(static_cast<char *>(memory), bytes, 0);
      image->data = memory;
    } else {
      image->own.resize(bytes);
      image->data = image->own.data();
    }
    root.object<const Tensor>(slot) = image.get();
    root.tensors[firstTensor + i] = std::move(image);
  }
}

void ImagePlan::render(Frame &root, const PixelRange &range) const {
  TileOutcomes outcomes(range.tiles(), root);
  tbb::enumerable_thread_specific<Worker> workers([&] { return Worker(root); });
  auto renderTile = [&](int64_t tile) {
    if (outcomes.stopBefore(tile))
      return;
    Worker &worker = workers.local();
    range.pixelsOf(tile, worker.pixels);
    worker.frame.failedAt = nullptr;
    std::vector<ProbeStatistics> probes = outcomes.emptyProbes();
    worker.frame.probes = root.probes ? &probes : nullptr;
    if (!worker.pixels.fast.empty())
      worker.compute(*this);
    if (!worker.frame.failed())
      for (auto [i, value] : llvm::enumerate(yields))
        range.write(worker.pixels, *root.tensors[firstTensor + i], worker.frame.reals(value),
                    value.varying);
    outcomes.finish(tile, worker.frame, std::move(probes));
  };
  const InterpreterOptions &options = root.run->options;
  int threads = options.threads > 0 ? options.threads : tbb::info::default_concurrency();
  tbb::global_control limit(tbb::global_control::max_allowed_parallelism, size_t(threads));
  tbb::task_arena arena(threads);
  arena.execute([&] {
    tbb::parallel_for(
        tbb::blocked_range<int64_t>(0, range.tiles(), 1),
        [&](const tbb::blocked_range<int64_t> &some) {
          for (int64_t tile = some.begin(); tile != some.end(); ++tile)
            renderTile(tile);
        },
        tbb::simple_partitioner());
  });
  outcomes.conclude();
}

void ImagePlan::run(Frame &root) const {
  PixelRange pixels = range(root);
  if (auto why = pixels.whyNotAnImage())
    return root.fail(op, *why);
  const auto &trace = root.run->options.trace;
  if (!trace) {
    makeImages(root, pixels);
    return render(root, pixels);
  }
  makeImages(root, PixelRange{});
  Worker worker(root);
  if (auto why = pixels.whyNotRendered(*trace))
    return root.fail(op, *why);
  worker.pixels = {trace->panel, {trace->slow}, {trace->fast}};
  worker.compute(*this);
  if (worker.frame.failed())
    root.fail(worker.frame.failedAt, worker.frame.failure);
}

static LogicalResult planImage(ImageOp op, Planner &planner) {
  if (planner.insideImage || op->getParentOp() != op->getParentOfType<func::FuncOp>())
    return op->emitOpError("inside another loop cannot be run");
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
  for (Value value : op.getYield().getValues())
    plan->yields.push_back(planner.slot(value));

  plan->firstTensor = planner.numTensors;
  planner.numTensors += op->getNumResults();
  for (Value image : op->getResults()) {
    auto slot = planner.define(image, 0);
    if (failed(slot))
      return failure();
    plan->images.push_back(*slot);
  }
  planner.step(op, 0, [plan](Frame &frame) { plan->run(frame); });
  return success();
}

void evaluation::attachImage(MLIRContext *context) { evaluateBy<ImageOp, planImage>(context); }
