// How one pixel comes about.
#ifndef NB_INTERPRETER_TRACE_H
#define NB_INTERPRETER_TRACE_H

#include "lib/Interpreter/Run.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

namespace mlir::nb {

/// Writes `TRACE key value` for every named value when it is computed. A value that depends on
/// loops of more than one step carries their indices: `TRACE hkl_frac[phi=0,mosaic=3] ...`.
class TraceLog {
public:
  TraceLog(const Plan &plan, raw_ostream &out);
  std::unique_ptr<Observer> observer();

  void writeArguments(Frame &frame);
  /// Everything there is to say about a step that has just run.
  void write(const Step &step, Frame &frame);

private:
  void line(StringRef key, const std::string &indices, const std::string &value);

  const Plan &plan;
  raw_ostream &out;
  llvm::StringSet<> written; ///< equal lines appear once
};

} // namespace mlir::nb

#endif
