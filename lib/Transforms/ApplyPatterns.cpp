#include "dialect/NB.h"
#include "lib/Transforms/Passes.h"
#include "lib/Transforms/Schedule/ScheduleOps.h"

#include "dialect/PassStatistics.h"
#include "dialect/Remarks.h"
#include "lib/Transforms/OpenText.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/PDL/IR/PDL.h"
#include "mlir/Dialect/PDL/IR/PDLOps.h"
#include "mlir/Dialect/PDLInterp/IR/PDLInterp.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "llvm/Support/DebugLog.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/SourceMgr.h"

#include <map>

#define DEBUG_TYPE "nb-apply-patterns"

namespace mlir::nb {
#define GEN_PASS_DEF_APPLYPATTERNS
#include "lib/Transforms/Passes.h.inc"
} // namespace mlir::nb

using namespace mlir;

namespace {
/// How many ops there are of each kind.
std::map<std::string, int64_t> census(ModuleOp program) {
  std::map<std::string, int64_t> counts;
  program->walk([&](Operation *op) { ++counts[op->getName().getStringRef().str()]; });
  return counts;
}

/// PDLL's own compiler makes PDL of a file. MLIR's shared library does not have it.
std::string compilePdll(StringRef file, Location where) {
  auto compiler = llvm::sys::findProgramByName("mlir-pdll", {NB_LLVM_TOOLS_DIR});
  if (!compiler)
    compiler = llvm::sys::findProgramByName("mlir-pdll");
  if (!compiler) {
    emitError(where, "there is no mlir-pdll, which makes PDL of '")
        << file << "': install mlir-22-tools, or write the patterns in PDL";
    return "";
  }
  SmallString<128> pdl, said;
  std::string text;
  if (!llvm::sys::fs::createTemporaryFile("nb", "pdl.mlir", pdl) &&
      !llvm::sys::fs::createTemporaryFile("nb", "txt", said)) {
    const std::string output = ("-o=" + pdl).str();
    const std::optional<StringRef> redirects[] = {std::nullopt, std::nullopt, StringRef(said)};
    const bool made = llvm::sys::ExecuteAndWait(*compiler, {*compiler, "-x=mlir", file, output},
                                                std::nullopt, redirects) == 0;
    if (auto read = llvm::MemoryBuffer::getFile(made ? pdl : said))
      text = (*read)->getBuffer().str();
    if (!made) {
      emitError(where, "'") << file << "' is no PDLL: " << text;
      text.clear();
    }
  } else {
    emitError(where, "no temporary file can be made for the patterns of '") << file << "'";
  }
  for (const auto &temporary : {pdl, said})
    if (!temporary.empty())
      (void)llvm::sys::fs::remove(temporary);
  return text;
}

/// Is it a schedule of the transform dialect?
bool isSchedule(ModuleOp file) { return !file.getOps<transform::NamedSequenceOp>().empty(); }

/// Patterns or a schedule, called `name` in diagnostics.
OwningOpRef<ModuleOp> parsePatterns(std::unique_ptr<llvm::MemoryBuffer> buffer, StringRef name,
                                    Location where) {
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(std::move(buffer), llvm::SMLoc());
  if (const std::string crash = mlir::nb::crashOfReading(
          sources.getMemoryBuffer(1)->getMemBufferRef(), *where.getContext());
      !crash.empty()) {
    emitError(where, name) << " " << crash;
    return {};
  }
  auto patterns = parseSourceFile<ModuleOp>(sources, where.getContext());
  if (!patterns || !patterns->getOps<pdl::PatternOp>().empty() || isSchedule(*patterns))
    return patterns;
  emitError(where, name) << " has no pattern and no transform.named_sequence";
  return {};
}

/// Loads the dialects of the ops that patterns make, which the program may not have.
void loadDialects(ModuleOp patterns) {
  patterns->walk([&](pdl::OperationOp op) {
    if (const auto name = op.getOpName())
      patterns.getContext()->getOrLoadDialect(name->split('.').first);
  });
}

struct ApplyPatternsPass : nb::impl::ApplyPatternsBase<ApplyPatternsPass> {
  using ApplyPatternsBase::ApplyPatternsBase;

  void runOnOperation() override {
    ModuleOp program = getOperation();
    RewritePatternSet patterns(&getContext());
    const auto before = census(program);
    SmallVector<OwningOpRef<ModuleOp>> all;
    for (const std::string &file : files)
      all.push_back(nb::readPatterns(file, program.getLoc()));
    if (!text.empty())
      all.push_back(parsePatterns(llvm::MemoryBuffer::getMemBuffer(text, "text"),
                                  "the option 'text'", program.getLoc()));
    for (OwningOpRef<ModuleOp> &parsed : all) {
      if (!parsed)
        return signalPassFailure();
      loadDialects(*parsed);
      if (!isSchedule(*parsed))
        patterns.add(PDLPatternModule(std::move(parsed)));
      else if (failed(nb::applySchedule(*parsed, program)))
        return signalPassFailure();
    }
    GreedyRewriteConfig config;
    // Only the patterns are applied: the program stays as its author wrote it elsewhere.
    config.enableFolding(false).enableConstantCSE(false);
    config.setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled);
    if (failed(applyPatternsGreedily(program, std::move(patterns), config))) {
      emitError(program.getLoc(),
                "the patterns come to no end: one makes what another one matches");
      return signalPassFailure();
    }
    tell(before, census(program));
  }

private:
  void tell(std::map<std::string, int64_t> before, std::map<std::string, int64_t> after) {
    std::string text;
    for (const auto &[name, count] : after)
      before.try_emplace(name, 0);
    for (const auto &[name, count] : before)
      if (int64_t change = after[name] - count) {
        LDBG() << name << ": " << change;
        gained += uint64_t(std::max<int64_t>(change, 0));
        lost += uint64_t(std::max<int64_t>(-change, 0));
        text += (text.empty() ? "" : ", ") + std::string(change > 0 ? "+" : "") +
                std::to_string(change) + " " + name;
      }
    auto options = [](StringRef name) {
      return remark::RemarkOpts::name(name).category(DEBUG_TYPE);
    };
    Location loc = getOperation().getLoc();
    if (text.empty())
      nb::remarkMissed(loc, options("unmatched")) << "no pattern matched";
    else
      nb::remarkPassed(loc, options("applied")) << remark::add("patterns applied: {0}", text);
  }
};
} // namespace

OwningOpRef<ModuleOp> nb::readPatterns(StringRef file, Location where) {
  std::string why, pdl;
  auto buffer = openText(file, &why);
  if (!buffer) {
    emitError(where, "patterns cannot be read: ") << why;
    return {};
  }
  if (file.ends_with(".pdll")) {
    pdl = compilePdll(file, where);
    if (pdl.empty())
      return {};
    buffer = llvm::MemoryBuffer::getMemBuffer(pdl, file);
  }
  return parsePatterns(std::move(buffer), ("'" + file + "'").str(), where);
}
