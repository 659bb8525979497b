#include "lib/Compiler/Lab/Reduction.h"

#include "dialect/NB.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::nb;

size_t nb::countOps(ModuleOp program) {
  size_t count = 0;
  program->walk([&](Operation *) { ++count; });
  return count - 1;
}

/// Whatever has no user, from the end to the beginning, until nothing is left to erase.
static void eraseUnused(ModuleOp program) {
  bool erased = true;
  while (erased) {
    erased = false;
    SmallVector<Operation *> ops;
    program->walk<WalkOrder::PostOrder>([&](Operation *op) { ops.push_back(op); });
    for (Operation *op : llvm::reverse(ops))
      if (op->use_empty() && !op->hasTrait<OpTrait::IsTerminator>() && op->getNumResults() &&
          (isMemoryEffectFree(op) || isa<LoopOp>(op))) {
        op->erase();
        erased = true;
        break;
      }
  }
}

static void eraseArguments(ModuleOp program) {
  for (auto function : program.getOps<func::FuncOp>()) {
    if (function.isDeclaration())
      continue;
    for (unsigned i = function.getNumArguments(); i-- > 0;)
      if (function.getArgument(i).use_empty())
        (void)function.eraseArgument(i);
  }
}

namespace {
/// One way to make a program smaller, by the place of an op or value in the order of a walk.
struct Change {
  enum Kind { CountOne, Constant, Operand, Erase } kind;
  size_t op;        ///< number of the op in the program's walk
  unsigned operand; ///< for Operand and CountOne
};
} // namespace

static std::vector<Operation *> opsOf(ModuleOp program) {
  std::vector<Operation *> ops;
  program->walk<WalkOrder::PreOrder>([&](Operation *op) { ops.push_back(op); });
  return ops;
}

static bool canBeConstant(Type type) { return isa<FloatType, IndexType, IntegerType>(type); }

static std::vector<Change> changesOf(ModuleOp program) {
  std::vector<Change> erasures, counts, constants, operands;
  const auto ops = opsOf(program);
  for (size_t i = 0; i != ops.size(); ++i) {
    Operation *op = ops[i];
    if (op->getNumResults() == 0 && !op->hasTrait<OpTrait::IsTerminator>() &&
        !isa<ModuleOp, func::FuncOp>(op))
      erasures.push_back({Change::Erase, i, 0});
    if (isa<SumOp, TabulateOp>(op))
      for (OpOperand &operand : op->getOpOperands())
        if (operand.get().getType().isIndex() && !matchPattern(operand.get(), m_One()))
          counts.push_back({Change::CountOne, i, operand.getOperandNumber()});
    if (op->getNumResults() != 1 || op->use_empty() || isa<ImageOp>(op))
      continue;
    Type type = op->getResult(0).getType();
    for (auto [number, operand] : llvm::enumerate(op->getOperands()))
      if (operand.getType() == type)
        operands.push_back({Change::Operand, i, unsigned(number)});
    if (canBeConstant(type) && !op->hasTrait<OpTrait::ConstantLike>())
      constants.push_back({Change::Constant, i, 0});
  }
  // The changes that remove most come first.
  std::vector<Change> all = std::move(erasures);
  for (auto *more : {&counts, &constants, &operands})
    all.insert(all.end(), more->begin(), more->end());
  return all;
}

static Value constantOne(OpBuilder &b, Location loc, Type type) {
  TypedAttr one = isa<FloatType>(type) ? TypedAttr(b.getFloatAttr(type, 1))
                                       : TypedAttr(b.getIntegerAttr(type, 1));
  return arith::ConstantOp::create(b, loc, one);
}

/// The program with some changes; null where what comes out is not valid.
static OwningOpRef<ModuleOp> apply(ModuleOp program, ArrayRef<Change> changes) {
  OwningOpRef<ModuleOp> copy = program.clone();
  const auto ops = opsOf(*copy);
  SmallVector<Operation *> erased;
  for (const Change &change : changes) {
    Operation *op = ops[change.op];
    OpBuilder b(op);
    switch (change.kind) {
    case Change::Erase:
      erased.push_back(op);
      break;
    case Change::CountOne:
      op->setOperand(change.operand, constantOne(b, op->getLoc(), b.getIndexType()));
      break;
    case Change::Constant:
      op->getResult(0).replaceAllUsesWith(constantOne(b, op->getLoc(), op->getResult(0).getType()));
      break;
    case Change::Operand:
      op->getResult(0).replaceAllUsesWith(op->getOperand(change.operand));
      break;
    }
  }
  for (Operation *op : llvm::reverse(erased))
    op->erase();
  eraseUnused(*copy);
  eraseArguments(*copy);
  ScopedDiagnosticHandler silent(copy->getContext(), [](Diagnostic &) { return success(); });
  if (failed(verify(*copy)))
    return {};
  return copy;
}

OwningOpRef<ModuleOp> nb::reduce(ModuleOp program, const StillInteresting &interesting,
                                 const ReductionProgress &progress) {
  OwningOpRef<ModuleOp> current = program.clone();
  auto accept = [&](OwningOpRef<ModuleOp> smaller, const std::string &what) {
    const bool fewer = smaller && countOps(*smaller) < countOps(*current);
    // A count of one and a constant make other things go, or nothing at all.
    if (!smaller || (!fewer && !what.starts_with("count")) || !interesting(*smaller))
      return false;
    current = std::move(smaller);
    progress(what, countOps(*current));
    return true;
  };
  bool found = true;
  while (found) {
    found = false;
    for (size_t chunk = std::max<size_t>(changesOf(*current).size() / 2, 1);;
         chunk = std::max<size_t>(chunk / 2, 1)) {
      for (size_t begin = 0;;) {
        const std::vector<Change> changes = changesOf(*current);
        if (begin >= changes.size())
          break;
        ArrayRef<Change> some =
            ArrayRef(changes).slice(begin, std::min(chunk, changes.size() - begin));
        const std::string what = some.front().kind == Change::CountOne && some.size() == 1
                                     ? "count of one"
                                     : std::to_string(some.size()) + " change(s)";
        if (accept(apply(*current, some), what))
          found = true; // the next changes stand in the same place now
        else
          begin += chunk;
      }
      if (chunk == 1)
        break;
    }
  }
  return current;
}
