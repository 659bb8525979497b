#include "dialect/NB.h"
#include "dialect/Upgrades.h"

#include "mlir/Bytecode/BytecodeImplementation.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/Transforms/InliningUtils.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::nb;

#include "dialect/NBDialect.cpp.inc"
#include "dialect/NBEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "dialect/NBAttrs.cpp.inc"

namespace {
struct Version : DialectVersion {
  explicit Version(uint64_t number) : number(number) {}
  uint64_t number;
};

/// Types and attributes are written as text; a file says which version of them that is.
struct BytecodeVersion : BytecodeDialectInterface {
  explicit BytecodeVersion(Dialect *dialect) : BytecodeDialectInterface(dialect) {}

  void writeVersion(DialectBytecodeWriter &writer) const override {
    writer.writeVarInt(dialectVersion);
  }
  std::unique_ptr<DialectVersion> readVersion(DialectBytecodeReader &reader) const override {
    uint64_t number = 0;
    if (failed(reader.readVarInt(number)))
      return nullptr;
    if (number > dialectVersion) {
      reader.emitError() << "the program is of version " << number
                         << " of the nb dialect, and this "
                         << "tool knows " << dialectVersion << ": take a newer one, or its text";
      return nullptr;
    }
    return std::make_unique<Version>(number);
  }
  LogicalResult upgradeFromVersion(Operation *top, const DialectVersion &version) const override {
    return upgrade(top, static_cast<const Version &>(version).number, dialectUpgrades());
  }
};

/// An op means the same in every function.
struct Inlining : DialectInlinerInterface {
  using DialectInlinerInterface::DialectInlinerInterface;
  bool isLegalToInline(Operation *, Region *, bool, IRMapping &) const override { return true; }
  bool isLegalToInline(Region *, Region *, bool, IRMapping &) const override { return true; }
};
} // namespace

void NBDialect::initialize() {
  addInterfaces<BytecodeVersion, Inlining>();
  registerTypes();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialect/NBAttrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialect/NBOps.cpp.inc"
      >();
  attachArithDerivatives(getContext());
}

Operation *NBDialect::materializeConstant(OpBuilder &builder, Attribute value, Type type,
                                          Location loc) {
  return arith::ConstantOp::materialize(builder, value, type, loc);
}
