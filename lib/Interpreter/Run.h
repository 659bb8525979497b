// A planned function and one run of it.
#ifndef NB_INTERPRETER_RUN_H
#define NB_INTERPRETER_RUN_H

#include "lib/Interpreter/Observers/Observer.h"

namespace mlir::nb {

struct Plan {
  func::FuncOp function;
  Body body;
  std::vector<Slot> arguments, results;
  Planner planner;
};

struct RunState {
  const Plan &plan;
  const InterpreterOptions &options;
  /// One for the values outside images and one for each thread inside; null: there are no
  /// instruments.
  std::function<std::unique_ptr<Observer>()> makeObserver;
};

} // namespace mlir::nb

#endif
