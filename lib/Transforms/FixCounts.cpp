#include "lib/Transforms/FixCounts.h"

#include "dialect/Names.h"
#include "dialect/PassStatistics.h"
#include "dialect/Remarks.h"
#include "lib/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "llvm/Support/DebugLog.h"

#include <stdexcept>

#define DEBUG_TYPE "nb-fix-counts"

namespace mlir::nb {
#define GEN_PASS_DEF_FIXCOUNTS
#include "lib/Transforms/Passes.h.inc"
} // namespace mlir::nb

using namespace mlir;
using namespace mlir::nb;
using llvm::createStringError;
using nanobragg::FixedCount;

/// Whether there is such an argument.
static llvm::Expected<bool> fix(func::FuncOp function, const FixedCount &count) {
  OpBuilder b(function.getBody());
  for (auto [i, argument] : llvm::enumerate(function.getArguments())) {
    auto name = function.getArgAttrOfType<StringAttr>(i, names::name);
    if (!name || name.getValue() != count.name ||
        !(argument.getType().isIndex() || argument.getType().isF64()))
      continue;
    auto before = function.getArgAttrOfType<IntegerAttr>(i, names::fixed);
    if (before && before.getInt() != count.value)
      return createStringError("the count '" + count.name + "' is compiled in as " +
                               std::to_string(before.getInt()) + " already, and " +
                               std::to_string(count.value) + " is asked for");
    function.setArgAttr(i, names::fixed, b.getIndexAttr(count.value));
    if (argument.use_empty())
      return true;
    Location loc = argument.getLoc();
    Value constant;
    if (argument.getType().isIndex())
      constant = arith::ConstantIndexOp::create(b, loc, count.value);
    else
      constant = arith::ConstantOp::create(b, loc, b.getF64FloatAttr(double(count.value)));
    LDBG() << count.name << " is " << count.value << " in " << function.getName();
    argument.replaceAllUsesWith(constant);
    return true;
  }
  return false;
}

llvm::Error nb::fixCounts(ModuleOp program, ArrayRef<FixedCount> counts) {
  for (const FixedCount &count : counts) {
    bool any = false;
    for (auto function : program.getOps<func::FuncOp>()) {
      if (function.isDeclaration())
        continue;
      auto found = fix(function, count);
      if (!found)
        return found.takeError();
      any |= *found;
    }
    if (!any)
      return createStringError("the kernel has no count '" + count.name + "'");
  }
  return llvm::Error::success();
}

namespace {
struct FixCountsPass : nb::impl::FixCountsBase<FixCountsPass> {
  using FixCountsBase::FixCountsBase;

  void runOnOperation() override {
    std::vector<FixedCount> given;
    try {
      for (const std::string &count : counts)
        given.push_back(FixedCount::fromString(count));
    } catch (const std::invalid_argument &error) {
      mlir::emitError(getOperation().getLoc()) << error.what();
      return signalPassFailure();
    }
    if (llvm::Error error = fixCounts(getOperation(), given)) {
      mlir::emitError(getOperation().getLoc()) << llvm::toString(std::move(error));
      return signalPassFailure();
    }
    fixed += given.size();
    if (given.empty())
      remarkNothing(getOperation().getLoc(), DEBUG_TYPE, "", "no count is given");
    else
      nb::remarkPassed(getOperation().getLoc(),
                       remark::RemarkOpts::name("fixed").category(DEBUG_TYPE))
          << remark::add("{0} count(s) are compiled in", given.size());
  }
};
} // namespace
