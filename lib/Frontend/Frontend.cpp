#include "lib/Frontend/Frontend.h"

#include "dialect/FlagLocations.h"
#include "dialect/Names.h"
#include "lib/Frontend/Emitter.h"
#include "lib/Program/Parameters.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::nb;

/// The type of a function argument for a parameter.
static Type argumentType(MLIRContext &context, nb_parameter_kind kind) {
  Type f64 = Float64Type::get(&context);
  constexpr int64_t unknown = ShapedType::kDynamic;
  switch (kind) {
  case NB_PARAMETER_F64:
    return f64;
  case NB_PARAMETER_INDEX:
    return IndexType::get(&context);
  case NB_PARAMETER_VEC3:
    return Vec3Type::get(f64);
  case NB_PARAMETER_MAT3:
    return Mat3Type::get(f64);
  case NB_PARAMETER_TABLE_F64:
    return TableType::get(1, f64);
  case NB_PARAMETER_TABLE_VEC3:
    return TableType::get(1, Vec3Type::get(f64));
  case NB_PARAMETER_HKL_GRID:
    return HklGridType::get(cast<FloatType>(f64));
  case NB_PARAMETER_MASK:
    return RankedTensorType::get({unknown, unknown, unknown}, IntegerType::get(&context, 8));
  case NB_PARAMETER_IMAGE:
    return RankedTensorType::get({unknown, unknown, unknown}, f64);
  }
  llvm_unreachable("all parameter kinds are listed");
}

void nb::loadFrontendDialects(MLIRContext &context) {
  context.loadDialect<NBDialect, arith::ArithDialect, func::FuncDialect, math::MathDialect,
                      scf::SCFDialect>();
}

OwningOpRef<ModuleOp> nb::buildProgram(MLIRContext &context,
                                       const nanobragg::ProgramVariant &variant,
                                       const nanobragg::CullSetting &cull) {
  OpBuilder b(&context);
  Location unknown = b.getUnknownLoc();
  OwningOpRef<ModuleOp> module = ModuleOp::create(unknown);
  b.setInsertionPointToEnd(module->getBody());

  auto parameters = nanobragg::parametersOf(variant);
  SmallVector<Type> types;
  for (const nanobragg::Parameter *parameter : parameters)
    types.push_back(argumentType(context, parameter->kind()));
  auto function = func::FuncOp::create(b, unknown, "image", b.getFunctionType(types, {}));
  Block *entry = function.addEntryBlock();
  if (!cull.isOff())
    function->setAttr(names::cull, b.getF64FloatAttr(cull.tolerance()));

  if (variant.isDrawn())
    function->setAttr(names::draws, b.getUnitAttr());
  if (variant.averaging == nanobragg::Averaging::Reflections)
    function->setAttr(names::reflections, b.getUnitAttr());

  llvm::StringMap<Value> values;
  for (auto [i, parameter] : llvm::enumerate(parameters)) {
    function.setArgAttr(i, names::name, b.getStringAttr(parameter->name));
    function.setArgAttr(i, names::unit, b.getStringAttr(parameter->unit));
    entry->getArgument(i).setLoc(NameLoc::get(b.getStringAttr(parameter->name), unknown));
    values[parameter->name] = entry->getArgument(i);
  }
  b.setInsertionPointToEnd(entry);
  Value image = Emitter(b, variant, values).image();
  func::ReturnOp::create(b, unknown, image);
  function.setFunctionType(b.getFunctionType(types, image.getType()));
  locateFlags(function);
  return module;
}
