// Integers of any width.
#ifndef NB_INTERPRETER_INTEGERS_H
#define NB_INTERPRETER_INTEGERS_H

#include "mlir/IR/TypeUtilities.h"

#include <cstdint>

namespace mlir::nb::evaluation {

/// Integers stand in 64 bits, with their sign but for i1, which is 0 or 1.
inline unsigned bitsOf(Value value) {
  Type type = getElementTypeOrSelf(value.getType());
  return type.isIndex() ? 64 : type.getIntOrFloatBitWidth();
}
inline int64_t wrapped(int64_t a, unsigned bits) {
  return bits == 1 ? a & 1 : int64_t(uint64_t(a) << (64 - bits)) >> (64 - bits);
}
inline int64_t asUnsigned(int64_t a, unsigned bits) {
  return bits == 64 ? a : int64_t(uint64_t(a) & ((uint64_t(1) << bits) - 1));
}
/// An i1 that is set is -1 when it is signed.
inline int64_t asSigned(int64_t a, unsigned bits) { return bits == 1 ? -a : a; }

} // namespace mlir::nb::evaluation

#endif
