// The dimensions that values of a program change with.
#ifndef NB_TRANSFORMS_DEPENDENCES_H
#define NB_TRANSFORMS_DEPENDENCES_H

#include "dialect/NB.h"

#include <string>

namespace mlir::nb {

/// A dependence of a value, as bits. None: the experiment alone.
enum Dependence : unsigned { Pixel = 1, Source = 2, Orientation = 4, Sample = 8 };

/// "pixel, source"; "the experiment alone".
std::string dependenceText(unsigned mask);

/// The name of a value, where it has one.
StringRef nameOf(Location loc);

/// The dependences of the values of a program, from the loops around them.
class Dependences {
public:
  explicit Dependences(Operation *program) { visit(program); }
  unsigned of(Operation *op) const { return ops.lookup(op); }
  unsigned of(Value value) const { return values.lookup(value); }

private:
  /// Returns what the op and everything in it depends on.
  unsigned visit(Operation *op);

  DenseMap<Value, unsigned> values;
  DenseMap<Operation *, unsigned> ops;
};

} // namespace mlir::nb

#endif
