#include "lib/Compiler/CodeGen/DescribeFunction.h"

#include "dialect/NB.h"
#include "dialect/Names.h"
#include "lib/Compiler/CodeGen/Compiler.h"
#include "lib/Conversion/Loops/KernelPlan.h"
#include "lib/Program/Parameters.h"
#include "nanobragg/DerivativeNames.h"

#include "mlir/Support/DebugStringHelper.h"

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
  if (auto tensor = dyn_cast<RankedTensorType>(type); tensor && tensor.getRank() == 3) {
    if (tensor.getElementType().isInteger(8))
      return NB_PARAMETER_MASK;
    return isF64(tensor.getElementType()) ? std::optional(NB_PARAMETER_IMAGE) : std::nullopt;
  }
  return isF64(type) ? std::optional(NB_PARAMETER_F64) : std::nullopt;
}

std::string nb::argumentName(func::FuncOp function, unsigned argument) {
  auto name = function.getArgAttrOfType<StringAttr>(argument, names::name);
  return name ? name.str() : "arg" + std::to_string(argument);
}

/// How a result of this type is written.
static std::optional<nb_output_kind> outputKindOf(Type type) {
  if (isa<RankedTensorType>(type))
    return NB_OUTPUT_IMAGE;
  if (isa<HklGridType>(type))
    return NB_OUTPUT_HKL_GRID;
  auto table = dyn_cast<TableType>(type);
  Type value = table ? table.getElementType() : type;
  if (!elementTypeOf(value).isF64())
    return std::nullopt;
  if (isa<Vec3Type>(value))
    return table ? NB_OUTPUT_TABLE_VEC3 : NB_OUTPUT_VEC3;
  if (isa<Mat3Type>(value))
    return table ? NB_OUTPUT_TABLE_MAT3 : NB_OUTPUT_MAT3;
  return table ? NB_OUTPUT_TABLE_F64 : NB_OUTPUT_F64;
}

/// Does the function hold an nb.image, as that of a kernel does, or the loops that it became?
static bool hasImage(func::FuncOp function) {
  return !function.isDeclaration() &&
         (!function.getBody().front().getOps<ImageOp>().empty() || KernelPlan::hasNest(function));
}

Expected<func::FuncOp> nb::findImageFunction(ModuleOp program) {
  func::FuncOp found;
  for (auto function : program.getOps<func::FuncOp>()) {
    if (!hasImage(function))
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

/// The unit of a result: photons in an image, a gradient's is one over the parameter's.
static std::string unitOf(StringRef name, nb_output_kind kind) {
  if (kind == NB_OUTPUT_IMAGE)
    return "photons";
  const auto derivative = nanobragg::parseDerivativeName(name.str());
  if (!derivative || derivative->kind != nanobragg::DerivativeKind::Gradient)
    return "1";
  const nanobragg::Parameter *by = nanobragg::parameterBehind(name.str());
  return by && StringRef(by->unit) != "1" ? "1/(" + std::string(by->unit) + ")" : "1";
}

namespace {
/// The name, arguments and results that describe a kernel.
struct Signature {
  std::string name;
  FunctionType type;
  SmallVector<std::string> arguments, results; ///< names; of results, empty where there is none
  std::vector<nanobragg::FixedCount> fixed;
};
} // namespace

static Signature signatureOf(func::FuncOp function) {
  Signature signature{function.getName().str(), function.getFunctionType(), {}, {}, {}};
  for (unsigned i = 0; i != function.getNumArguments(); ++i) {
    signature.arguments.push_back(argumentName(function, i));
    if (auto count = function.getArgAttrOfType<IntegerAttr>(i, names::fixed))
      signature.fixed.push_back({signature.arguments.back(), count.getInt()});
  }
  for (unsigned i = 0; i != function.getNumResults(); ++i) {
    auto name = function.getResultAttrOfType<StringAttr>(i, names::name);
    signature.results.push_back(name ? name.str() : "");
  }
  return signature;
}

/// A result without a name is "image" if it is the first and an image, else resultN.
static std::string resultName(const Signature &signature, unsigned result) {
  if (!signature.results[result].empty())
    return signature.results[result];
  bool image = isa<RankedTensorType>(signature.type.getResult(result));
  return image && result == 0 ? "image" : "result" + std::to_string(result);
}

static Expected<KernelDescription> describe(const Signature &signature) {
  const std::string quoted = "'" + signature.name + "'";
  KernelDescription description;
  description.function = signature.name;
  description.fixed = signature.fixed;
  description.imageType = NB_IMAGE_F64;
  Type element;
  for (auto [i, type] : llvm::enumerate(signature.type.getResults())) {
    const std::string name = resultName(signature, i);
    auto kind = outputKindOf(type);
    if (!kind)
      return createStringError("result '" + name + "' of " + quoted + " is of type " +
                               debugString(type) +
                               ", and kernels return images, f64, !nb.vec3<f64>, !nb.mat3<f64>, "
                               "tables of these and grids of f64; convert it to one of them, or "
                               "interpret the program (--no-fuse)");
    if (auto image = dyn_cast<RankedTensorType>(type)) {
      if (element && element != image.getElementType())
        return createStringError("the images of " + quoted +
                                 " hold both f32 and f64: a kernel renders one of them");
      element = image.getElementType();
      description.imageType = element.isF32() ? NB_IMAGE_F32 : NB_IMAGE_F64;
    }
    description.outputs.push_back({name, *kind, unitOf(name, *kind)});
  }
  for (auto [i, type] : llvm::enumerate(signature.type.getInputs())) {
    const std::string &name = signature.arguments[i];
    auto kind = kindOf(type);
    if (!kind)
      return createStringError("argument '" + name + "' of " + quoted + " is of type " +
                               debugString(type) +
                               ", and kernels take f64, index, !nb.vec3<f64>, !nb.mat3<f64>, "
                               "tables of f64 or !nb.vec3<f64>, grids of f64, images "
                               "(tensor<?x?x?xf64>) and masks (tensor<?x?x?xi8>); take one of "
                               "them and convert it inside, or interpret the program "
                               "(--no-fuse)");
    const nanobragg::Parameter *known = nanobragg::findParameter(name);
    description.parameters.push_back({name, *kind, known ? known->unit : "1"});
  }
  return description;
}

Expected<KernelDescription> nb::describeFunction(func::FuncOp function) {
  if (!hasImage(function))
    return createStringError("'" + function.getName().str() +
                             "' is not a function that returns an image");
  return describe(signatureOf(function));
}

Expected<KernelDescription> nb::describeEntryPoints(DictionaryAttr kernel) {
  Signature signature{kernel.getAs<StringAttr>("name").str(), typeOfKernel(kernel), {}, {}, {}};
  for (auto [i, name] :
       llvm::enumerate(kernel.getAs<ArrayAttr>("arguments").getAsRange<StringAttr>()))
    signature.arguments.push_back(name.empty() ? "arg" + std::to_string(i) : name.str());
  for (StringAttr name : kernel.getAs<ArrayAttr>("results").getAsRange<StringAttr>())
    signature.results.push_back(name.str());
  if (auto fixed = kernel.getAs<DictionaryAttr>("fixed"))
    for (NamedAttribute count : fixed)
      signature.fixed.push_back(
          {count.getName().str(), cast<IntegerAttr>(count.getValue()).getInt()});
  return describe(signature);
}
