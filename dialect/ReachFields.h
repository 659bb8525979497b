// The operands of nb.reach by the names that they have in the kernel ABI.
#ifndef NB_DIALECT_REACHFIELDS_H
#define NB_DIALECT_REACHFIELDS_H

#include "nanobragg/KernelABI.h"

#include "mlir/IR/Value.h"
#include "llvm/ADT/SmallVector.h"

#include <cstddef>

namespace mlir::nb {

/// One value for each member of a structure whose members are all of one type: of nb_reach_numbers,
/// doubles, or of nb_reach_tables.
template <typename Struct, typename Member>
class ReachFields {
public:
  static constexpr size_t count = sizeof(Struct) / sizeof(Member);
  explicit ReachFields(Value each = {}) : values(count, each) {}
  explicit ReachFields(ValueRange values) : values(values) {}

  Value &operator[](Member Struct::*member) { return values[placeOf(&(layout().*member))]; }
  template <size_t size>
  MutableArrayRef<Value> operator[](Member (Struct::*members)[size]) {
    return MutableArrayRef(values).slice(placeOf(layout().*members), size);
  }
  ArrayRef<Value> all() const { return values; }

private:
  static const Struct &layout() {
    static const Struct only{};
    return only;
  }
  static size_t placeOf(const Member *member) {
    return (reinterpret_cast<const char *>(member) - reinterpret_cast<const char *>(&layout())) /
           sizeof(Member);
  }

  SmallVector<Value> values;
};

using ReachNumbers = ReachFields<nb_reach_numbers, double>;
using ReachTables = ReachFields<nb_reach_tables, int64_t>;

} // namespace mlir::nb

#endif
