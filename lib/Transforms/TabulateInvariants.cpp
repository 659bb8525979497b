#include "dialect/PassStatistics.h"
#include "lib/Transforms/Invariants.h"
#include "lib/Transforms/Passes.h"
#include "lib/Transforms/Rewrites.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SmallBitVector.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "nb-tabulate-invariants"

namespace mlir::nb {
#define GEN_PASS_DEF_TABULATEINVARIANTS
#include "lib/Transforms/Passes.h.inc"
} // namespace mlir::nb

using namespace mlir;
using namespace mlir::nb;

namespace {
/// One induction variable of a sum or a search inside the image, or of its panels.
struct Loop {
  BlockArgument inductionVar;
  Dimension dimension;
  Value count;
};

bool isTableElement(Type type) {
  bool geometric = isScalarOrLanes(elementTypeOf(type)) && lanesOf(type) == 0;
  return geometric || type.isIndex() || type.isInteger(1);
}

class Tabulator {
public:
  Tabulator(ImageOp image, FunctionOpInterface func) : image(image), func(func) {}

  SmallVector<TabulateOp> run() {
    collectLoops();
    findPixelFree();
    choose(*image.getBodyBlock());
    const SmallVector<TabulateOp> made = makeTables();
    eraseUnused(*image.getBodyBlock());
    return made;
  }

  /// A table of this op's results, whatever it costs. Null, and why, where that cannot be.
  TabulateOp tabulate(Operation *op, std::string &why);

private:
  void collectLoops();
  void findPixelFree();
  void choose(Block &block);
  bool isWorthATable(Operation *op);
  SmallVector<Operation *> sliceOf(ValueRange values);
  /// A loop over which the op's value would have to be tabulated twice.
  std::optional<Dimension> repeated(Operation *op);
  SmallVector<TabulateOp> makeTables();
  TabulateOp makeTable(ArrayRef<unsigned> loopsOfTable, ArrayRef<Value> values);
  void eraseUnused(Block &block);

  ImageOp image;
  FunctionOpInterface func;

  /// All loops around a sample that run over the same values for every pixel of a panel, outer ones
  /// first.
  SmallVector<Loop> loops;
  DenseMap<Value, unsigned> loopOfInductionVar;

  /// An op whose value depends on loops of the list, or none, and on nothing else inside the image.
  struct PixelFree {
    llvm::SmallBitVector loops;
    unsigned position;
  };
  DenseMap<Operation *, PixelFree> pixelFree;

  /// Values that something used in every pixel reads.
  DenseSet<Value> needed;
  /// The values that go into tables, by the loops they depend on.
  llvm::MapVector<SmallVector<unsigned>, SmallVector<Value>> tables;
};

void Tabulator::collectLoops() {
  auto collectOne = [&](LoopOp loop, unsigned i) {
    BlockArgument iv = loop.getInductionVars()[i];
    loopOfInductionVar[iv] = loops.size();
    loops.push_back({iv, loop.getDimension(i), loop.getCounts()[i]});
  };
  collectOne(image, /*panel=*/0);
  image.getBody().walk<WalkOrder::PreOrder>([&](LoopOp loop) {
    for (auto [i, count] : llvm::enumerate(loop.getCounts()))
      if (!isDefinedIn(count, image))
        collectOne(loop, i);
  });
}

void Tabulator::findPixelFree() {
  unsigned position = 0;
  image.getBody().walk([&](Operation *op) {
    ++position;
    if (op->hasTrait<OpTrait::IsTerminator>() || !isPure(op))
      return;
    llvm::SmallBitVector loopsOfOp(loops.size());
    for (Value input : inputsOf(op)) {
      if (!isDefinedIn(input, image))
        continue;
      if (auto loop = loopOfInductionVar.find(input); loop != loopOfInductionVar.end()) {
        loopsOfOp.set(loop->second);
        continue;
      }
      auto def = pixelFree.find(input.getDefiningOp());
      if (def == pixelFree.end())
        return;
      loopsOfOp |= def->second.loops;
    }
    pixelFree[op] = {loopsOfOp, position};
  });
}

/// The pixel-free ops that `values` are computed from, in program order.
SmallVector<Operation *> Tabulator::sliceOf(ValueRange values) {
  DenseSet<Operation *> seen;
  SmallVector<Operation *> slice;
  SmallVector<Value> worklist = llvm::to_vector(values);
  while (!worklist.empty()) {
    Operation *def = worklist.pop_back_val().getDefiningOp();
    if (!def || !pixelFree.contains(def) || !seen.insert(def).second)
      continue;
    slice.push_back(def);
    llvm::append_range(worklist, inputsOf(def));
  }
  llvm::sort(slice, [&](Operation *a, Operation *b) {
    return pixelFree[a].position < pixelFree[b].position;
  });
  return slice;
}

std::optional<Dimension> Tabulator::repeated(Operation *op) {
  llvm::SmallDenseSet<int> dimensions;
  for (unsigned loop : pixelFree[op].loops.set_bits())
    if (!dimensions.insert(int(loops[loop].dimension)).second)
      return loops[loop].dimension;
  return std::nullopt;
}

/// Does looking up the op's results save work over computing them from what they depend on?
bool Tabulator::isWorthATable(Operation *op) {
  // Reading a table or a part of a value is what a lookup does.
  if (isa<LookupOp, ComponentOp, ElementOp, RowOp>(op))
    return false;
  const llvm::SmallBitVector &loopsOfOp = pixelFree[op].loops;
  unsigned lookup = 2; // finding the entry, and one for each number read
  for (Value result : op->getResults())
    lookup += needed.contains(result) ? scalarsIn(result.getType()) : 0;
  unsigned slice = 0;
  for (Operation *def : sliceOf(op->getResults()))
    slice += costOf(def);
  if (slice < lookup)
    return false;
  // A cheap combination of smaller tables is better made from those.
  bool combines = llvm::all_of(inputsOf(op), [&](Value input) {
    auto def = pixelFree.find(input.getDefiningOp());
    return def == pixelFree.end() || def->second.loops != loopsOfOp;
  });
  if (combines && costOf(op) < lookup)
    return false;

  for (Value result : op->getResults()) {
    // Memory holds numbers in f64.
    Type type = result.getType();
    if (!needed.contains(result) || (isTableElement(type) && elementTypeOf(type).isF64()))
      continue;
    nb::remarkMissed(op->getLoc(), remarkOf(DEBUG_TYPE, "no-table", func))
        << remark::add("'{0}' is computed for every pixel: a table cannot hold its result",
                       op->getName().getStringRef());
    return false;
  }
  if (auto dimension = repeated(op)) {
    nb::remarkMissed(op->getLoc(), remarkOf(DEBUG_TYPE, "no-table", func))
        << remark::add("'{0}' is computed for every pixel: it depends on two loops over {1}",
                       op->getName().getStringRef(), stringifyDimension(*dimension));
    return false;
  }
  return true;
}

/// Backwards, so that all users have been seen before a value is decided on.
void Tabulator::choose(Block &block) {
  for (Operation &op : llvm::reverse(block)) {
    if (auto found = pixelFree.find(&op); found != pixelFree.end() && found->second.loops.any()) {
      auto isNeeded = [&](Value result) { return needed.contains(result); };
      if (llvm::none_of(op.getResults(), isNeeded))
        continue; // used by other tables only
      if (isWorthATable(&op)) {
        SmallVector<unsigned> key(found->second.loops.set_bits());
        llvm::append_range(tables[key], llvm::make_filter_range(op.getResults(), isNeeded));
        continue;
      }
    }
    needed.insert_range(op.getOperands());
    for (Region &region : op.getRegions())
      for (Block &nested : region)
        choose(nested);
  }
}

TabulateOp Tabulator::makeTable(ArrayRef<unsigned> loopsOfTable, ArrayRef<Value> values) {
  OpBuilder builder(image);
  Location loc = values.front().getLoc();
  SmallVector<Type> types;
  for (Value value : values)
    types.push_back(TableType::get(loopsOfTable.size(), value.getType()));
  SmallVector<Value> counts;
  SmallVector<Attribute> dimensions;
  for (unsigned loop : loopsOfTable) {
    counts.push_back(loops[loop].count);
    dimensions.push_back(DimensionAttr::get(builder.getContext(), loops[loop].dimension));
  }
  auto table = TabulateOp::create(builder, loc, types, counts, builder.getArrayAttr(dimensions));

  Block *body = builder.createBlock(&table.getBody());
  IRMapping mapping;
  for (unsigned loop : loopsOfTable)
    mapping.map(loops[loop].inductionVar,
                body->addArgument(builder.getIndexType(), loops[loop].inductionVar.getLoc()));
  for (Operation *op : sliceOf(values))
    builder.clone(*op, mapping);
  SmallVector<Value> yielded;
  for (Value value : values)
    yielded.push_back(mapping.lookup(value));
  YieldOp::create(builder, loc, yielded);
  return table;
}

SmallVector<TabulateOp> Tabulator::makeTables() {
  // All tables first: each is made of ops as they were, not of lookups.
  SmallVector<TabulateOp> made;
  for (auto &[loopsOfTable, values] : tables) {
    std::reverse(values.begin(), values.end());
    made.push_back(makeTable(loopsOfTable, values));
  }
  for (auto [entry, table] : llvm::zip(tables, made)) {
    auto &[loopsOfTable, values] = entry;
    SmallVector<Value> indices;
    SmallVector<Dimension> dimensions;
    for (unsigned loop : loopsOfTable) {
      indices.push_back(loops[loop].inductionVar);
      dimensions.push_back(loops[loop].dimension);
    }
    std::string types;
    for (auto [value, column] : llvm::zip(values, table.getTables())) {
      OpBuilder builder(value.getDefiningOp());
      Value lookup = LookupOp::create(builder, value.getLoc(), value.getType(), column, indices);
      value.replaceAllUsesWith(lookup);
      llvm::raw_string_ostream(types) << (types.empty() ? "" : ", ") << column.getType();
    }
    LDBG() << values.size() << " value(s): " << types;
    nb::remarkPassed(table.getLoc(), remarkOf(DEBUG_TYPE, "tabulated", func)) << remark::add(
        "tabulated {0} value(s) over {1}: {2}", values.size(), dimensionNames(dimensions), types);
  }
  return made;
}

TabulateOp Tabulator::tabulate(Operation *op, std::string &why) {
  collectLoops();
  findPixelFree();
  auto found = pixelFree.find(op);
  if (found == pixelFree.end() || found->second.loops.none())
    why = "depends on the pixel or on no sum, or is not pure";
  else if (!llvm::all_of(op->getResultTypes(), isTableElement))
    why = "makes what a table cannot hold";
  else if (auto dimension = repeated(op))
    why = ("depends on two loops over " + stringifyDimension(*dimension)).str();
  if (!why.empty())
    return {};
  tables[SmallVector<unsigned>(found->second.loops.set_bits())] =
      SmallVector<Value>(llvm::reverse(op->getResults()));
  return makeTables().front();
}

void Tabulator::eraseUnused(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block))) {
    if (pixelFree.contains(&op) && op.use_empty()) {
      op.erase();
      continue;
    }
    for (Region &region : op.getRegions())
      for (Block &nested : region)
        eraseUnused(nested);
  }
}

} // namespace

TabulateOp nb::tabulate(Operation *op, FunctionOpInterface func, std::string &why) {
  if (auto image = op->getParentOfType<ImageOp>())
    return Tabulator(image, func).tabulate(op, why);
  why = "is in no image";
  return {};
}

namespace {
struct TabulateInvariantsPass : nb::impl::TabulateInvariantsBase<TabulateInvariantsPass> {
  void runOnOperation() override {
    getOperation()->walk([&](FunctionOpInterface func) {
      SmallVector<ImageOp> images;
      func.walk([&](ImageOp image) { images.push_back(image); });
      for (ImageOp image : images)
        for (TabulateOp table : Tabulator(image, func).run()) {
          ++tables;
          values += table.getTables().size();
        }
    });
  }
};
} // namespace
