#include "dialect/NB.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::nb;

#define GET_TYPEDEF_CLASSES
#include "dialect/NBTypes.cpp.inc"

void NBDialect::registerTypes() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "dialect/NBTypes.cpp.inc"
      >();
}

namespace {
/// Applies `isElement` to the type, or to the element of a one-dimensional fixed vector.
template <typename Predicate>
bool isElementOrLanes(Type type, Predicate isElement) {
  if (auto vector = dyn_cast<VectorType>(type))
    return vector.getRank() == 1 && !vector.isScalable() && isElement(vector.getElementType());
  return isElement(type);
}

bool isFloatScalar(Type type) { return type.isF64() || type.isF32(); }

LogicalResult verifyElement(function_ref<InFlightDiagnostic()> emitError, Type element,
                            StringRef name) {
  if (isScalarOrLanes(element))
    return success();
  return emitError() << "!nb." << name
                     << " element must be f64, f32 or a one-dimensional vector of either, but got "
                     << element;
}
} // namespace

bool nb::isScalarOrLanes(Type type) { return isElementOrLanes(type, isFloatScalar); }

bool nb::isIndexOrLanes(Type type) {
  return isElementOrLanes(type, [](Type t) { return t.isIndex(); });
}

bool nb::isConditionOrLanes(Type type) {
  return isElementOrLanes(type, [](Type t) { return t.isInteger(1); });
}

Type nb::elementTypeOf(Type type) {
  return TypeSwitch<Type, Type>(type)
      .Case<Vec3Type, Mat3Type>([](auto t) { return t.getElementType(); })
      .Default([](Type t) { return t; });
}

int64_t nb::lanesOf(Type type) {
  auto vector = dyn_cast<VectorType>(elementTypeOf(type));
  return vector ? vector.getNumElements() : 0;
}

Type nb::conditionTypeFor(Type type) {
  Type i1 = IntegerType::get(type.getContext(), 1);
  int64_t lanes = lanesOf(type);
  return lanes ? Type(VectorType::get({lanes}, i1)) : i1;
}

Type nb::withLanes(Type type, int64_t lanes) {
  return TypeSwitch<Type, Type>(type)
      .Case<Vec3Type>([&](auto t) { return Vec3Type::get(withLanes(t.getElementType(), lanes)); })
      .Case<Mat3Type>([&](auto t) { return Mat3Type::get(withLanes(t.getElementType(), lanes)); })
      .Default([&](Type t) { return VectorType::get({lanes}, t); });
}

Type nb::withPrecision(Type type, FloatType precision) {
  return TypeSwitch<Type, Type>(type)
      .Case<Vec3Type>(
          [&](auto t) { return Vec3Type::get(withPrecision(t.getElementType(), precision)); })
      .Case<Mat3Type>(
          [&](auto t) { return Mat3Type::get(withPrecision(t.getElementType(), precision)); })
      .Case<VectorType>([&](auto t) { return t.clone(precision); })
      .Default([&](Type) { return precision; });
}

bool nb::isElementOrSingle(Type type, Type argument) {
  Type element = elementTypeOf(argument);
  return type == element || type == withPrecision(element, Float32Type::get(element.getContext()));
}

ParseResult nb::parseNarrowerResult(OpAsmParser &parser, Type &type) {
  return failed(parser.parseOptionalArrow()) ? ParseResult(success()) : parser.parseType(type);
}

void nb::printNarrowerResult(OpAsmPrinter &p, Type type, Type argument) {
  if (type != elementTypeOf(argument))
    p << " -> " << type;
}

LogicalResult Vec3Type::verify(function_ref<InFlightDiagnostic()> emitError, Type element) {
  return verifyElement(emitError, element, "vec3");
}

LogicalResult Mat3Type::verify(function_ref<InFlightDiagnostic()> emitError, Type element) {
  return verifyElement(emitError, element, "mat3");
}

LogicalResult HklGridType::verify(function_ref<InFlightDiagnostic()> emitError, FloatType element) {
  if (isFloatScalar(element))
    return success();
  return emitError() << "!nb.hkl_grid element must be f64 or f32, but got " << element;
}

LogicalResult TableType::verify(function_ref<InFlightDiagnostic()> emitError, unsigned rank,
                                Type element) {
  if (rank == 0)
    return emitError() << "!nb.table must have at least one dimension";
  bool scalar = isFloatScalar(element) || element.isIndex() || element.isInteger(1);
  bool geometric = isa<Vec3Type, Mat3Type>(element) && lanesOf(element) == 0;
  if (scalar || geometric)
    return success();
  return emitError() << "!nb.table element must be f64, f32, index, i1, !nb.vec3 or !nb.mat3 "
                        "without lanes, but got "
                     << element;
}

Type TableType::parse(AsmParser &parser) {
  SmallVector<int64_t> shape;
  Type element;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() || parser.parseDimensionList(shape) || parser.parseType(element) ||
      parser.parseGreater())
    return {};
  if (!llvm::all_of(shape, ShapedType::isDynamic)) {
    parser.emitError(loc, "!nb.table sizes are known only when the program runs: write '?'");
    return {};
  }
  return parser.getChecked<TableType>(loc, parser.getContext(), unsigned(shape.size()), element);
}

void TableType::print(AsmPrinter &printer) const {
  printer << '<';
  for (unsigned i = 0; i < getRank(); ++i)
    printer << "?x";
  printer << getElementType() << '>';
}
