#include "lib/Compiler/Run/CheckReads.h"

#include "dialect/NB.h"
#include "lib/Experiment/CheckedSize.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::nb;
using llvm::createStringError;

namespace {

constexpr int64_t mostEvaluations = int64_t(1) << 40;

bool isLoop(Operation *op) { return isa<ImageOp, SumOp, FirstOp, TabulateOp>(op); }

OperandRange countsOf(Operation *loop) {
  if (auto op = dyn_cast<ImageOp>(loop))
    return op.getCounts();
  if (auto op = dyn_cast<SumOp>(loop))
    return op.getCounts();
  if (auto op = dyn_cast<FirstOp>(loop))
    return op.getCounts();
  return cast<TabulateOp>(loop).getCounts();
}

class ReadChecker {
public:
  ReadChecker(func::FuncOp function, const RunArguments &arguments)
      : function(function), arguments(arguments) {}

  llvm::Error check() {
    llvm::Error error = llvm::Error::success();
    function.walk([&](Operation *op) {
      if (auto found = check(op)) {
        error = llvm::joinErrors(std::move(error), std::move(found));
        return WalkResult::interrupt();
      }
      return WalkResult::advance();
    });
    return error;
  }

private:
  llvm::Error check(Operation *op) {
    auto lookup = dyn_cast<LookupOp>(op);
    if (mayNotRun(op) && !(lookup && lookup.getInbounds()))
      return llvm::Error::success();
    if (lookup)
      return checkRead(op, lookup.getTable(), llvm::to_vector(lookup.getIndices()));
    if (auto read = dyn_cast<ReadPixelOp>(op))
      return checkRead(op, read.getImage(), {read.getPanel(), read.getSlow(), read.getFast()});
    if (auto image = dyn_cast<ImageOp>(op))
      if (auto error = checkMask(image))
        return error;
    return isLoop(op) ? checkLength(op) : llvm::Error::success();
  }

  std::optional<unsigned> argumentNumber(Value value) const {
    auto argument = dyn_cast<BlockArgument>(value);
    if (!argument || argument.getOwner() != &function.getBody().front())
      return std::nullopt;
    return argument.getArgNumber();
  }

  /// A number that is known before the program runs.
  std::optional<int64_t> valueOf(Value value) const {
    if (APInt constant; matchPattern(value, m_ConstantInt(&constant)))
      return constant.getSExtValue();
    if (auto number = argumentNumber(value); number && isa<IndexType, IntegerType>(value.getType()))
      return *static_cast<const int64_t *>(arguments[*number].data);
    return std::nullopt;
  }

  /// The count that an induction variable stays below.
  Value countOf(Value index) const {
    auto variable = dyn_cast<BlockArgument>(index);
    Operation *loop = variable ? variable.getOwner()->getParentOp() : nullptr;
    if (!loop || !isLoop(loop) || variable.getArgNumber() >= countsOf(loop).size())
      return {};
    return countsOf(loop)[variable.getArgNumber()];
  }

  /// Is it in a branch, or in a loop of no round?
  bool mayNotRun(Operation *op) const {
    for (Operation *parent = op->getParentOp(); parent != function;
         parent = parent->getParentOp()) {
      if (!isLoop(parent))
        return true;
      for (Value count : countsOf(parent))
        if (auto rounds = valueOf(count); rounds && *rounds <= 0)
          return true;
    }
    return false;
  }

  llvm::Error checkRead(Operation *op, Value array, ArrayRef<Value> indices) const {
    auto number = argumentNumber(array);
    if (!number)
      return llvm::Error::success();
    ArrayRef<int64_t> sizes = arguments[*number].shape;
    for (auto [i, index] : llvm::enumerate(indices)) {
      if (i >= sizes.size())
        break;
      Value count = countOf(index);
      auto greatest = valueOf(count ? count : index);
      if (!greatest)
        continue;
      if (count && *greatest <= 0)
        continue; // a loop without rounds has no index
      const int64_t last = count ? *greatest - 1 : *greatest;
      if (last < 0 || last >= sizes[i])
        return refuse(op, "reads entry " + std::to_string(last) + " of '" +
                              argumentName(function, *number) + "', which has " +
                              std::to_string(sizes[i]));
    }
    return llvm::Error::success();
  }

  llvm::Error checkMask(ImageOp image) const {
    auto number = image.getMask() ? argumentNumber(image.getMask()) : std::nullopt;
    if (!number)
      return llvm::Error::success();
    for (auto [size, count] : llvm::zip(arguments[*number].shape, image.getCounts()))
      if (auto pixels = valueOf(count); pixels && *pixels != size)
        return refuse(image, "has " + std::to_string(*pixels) + " pixels where its mask '" +
                                 argumentName(function, *number) + "' has " + std::to_string(size));
    return llvm::Error::success();
  }

  /// Checks how often the loop and those around it run in a pixel. Tables that are made of some of
  /// them have no more entries, so that their sizes do not overflow.
  llvm::Error checkLength(Operation *loop) const {
    int64_t evaluations = 1;
    for (Operation *around = loop; around != function && !isa<ImageOp>(around);
         around = around->getParentOp())
      for (Value count : countsOf(around)) {
        const int64_t rounds = std::max<int64_t>(valueOf(count).value_or(1), 0);
        evaluations = nanobragg::tryProduct({evaluations, rounds}).value_or(mostEvaluations + 1);
      }
    if (evaluations <= mostEvaluations)
      return llvm::Error::success();
    return refuse(loop, "has more than " + std::to_string(mostEvaluations) + " rounds");
  }

  llvm::Error refuse(Operation *op, const std::string &why) const {
    std::string text;
    llvm::raw_string_ostream stream(text);
    if (!isa<UnknownLoc>(op->getLoc()))
      stream << op->getLoc() << ": ";
    stream << "'" << op->getName() << "' op " << why << "; give other arguments";
    return createStringError(text);
  }

  mutable func::FuncOp function; ///< ops are handles, whose accessors are not const
  const RunArguments &arguments;
};

} // namespace

llvm::Error nb::checkReads(func::FuncOp function, const RunArguments &arguments) {
  return ReadChecker(function, arguments).check();
}
