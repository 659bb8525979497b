#include "lib/Transforms/Schedule/ScheduleOps.h"

#include "lib/Transforms/Invariants.h"
#include "lib/Transforms/Rewrites.h"

#include "mlir/Dialect/Transform/Interfaces/MatchInterfaces.h"
#include "mlir/Dialect/Transform/Transforms/TransformInterpreterUtils.h"
#include "mlir/Dialect/Transform/TuneExtension/TuneExtension.h"
#include "mlir/Dialect/Transform/TuneExtension/TuneExtensionOps.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace mlir::transform;
using namespace mlir::nb;

#define GET_OP_CLASSES
#include "lib/Transforms/Schedule/ScheduleOps.cpp.inc"

/// The op's handle is of no use behind it, and the program is another one.
template <typename OpT>
static void consumes(OpT op, SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  consumesHandle(op->getOpOperands(), effects);
  producesHandle(op->getOpResults(), effects);
  modifiesPayload(effects);
}

//===----------------------------------------------------------------------===//
// transform.nb.match
//===----------------------------------------------------------------------===//

/// Is the value of this op called so, or so and a number that keeps it apart from others?
static bool isCalled(Operation *op, StringRef wanted) {
  auto loc = op->getLoc()->findInstanceOf<NameLoc>();
  if (!loc || op->getNumResults() == 0)
    return false;
  StringRef name = loc.getName().getValue();
  return name == wanted || (name.consume_front(wanted) && name.consume_front("_") &&
                            !name.empty() && llvm::all_of(name, llvm::isDigit));
}

LogicalResult schedule::MatchOp::verify() {
  if (!getOp() && !getValue())
    return emitOpError("says neither which op nor which value");
  return success();
}

DiagnosedSilenceableFailure schedule::MatchOp::apply(TransformRewriter &rewriter,
                                                     TransformResults &results,
                                                     TransformState &state) {
  SmallVector<Operation *> found;
  for (Operation *root : state.getPayloadOps(getRoot()))
    root->walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (isa<transform::NamedSequenceOp>(op))
        return WalkResult::skip(); // the schedule itself
      const bool kind = !getOp() || op->getName().getStringRef() == *getOp();
      if (kind && (!getValue() || isCalled(op, *getValue())))
        found.push_back(op);
      return WalkResult::advance();
    });
  results.set(cast<OpResult>(getMatched()), found);
  if (!found.empty())
    return DiagnosedSilenceableFailure::success();
  auto error = emitSilenceableError() << "the program has no ";
  if (getOp())
    error << "op '" << *getOp() << "'";
  else
    error << "op";
  if (getValue())
    error << " that makes %" << *getValue();
  return error;
}

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

void schedule::OrderDimensionsOp::getEffects(
    SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  onlyReadsHandle(getSumMutable(), effects);
  modifiesPayload(effects);
}

DiagnosedSilenceableFailure schedule::OrderDimensionsOp::applyToOne(TransformRewriter &rewriter,
                                                                    SumOp sum,
                                                                    ApplyToEachResultList &,
                                                                    TransformState &) {
  SmallVector<unsigned> order;
  for (auto name : getOrder().getAsValueRange<StringAttr>())
    for (unsigned i = 0; i != sum.getDimensions().size(); ++i)
      if (stringifyDimension(sum.getDimension(i)) == name && !llvm::is_contained(order, i))
        order.push_back(i);
  if (order.size() != sum.getDimensions().size() || order.size() != getOrder().size()) {
    auto error = emitSilenceableError() << "the order has to name each dimension of the sum once: ";
    for (unsigned i = 0; i != sum.getDimensions().size(); ++i)
      error << (i ? ", " : "") << stringifyDimension(sum.getDimension(i));
    return error;
  }
  SmallVector<Value> counts;
  SmallVector<Attribute> dimensions;
  Block &body = *sum.getBodyBlock();
  SmallVector<BlockArgument> before(body.getArguments());
  for (unsigned i : order) {
    counts.push_back(sum.getCounts()[i]);
    dimensions.push_back(sum.getDimensions()[i]);
    before[i].replaceAllUsesWith(body.addArgument(before[i].getType(), before[i].getLoc()));
  }
  body.eraseArguments(0, unsigned(order.size()));
  rewriter.modifyOpInPlace(sum, [&] {
    sum.getCountsMutable().assign(counts);
    sum.setDimensionsAttr(rewriter.getArrayAttr(dimensions));
  });
  SmallVector<Dimension> now;
  for (unsigned i = 0; i != order.size(); ++i)
    now.push_back(sum.getDimension(i));
  nb::remarkPassed(sum.getLoc(), remarkOf("nb-apply-patterns", "reordered",
                                          sum->getParentOfType<FunctionOpInterface>()))
      << remark::add("reordered the loops of a sum: {0}", dimensionNames(now));
  return DiagnosedSilenceableFailure::success();
}

void schedule::SplitSumOp::getEffects(SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  consumes(*this, effects);
}

DiagnosedSilenceableFailure schedule::SplitSumOp::applyToOne(TransformRewriter &, SumOp sum,
                                                             ApplyToEachResultList &results,
                                                             TransformState &) {
  const auto rank = int64_t(sum.getDimensions().size());
  if (int64_t(getAfter()) < 1 || int64_t(getAfter()) >= rank)
    return emitSilenceableError() << "a sum over " << rank << " dimension(s) cannot be split after "
                                  << int64_t(getAfter());
  for (SumOp part :
       splitSum(sum, unsigned(getAfter()), sum->getParentOfType<FunctionOpInterface>()))
    results.push_back(part);
  return DiagnosedSilenceableFailure::success();
}

//===----------------------------------------------------------------------===//
// Tables
//===----------------------------------------------------------------------===//

void schedule::TabulateThisOp::getEffects(SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  consumes(*this, effects);
}

DiagnosedSilenceableFailure schedule::TabulateThisOp::applyToOne(TransformRewriter &rewriter,
                                                                 Operation *target,
                                                                 ApplyToEachResultList &results,
                                                                 TransformState &) {
  auto func = target->getParentOfType<FunctionOpInterface>();
  std::string why = func ? "" : "is in no function";
  TabulateOp table = func ? nb::tabulate(target, func, why) : TabulateOp();
  if (!table)
    return emitSilenceableError() << "'" << target->getName() << "' " << why;
  rewriter.eraseOp(target);
  results.push_back(table);
  return DiagnosedSilenceableFailure::success();
}

void schedule::RecomputeOp::getEffects(SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  consumes(*this, effects);
}

DiagnosedSilenceableFailure schedule::RecomputeOp::applyToOne(TransformRewriter &rewriter,
                                                              TabulateOp table,
                                                              ApplyToEachResultList &,
                                                              TransformState &) {
  for (Operation *user : table->getUsers())
    if (!isa<LookupOp>(user))
      return emitSilenceableError() << "'" << user->getName() << "' needs the table";
  unsigned places = 0;
  for (auto [column, yielded] : llvm::zip(table.getTables(), table.getYield().getValues()))
    for (Operation *user : llvm::make_early_inc_range(column.getUsers())) {
      auto lookup = cast<LookupOp>(user);
      ++places;
      IRMapping mapping;
      mapping.map(table.getInductionVars(), lookup.getIndices());
      rewriter.setInsertionPoint(lookup);
      for (Operation &op : table.getBodyBlock()->without_terminator())
        rewriter.clone(op, mapping);
      rewriter.replaceOp(lookup, mapping.lookupOrDefault(yielded));
    }
  nb::remarkPassed(table.getLoc(), remarkOf("nb-apply-patterns", "recomputed",
                                            table->getParentOfType<FunctionOpInterface>()))
      << remark::add("entries of a table are computed at {0} place(s)", places);
  rewriter.eraseOp(table);
  return DiagnosedSilenceableFailure::success();
}

//===----------------------------------------------------------------------===//
// Miller indices and pixels
//===----------------------------------------------------------------------===//

void schedule::PeelOp::getEffects(SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  onlyReadsHandle(getIndexMutable(), effects);
  modifiesPayload(effects);
}

DiagnosedSilenceableFailure schedule::PeelOp::applyToOne(TransformRewriter &, Operation *index,
                                                         ApplyToEachResultList &,
                                                         TransformState &) {
  if (index->getNumResults() != 1 || !canPeel(index->getResult(0)))
    return emitSilenceableError() << "no lattice factor takes what '" << index->getName()
                                  << "' computes as its Miller index, and not its fraction";
  peelMillerIndex(index->getResult(0), index->getParentOfType<FunctionOpInterface>());
  return DiagnosedSilenceableFailure::success();
}

void schedule::TilePixelsOp::getEffects(SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  consumes(*this, effects);
}

DiagnosedSilenceableFailure schedule::TilePixelsOp::applyToOne(TransformRewriter &, ImageOp image,
                                                               ApplyToEachResultList &results,
                                                               TransformState &) {
  const auto lanes = int64_t(getLanes());
  if (lanes < 1 || lanes > 64)
    return emitSilenceableError() << "tiles have between 1 and 64 pixels, not " << lanes;
  if (image.getLanes())
    return emitSilenceableError() << "the image has tiles of " << *image.getLanes()
                                  << " pixels already";
  ImageOp tiled = vectorizeImage(image, lanes);
  if (!tiled) // after a diagnostic
    return DiagnosedSilenceableFailure::definiteFailure();
  results.push_back(tiled);
  return DiagnosedSilenceableFailure::success();
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

namespace {
class ScheduleOps : public TransformDialectExtension<ScheduleOps> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ScheduleOps)
  using Base::Base;
  void init() {
    declareGeneratedDialect<NBDialect>();
    registerTransformOps<
#define GET_OP_LIST
#include "lib/Transforms/Schedule/ScheduleOps.cpp.inc"
        >();
  }
};
} // namespace

void nb::registerScheduleOps(DialectRegistry &registry) {
  registry.insert<TransformDialect>();
  registry.addExtensions<ScheduleOps>();
  transform::registerTuneExtension(registry);
}

/// A knob without a value is a choice that is still to be made.
static LogicalResult verifyChoices(ModuleOp schedule) {
  const auto isOpen = [](Operation *op) {
    if (auto knob = dyn_cast<tune::KnobOp>(op))
      return !knob.getSelected();
    auto alternatives = dyn_cast<tune::AlternativesOp>(op);
    return alternatives && !alternatives.getSelectedRegionAttr() &&
           !alternatives.getSelectedRegionParam();
  };
  const auto open = schedule->walk([&](Operation *op) {
    if (!isOpen(op))
      return WalkResult::advance();
    op->emitError("the choice ")
        << op->getAttr("name")
        << " is open: write the chosen one (`= VALUE from options`, `selected_region = NUMBER`), "
           "or let nb-try --tune choose";
    return WalkResult::interrupt();
  });
  return failure(open.wasInterrupted());
}

LogicalResult nb::applySchedule(ModuleOp schedule, ModuleOp program) {
  if (failed(verifyChoices(schedule)))
    return failure();
  auto main = transform::detail::findTransformEntryPoint(program, schedule);
  if (!main)
    return failure();
  return applyTransformNamedSequence(program, main, schedule, TransformOptions());
}
