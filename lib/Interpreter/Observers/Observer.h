// Looks at every value as it is computed.
#ifndef NB_INTERPRETER_OBSERVER_H
#define NB_INTERPRETER_OBSERVER_H

#include "lib/Interpreter/Planner.h"

namespace mlir::nb {

/// The pixels of a tile, by lane.
struct TilePixels {
  int64_t panel = 0;
  std::vector<int64_t> slow, fast;
};

/// Hung into a frame; a frame without one runs at full speed.
class Observer {
public:
  virtual ~Observer() = default;
  /// The step has just run. May fail the frame.
  virtual void evaluated(const Step &step, Frame &frame) = 0;

  const TilePixels *pixels = nullptr; ///< null outside images
};

/// " at source 0, phi 1" for the loops around an op; empty outside loops.
std::string describeLoops(ArrayRef<LoopIndex> loops, Frame &frame);

} // namespace mlir::nb

#endif
