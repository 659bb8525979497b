// What values of a program change with.
#ifndef NB_TRANSFORMS_DEPENDENCES_H
#define NB_TRANSFORMS_DEPENDENCES_H

#include "dialect/NB.h"

#include <string>

namespace mlir::nb {

/// What a value depends on, as bits. None: the experiment alone.
enum Dependence : unsigned { Pixel = 1, Source = 2, Orientation = 4, Sample = 8 };

/// "pixel, source"; "the experiment alone".
std::string dependenceText(unsigned mask);

/// What the name of a value is, where it has one.
StringRef nameOf(Location loc);

/// What the values of a program depend on, from the loops around them.
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
