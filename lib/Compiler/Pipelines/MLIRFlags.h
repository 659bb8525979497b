// Flags of MLIR's own drivers, "--mlir-print-ir-after=nb-fuse", in tools that have their own
// command lines.
#ifndef NB_COMPILER_MLIRFLAGS_H
#define NB_COMPILER_MLIRFLAGS_H

#include "mlir/Pass/PassManager.h"
#include "mlir/Support/Timing.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/TimeProfiler.h"

#include <string>

namespace mlir::nb {

/// Sets the flags in `words` ("--mlir-timing", "--mlir-print-ir-after=nb-fuse",
/// "--debug-only=nb-cull") for all contexts and pass managers that this process makes from now on;
/// values follow a '='. Later calls change nothing. The error names a flag that does not exist and
/// the closest one, or a value that it does not take.
llvm::Error setMLIRFlags(ArrayRef<std::string> words);

/// Says what is wrong with "--mlir-debug-counter=NAME-skip=N,NAME-count=N", for which MLIR aborts;
/// of other words nothing.
llvm::Error checkDebugCounter(StringRef word);

/// Follows --debug-only=TYPES: LLVM_DEBUG and LDBG lines of these types ("nb-cull") are printed.
/// The error says that this build has none.
llvm::Error setDebugTypes(StringRef types);

/// A pass manager that follows these flags, and whose passes are spans of llvm::TimeTraceProfiler.
/// All passes of the compiler run in one.
class FlaggedPassManager : public PassManager {
public:
  explicit FlaggedPassManager(MLIRContext *context);
  ~FlaggedPassManager();
};

/// Makes the passes of a manager spans of llvm::TimeTraceProfiler, where that records.
void addPassSpans(PassManager &passes);

/// A step of compilation that is not a pass: a row of --mlir-timing, and a span of
/// llvm::TimeTraceProfiler.
class Phase {
public:
  explicit Phase(StringRef name);
  ~Phase();
  Phase(const Phase &) = delete;

private:
  llvm::TimeTraceScope span;
  TimingScope row;
};

/// If the word is --mlir-pass-statistics: printPassStatistics() is to print. Returns whether MLIR
/// shall not see the word, since in this LLVM it prints an empty table for each pass manager.
bool takePassStatistics(StringRef word);
/// Prints what passes of nb have counted (dialect/PassStatistics.h), as MLIR prints statistics
/// where LLVM has them. Does nothing without that flag.
void printPassStatistics();

/// Prints the tables of --mlir-timing and --mlir-pass-statistics at its end, of what ran in its
/// life. Otherwise they are printed, of everything, when the process ends, which std::_Exit leaves
/// out.
class MLIRReport {
public:
  /// `title` is printed above them: "pipeline 'default'".
  explicit MLIRReport(std::string title);
  MLIRReport(const MLIRReport &) = delete;
  ~MLIRReport();

private:
  std::string title;
};

} // namespace mlir::nb

#endif
