#include "lib/Compiler/DescribeFunction.h"

#include "dialect/NB.h"
#include "lib/Compiler/Compiler.h"
#include "lib/Experiment/Parameters.h"

using namespace mlir;
using namespace mlir::nb;
using llvm::createStringError;
using llvm::Expected;

/// How an argument of this type is passed.
static std::optional<nb_parameter_kind> kindOf(Type type) {
  auto isF64 = [](Type type) { return type.isF64(); };
  if (type.isIndex())
    return NB_PARAMETER_INDEX;
  if (auto table = dyn_cast<TableType>(type)) {
    Type element = table.getElementType();
    if (auto vector = dyn_cast<Vec3Type>(element); vector && isF64(vector.getElementType()))
      return NB_PARAMETER_TABLE_VEC3;
    return isF64(element) ? std::optional(NB_PARAMETER_TABLE_F64) : std::nullopt;
  }
  if (auto vector = dyn_cast<Vec3Type>(type); vector && isF64(vector.getElementType()))
    return NB_PARAMETER_VEC3;
  if (auto matrix = dyn_cast<Mat3Type>(type); matrix && isF64(matrix.getElementType()))
    return NB_PARAMETER_MAT3;
  if (auto grid = dyn_cast<HklGridType>(type); grid && isF64(grid.getElementType()))
    return NB_PARAMETER_HKL_GRID;
  if (auto mask = dyn_cast<RankedTensorType>(type); mask && mask.getElementType().isInteger(8))
    return NB_PARAMETER_MASK;
  return isF64(type) ? std::optional(NB_PARAMETER_F64) : std::nullopt;
}

std::string nb::argumentName(func::FuncOp function, unsigned argument) {
  auto name = function.getArgAttrOfType<StringAttr>(argument, "nb.name");
  return name ? name.str() : "arg" + std::to_string(argument);
}

/// The image that a function returns, if it returns one.
static RankedTensorType imageOf(func::FuncOp function) {
  return function.getNumResults() == 1 ? dyn_cast<RankedTensorType>(function.getResultTypes()[0])
                                       : RankedTensorType();
}

Expected<func::FuncOp> nb::findImageFunction(ModuleOp program) {
  func::FuncOp found;
  for (auto function : program.getOps<func::FuncOp>()) {
    if (function.isDeclaration() || !imageOf(function))
      continue;
    if (found)
      return createStringError("'" + found.getName().str() + "' and '" + function.getName().str() +
                               "' both return an image: leave one of them in the program");
    found = function;
  }
  if (!found)
    return createStringError("no function of the program returns one image");
  return found;
}

Expected<KernelDescription> nb::describeFunction(func::FuncOp function) {
  RankedTensorType image = imageOf(function);
  if (!image)
    return createStringError("'" + function.getName().str() +
                             "' is no function that returns one image");
  KernelDescription description;
  description.function = function.getName().str();
  description.imageType = image.getElementType().isF32() ? NB_IMAGE_F32 : NB_IMAGE_F64;
  for (auto [i, type] : llvm::enumerate(function.getArgumentTypes())) {
    const std::string name = argumentName(function, i);
    auto kind = kindOf(type);
    if (!kind)
      return createStringError("argument '" + name + "' of '" + function.getName().str() +
                               "' has a type that no kernel takes; run it with --no-fuse");
    const nanobragg::Parameter *known = nanobragg::findParameter(name);
    description.parameters.push_back({name, *kind, known ? known->unit : "1"});
  }
  return description;
}
