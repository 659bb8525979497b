#include "lib/Transforms/Invariants.h"
#include "lib/Transforms/Passes.h"

#include "dialect/NB.h"

#include "dialect/PassStatistics.h"
#include "dialect/Remarks.h"
#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/Support/DebugLog.h"
#include "llvm/Support/GlobPattern.h"

#define DEBUG_TYPE "nb-insert-probes"

namespace mlir::nb {
#define GEN_PASS_DEF_INSERTPROBES
#include "lib/Transforms/Passes.h.inc"
} // namespace mlir::nb

using namespace mlir;
using namespace mlir::nb;

namespace {
/// A list of patterns, and which of them have matched.
class Patterns {
public:
  /// Reports a malformed pattern at `loc`.
  LogicalResult parse(ArrayRef<std::string> texts, Location loc) {
    for (const std::string &text : texts) {
      auto pattern = llvm::GlobPattern::create(text);
      if (!pattern)
        return emitError(loc) << "malformed pattern '" << text
                              << "': " << llvm::toString(pattern.takeError());
      patterns.push_back({text, std::move(*pattern)});
    }
    return success();
  }

  bool empty() const { return patterns.empty(); }

  bool match(StringRef name) {
    bool any = false;
    for (Entry &entry : patterns)
      if (entry.pattern.match(name))
        any = entry.matched = true;
    return any;
  }

  SmallVector<StringRef> unmatched() const {
    SmallVector<StringRef> texts;
    for (const Entry &entry : patterns)
      if (!entry.matched)
        texts.push_back(entry.text);
    return texts;
  }

private:
  struct Entry {
    std::string text;
    llvm::GlobPattern pattern;
    bool matched = false;
  };
  SmallVector<Entry> patterns;
};

/// The name that the value has in the program's text, or nothing.
StringRef nameOf(Operation *op) {
  auto name = op->getLoc()->findInstanceOf<NameLoc>();
  return name ? name.getName().getValue() : StringRef();
}

bool isProbed(Value value) {
  return llvm::any_of(value.getUsers(), [](Operation *user) { return isa<ProbeOp>(user); });
}

bool canBeProbed(Type type) {
  return isScalarOrLanes(type) || isIndexOrLanes(type) || isConditionOrLanes(type) ||
         isa<Vec3Type, Mat3Type>(type);
}

struct InsertProbesPass : nb::impl::InsertProbesBase<InsertProbesPass> {
  using InsertProbesBase::InsertProbesBase;

  void runOnOperation() override {
    if (failed(opPatterns.parse(ops, getOperation()->getLoc())) ||
        failed(namePatterns.parse(names, getOperation()->getLoc())))
      return signalPassFailure();
    getOperation()->walk([&](FunctionOpInterface func) { insert(func); });
    opPatterns = namePatterns = {};
  }

  bool chosen(Operation *op) {
    if (all)
      return true;
    bool byOp = opPatterns.empty() || opPatterns.match(op->getName().getStringRef());
    bool byName = namePatterns.empty() || namePatterns.match(nameOf(op));
    return byOp && byName;
  }

  void insert(FunctionOpInterface func) {
    SmallVector<Value> values;
    func.walk([&](Operation *op) {
      if ((!outside && !op->getParentOfType<ImageOp>()) || op->hasTrait<OpTrait::ConstantLike>() ||
          !chosen(op))
        return;
      for (Value value : op->getResults())
        if (canBeProbed(value.getType()) && !isProbed(value))
          values.push_back(value);
    });
    OpBuilder builder(func.getContext());
    for (Value value : values) {
      Operation *op = value.getDefiningOp();
      builder.setInsertionPointAfter(op);
      StringRef name = nameOf(op);
      ProbeOp::create(builder, op->getLoc(), name.empty() ? op->getName().getStringRef() : name,
                      value);
      LDBG() << "a probe of " << *op;
    }
    inserted += values.size();
    if (!values.empty())
      nb::remarkPassed(func.getLoc(), remarkOf(DEBUG_TYPE, "inserted", func))
          << remark::add("inserted {0} probe(s)", values.size());
    for (Patterns *patterns : {&opPatterns, &namePatterns})
      for (StringRef text : patterns->unmatched())
        nb::remarkMissed(func.getLoc(), remarkOf(DEBUG_TYPE, "unmatched", func))
            << remark::add("'{0}' matches no value", text);
  }

  Patterns opPatterns, namePatterns;
};
} // namespace
