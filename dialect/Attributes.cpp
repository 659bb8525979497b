#include "dialect/NB.h"
#include "dialect/Names.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

using namespace mlir;
using namespace mlir::nb;

FunctionType nb::typeOfKernel(DictionaryAttr record) {
  auto text = record ? record.getAs<StringAttr>("type") : StringAttr();
  if (!text)
    return {};
  ScopedDiagnosticHandler quiet(record.getContext(), [](Diagnostic &) { return success(); });
  return dyn_cast_or_null<FunctionType>(parseType(text.getValue(), record.getContext()));
}

LogicalResult NBDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  StringRef name = attribute.getName();
  if (name == names::loop) {
    if (!isa<LoopLikeOpInterface>(op))
      return op->emitError() << "'" << name << "' belongs on the loops of an image";
    auto dimension = dyn_cast<DimensionAttr>(attribute.getValue());
    if (!dimension ||
        (dimension.getValue() != Dimension::panel && dimension.getValue() != Dimension::slow &&
         dimension.getValue() != Dimension::fast))
      return op->emitError() << "'" << name
                             << "' must be #nb.dim<panel>, #nb.dim<slow> or #nb.dim<fast>, but is "
                             << attribute.getValue();
    return success();
  }
  if (name == names::accumulator || name == names::scratch) {
    if (!isa<UnitAttr>(attribute.getValue()))
      return op->emitError() << "'" << name << "' has no value, but got " << attribute.getValue();
    auto memory =
        op->getNumResults() == 1 ? dyn_cast<MemRefType>(op->getResult(0).getType()) : MemRefType();
    if (!memory || memory.getRank() != 1 || !memory.getElementType().isF64())
      return op->emitError() << "'" << name << "' belongs on memory of doubles, memref<?xf64>";
    return success();
  }
  if (name == names::scattered) {
    if (!isa<UnitAttr>(attribute.getValue()) || op->getName().getStringRef() != "memref.atomic_rmw")
      return op->emitError() << "'" << name << "' has no value and belongs on memref.atomic_rmw";
    return success();
  }
  if (name == names::guard) {
    if (!isa<UnitAttr>(attribute.getValue()) || op->getName().getStringRef() != "arith.select" ||
        !isIndexOrLanes(op->getResult(0).getType()))
      return op->emitError() << "'" << name
                             << "' has no value and belongs on an arith.select of an index";
    return success();
  }
  if (name == names::kernel) {
    auto record = dyn_cast<DictionaryAttr>(attribute.getValue());
    FunctionType function = typeOfKernel(record);
    auto countOf = [&](StringRef key) {
      auto names = record.getAs<ArrayAttr>(key);
      return names && llvm::all_of(names, llvm::IsaPred<StringAttr>) ? names.size() : size_t(-1);
    };
    auto fixed = record ? record.getAs<DictionaryAttr>("fixed") : DictionaryAttr();
    auto isCount = [](NamedAttribute count) { return isa<IntegerAttr>(count.getValue()); };
    if (!isa<FunctionOpInterface>(op) || !function || !record.getAs<StringAttr>("name") ||
        (record.contains("fixed") && !fixed) || (fixed && !llvm::all_of(fixed, isCount)) ||
        countOf("arguments") != function.getNumInputs() ||
        countOf("results") != function.getNumResults())
      return op->emitError()
             << "'" << name << "' belongs on an entry point, as {arguments = [names], "
             << "name = a text, results = [names], type = the text of the function's}";
    return success();
  }
  if (name == names::cull) {
    auto tolerance = dyn_cast<FloatAttr>(attribute.getValue());
    if (!isa<FunctionOpInterface>(op) || !tolerance || !tolerance.getType().isF64() ||
        !(tolerance.getValueAsDouble() >= 0 && tolerance.getValueAsDouble() < 1))
      return op->emitError() << "'" << name << "' belongs on functions and is a tolerance between "
                             << "0 and 1, an f64, where 0 is exact, but got "
                             << attribute.getValue();
    return success();
  }
  if (name == names::draws || name == names::reflections) {
    if (!isa<FunctionOpInterface>(op) || !isa<UnitAttr>(attribute.getValue()))
      return op->emitError() << "'" << name << "' belongs on functions, without a value, but got "
                             << attribute.getValue();
    return success();
  }
  if (name == names::lit) {
    auto kinds = dyn_cast<DenseI64ArrayAttr>(attribute.getValue());
    auto sum = dyn_cast<SumOp>(op);
    bool load = op->getNumResults() == 1 && op->getResult(0).getType().isSignlessInteger();
    bool plain = isa<ImageOp>(op) || op->hasAttr(names::loop) || load;
    if (!(plain && isa<UnitAttr>(attribute.getValue())) &&
        !(sum && kinds && size_t(kinds.size()) == sum.getCounts().size()))
      return op->emitError() << "'" << name << "' belongs on images, without a value, and on sums, "
                             << "with a number for each dimension, but got "
                             << attribute.getValue();
    return success();
  }
  if (name == names::warp) {
    auto threads = dyn_cast<IntegerAttr>(attribute.getValue());
    if (op->getName().getStringRef() != "gpu.launch" || !threads || threads.getInt() <= 0)
      return op->emitError() << "'" << name << "' is a number of threads and belongs on gpu.launch";
    return success();
  }
  if (name == names::litList) {
    auto memory =
        op->getNumResults() == 1 ? dyn_cast<MemRefType>(op->getResult(0).getType()) : MemRefType();
    if (!isa<IntegerAttr>(attribute.getValue()) || !memory ||
        !(memory.getElementType().isInteger(32) || memory.getElementType().isInteger(64)))
      return op->emitError() << "'" << name << "' is a number and belongs on memory of i32 or i64";
    return success();
  }
  return op->emitError() << "'" << name
                         << "' is not an attribute of the nb dialect, or not of an op";
}

/// Names and units, of an argument or a result. No two of the same kind have one name.
static LogicalResult verifyLabel(Operation *op, unsigned index, NamedAttribute attribute,
                                 unsigned count, StringRef what,
                                 function_ref<Attribute(unsigned)> nameOf) {
  StringRef key = attribute.getName();
  if (!isa<FunctionOpInterface>(op))
    return op->emitError() << "'" << key << "' belongs on arguments and results of functions";
  if (key != names::name && key != names::unit)
    return op->emitError() << "'" << key << "' is not an attribute of the nb dialect, or not of "
                           << what << "s";
  auto text = dyn_cast<StringAttr>(attribute.getValue());
  if (!text || text.empty())
    return op->emitError() << "'" << key << "' of " << what << " " << index
                           << " must be a text, but is " << attribute.getValue();
  if (key == names::name)
    for (unsigned other = 0; other < std::min(index, count); ++other)
      if (nameOf(other) == attribute.getValue())
        return op->emitError() << what << "s " << other << " and " << index << " are both called "
                               << text;
  return success();
}

LogicalResult NBDialect::verifyRegionArgAttribute(Operation *op, unsigned, unsigned index,
                                                  NamedAttribute attribute) {
  auto function = dyn_cast<FunctionOpInterface>(op);
  if (function && attribute.getName() == names::fixed) {
    auto count = dyn_cast<IntegerAttr>(attribute.getValue());
    if (!count || !count.getType().isIndex() || !function.getArgAttr(index, names::name))
      return op->emitError() << "'" << names::fixed << "' of argument " << index
                             << " must be an index, of an argument with a name, but is "
                             << attribute.getValue();
    return success();
  }
  return verifyLabel(op, index, attribute, function ? function.getNumArguments() : 0, "argument",
                     [&](unsigned i) { return function.getArgAttr(i, names::name); });
}

LogicalResult NBDialect::verifyRegionResultAttribute(Operation *op, unsigned, unsigned index,
                                                     NamedAttribute attribute) {
  auto function = dyn_cast<FunctionOpInterface>(op);
  return verifyLabel(op, index, attribute, function ? function.getNumResults() : 0, "result",
                     [&](unsigned i) { return function.getResultAttr(i, names::name); });
}
