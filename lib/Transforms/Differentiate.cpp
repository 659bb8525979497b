#include "lib/Transforms/Differentiate.h"

#include "dialect/Names.h"
#include "lib/Transforms/Derivatives/DifferentiateResponse.h"
#include "lib/Transforms/FuseResponse.h"
#include "lib/Transforms/MergeEqualOps.h"
#include "lib/Transforms/Passes.h"
#include "nanobragg/DerivativeNames.h"

#include "dialect/PassStatistics.h"
#include "dialect/Remarks.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/Support/DebugLog.h"
#include "llvm/Support/InterleavedRange.h"

#define DEBUG_TYPE "nb-differentiate"

namespace mlir::nb {
#define GEN_PASS_DEF_DIFFERENTIATE
#include "lib/Transforms/Passes.h.inc"
} // namespace mlir::nb

using namespace mlir;
using namespace mlir::nb;
using nanobragg::DerivativeKind;

namespace {
//===----------------------------------------------------------------------===//
// Names of arguments and results
//===----------------------------------------------------------------------===//

std::string nameOfArgument(func::FuncOp func, unsigned i) {
  auto name = func.getArgAttrOfType<StringAttr>(i, names::name);
  return name ? name.str() : std::to_string(i);
}

std::string nameOfResult(func::FuncOp func, unsigned i) {
  if (auto name = func.getResultAttrOfType<StringAttr>(i, names::name))
    return name.str();
  return func.getNumResults() == 1 ? "image" : "image." + std::to_string(i);
}

DictionaryAttr named(MLIRContext *context, const Twine &name) {
  Builder b(context);
  return b.getDictionaryAttr(b.getNamedAttr(names::name, b.getStringAttr(name)));
}

/// `name`, with a number behind it where that is taken: in a program that is differentiated again.
std::string freeName(const Twine &name, unsigned count,
                     function_ref<std::string(unsigned)> nameOf) {
  std::string free = name.str();
  auto isTaken = [&] {
    return llvm::any_of(llvm::seq(count), [&](unsigned i) { return nameOf(i) == free; });
  };
  for (unsigned number = 2; isTaken(); ++number)
    free = (name + "." + Twine(number)).str();
  return free;
}

/// Adds an argument at the end of the list; returns its value.
Value addArgument(func::FuncOp func, Type type, const Twine &wanted) {
  unsigned i = func.getNumArguments();
  std::string name = freeName(wanted, i, [&](unsigned j) { return nameOfArgument(func, j); });
  auto loc = NameLoc::get(StringAttr::get(func.getContext(), name));
  (void)func.insertArgument(i, type, named(func.getContext(), name), loc);
  return func.getArgument(i);
}

void addResult(func::FuncOp func, Value value, const Twine &wanted) {
  std::string name =
      freeName(wanted, func.getNumResults(), [&](unsigned i) { return nameOfResult(func, i); });
  Operation *terminator = func.getBody().front().getTerminator();
  terminator->insertOperands(terminator->getNumOperands(), value);
  (void)func.insertResult(func.getNumResults(), value.getType(), named(func.getContext(), name));
}

/// Results have names before others join them.
void nameResults(func::FuncOp func) {
  SmallVector<std::string> names;
  for (unsigned i = 0; i < func.getNumResults(); ++i)
    names.push_back(nameOfResult(func, i));
  for (auto [i, name] : llvm::enumerate(names))
    func.setResultAttr(i, names::name, StringAttr::get(func.getContext(), name));
}

/// The arguments with these names, in this order.
FailureOr<SmallVector<Value>> findParameters(func::FuncOp func, ArrayRef<std::string> names) {
  SmallVector<Value> parameters;
  for (const std::string &name : names) {
    auto indices = llvm::seq(func.getNumArguments());
    auto found =
        llvm::find_if(indices, [&](unsigned i) { return nameOfArgument(func, i) == name; });
    if (found == indices.end())
      return func.emitError() << "no argument named '" << name
                              << "' to differentiate with respect to";
    if (Attribute count = func.getArgAttr(*found, names::fixed))
      return func.emitError() << "'" << name << "' is compiled in as "
                              << cast<IntegerAttr>(count).getInt()
                              << " (nb-fix-counts), and cannot be differentiated with respect to";
    Value argument = func.getArgument(*found);
    if (!isDifferentiable(argument.getType()))
      return func.emitError() << "cannot differentiate with respect to '" << name << "' of type "
                              << argument.getType();
    parameters.push_back(argument);
  }
  return parameters;
}

//===----------------------------------------------------------------------===//
// Derivatives that are zero
//===----------------------------------------------------------------------===//

/// An image of zeros with the pixels of another; null when no nb.image made that.
Value zeroImageLike(OpBuilder &builder, Value image) {
  ImageOp like = imageLike(image);
  if (!like)
    return {};
  auto zeros =
      ImageOp::create(builder, like.getLoc(), image.getType(), like.getCounts(), like.getRoi(),
                      like.getMask(), like.getDimensions(), IntegerAttr(), IntegerAttr());
  OpBuilder::InsertionGuard guard(builder);
  Block *body = builder.createBlock(&zeros.getBody());
  for (unsigned i = 0; i != like.getCounts().size(); ++i)
    body->addArgument(builder.getIndexType(), like.getLoc());
  Type element = cast<RankedTensorType>(image.getType()).getElementType();
  YieldOp::create(builder, like.getLoc(), zeroOf(builder, like.getLoc(), element));
  return zeros.getResult(0);
}

/// The derivative of a result that depends on nothing that is differentiated with respect to; null
/// when it has none.
Value zeroDerivative(OpBuilder &builder, Location loc, Value result) {
  if (isa<RankedTensorType>(result.getType()))
    return zeroImageLike(builder, result);
  return isCollection(result.getType()) ? Value() : zeroOf(builder, loc, result.getType());
}

void remarkZero(func::FuncOp func, const std::string &result, const std::string &parameter) {
  nb::remarkMissed(func.getLoc(),
                   remark::RemarkOpts::name("zero").category(DEBUG_TYPE).function(func.getName()))
      << remark::add("{0} does not depend on {1}", result, parameter);
}

//===----------------------------------------------------------------------===//
// Modes
//===----------------------------------------------------------------------===//

class Differentiator {
public:
  Differentiator(func::FuncOp func, ArrayRef<std::string> names, bool keepValue)
      : func(func), names(names), keepValue(keepValue) {}

  /// The function's results as they were, and their tangents along each parameter.
  LogicalResult jacobian();
  /// Their tangents along `directions` sets of tangents of all parameters, given as arguments.
  LogicalResult jvp(unsigned directions, DerivativeKind what, unsigned firstResult = 0);
  /// The adjoint of each parameter, given those of the results as arguments.
  LogicalResult vjp();

private:
  LogicalResult prepare();
  LogicalResult tangents(ArrayRef<DenseMap<Value, Value>> seeds);
  void rename(StringRef suffix);

  func::FuncOp func;
  ArrayRef<std::string> names;
  bool keepValue;
  SmallVector<Value> parameters;
  SmallVector<SmallVector<Value>> rows;
};

LogicalResult Differentiator::prepare() {
  FailureOr<SmallVector<Value>> found = findParameters(func, names);
  if (failed(found))
    return failure();
  parameters = *found;
  nameResults(func);
  if (failed(separateStages(func, parameters)))
    return failure();
  fuseResponse(func);
  if (failed(expandActiveOps(func, parameters)))
    return failure();
  mergeEqualOps(func);
  return success();
}

void Differentiator::rename(StringRef suffix) {
  mergeEqualOps(func);
  SymbolTable::setSymbolName(func, (func.getName() + "_" + suffix).str());
}

LogicalResult Differentiator::tangents(ArrayRef<DenseMap<Value, Value>> seeds) {
  Activity activity(func, parameters);
  return addTangents(func, activity, seeds, rows);
}

LogicalResult Differentiator::jacobian() {
  if (failed(prepare()))
    return failure();
  OpBuilder builder = OpBuilder::atBlockBegin(&func.getBody().front());
  SmallVector<DenseMap<Value, Value>> seeds;
  for (auto [name, parameter] : llvm::zip(names, parameters)) {
    auto type = dyn_cast<FloatType>(parameter.getType());
    if (!type)
      return func.emitError() << "the Jacobian with respect to '" << name
                              << "' would be one image per element; "
                              << "use mode=jvp or mode=vjp";
    Value one =
        arith::ConstantOp::create(builder, parameter.getLoc(), builder.getFloatAttr(type, 1.0));
    seeds.push_back({{parameter, one}});
  }
  if (failed(tangents(seeds)))
    return failure();
  unsigned values = func.getNumResults();
  Operation *terminator = func.getBody().front().getTerminator();
  builder.setInsertionPoint(terminator);
  for (auto [name, parameter, row] : llvm::zip(names, parameters, rows)) {
    for (unsigned i = 0; i < values; ++i) {
      if (!isDifferentiable(func.getResultTypes()[i]))
        continue;
      Value derivative = row[i];
      if (!derivative) {
        derivative = zeroDerivative(builder, func.getLoc(), terminator->getOperand(i));
        if (!derivative)
          return func.emitError() << "'" << nameOfResult(func, i) << "' does not depend on '"
                                  << name << "'";
        remarkZero(func, "'" + nameOfResult(func, i) + "'", "'" + name + "'");
      }
      addResult(func, derivative,
                derivativeName(DerivativeKind::Derivative,
                               values == 1 ? name : nameOfResult(func, i) + "." + name));
    }
  }
  rename("jacobian");
  return success();
}

LogicalResult Differentiator::jvp(unsigned directions, DerivativeKind what, unsigned firstResult) {
  if (failed(prepare()))
    return failure();
  SmallVector<DenseMap<Value, Value>> seeds(directions);
  auto number = [&](unsigned k) { return directions == 1 ? 0 : k + 1; };
  for (unsigned k = 0; k < directions; ++k)
    for (auto [name, parameter] : llvm::zip(names, parameters))
      seeds[k][parameter] =
          addArgument(func, parameter.getType(), nanobragg::tangentName(name, number(k)));
  if (failed(tangents(seeds)))
    return failure();
  unsigned values = func.getNumResults();
  OpBuilder builder(func.getBody().front().getTerminator());
  for (unsigned k = 0; k < directions; ++k) {
    for (unsigned i = firstResult; i < values; ++i) {
      Type type = func.getResultTypes()[i];
      if (!isDifferentiable(type))
        continue;
      std::string name = nameOfResult(func, i);
      Value tangent = rows[k][i];
      if (!tangent) {
        tangent = zeroDerivative(builder, func.getLoc(),
                                 builder.getBlock()->getTerminator()->getOperand(i));
        if (!tangent)
          return func.emitError() << "'" << name << "' does not depend on any of the parameters";
        remarkZero(func, "'" + name + "'", "any of the parameters");
      }
      const auto result = nanobragg::parseDerivativeName(name);
      const bool gradient = result && result->kind == DerivativeKind::Gradient;
      addResult(func, tangent, derivativeName(what, gradient ? result->of : name, number(k)));
    }
  }
  rename(nanobragg::derivativeWords[std::size_t(what)]);
  return success();
}

LogicalResult Differentiator::vjp() {
  if (failed(prepare()))
    return failure();
  unsigned values = func.getNumResults();
  SmallVector<Value> cotangents;
  Builder b(func.getContext());
  for (unsigned i = 0; i < values; ++i) {
    Type type = func.getResultTypes()[i];
    // Gradients of sums over many pixels want all digits.
    if (auto image = dyn_cast<RankedTensorType>(type))
      type = image.clone(b.getF64Type());
    cotangents.push_back(
        isDifferentiable(type)
            ? addArgument(func, type, nanobragg::cotangentName(nameOfResult(func, i)))
            : Value());
  }
  Activity activity(func, parameters);
  SmallVector<Value> adjoints;
  if (failed(addAdjoints(func, activity, parameters, cotangents, adjoints)))
    return failure();
  if (!keepValue) {
    Operation *terminator = func.getBody().front().getTerminator();
    terminator->eraseOperands(0, values);
    for (; values != 0; --values)
      (void)func.eraseResult(0);
  }
  OpBuilder builder(func.getBody().front().getTerminator());
  for (auto [name, parameter, adjoint] : llvm::zip(names, parameters, adjoints)) {
    Value gradient = adjoint;
    if (!gradient) {
      if (isCollection(parameter.getType()))
        return func.emitError() << "the result does not depend on '" << name << "'";
      remarkZero(func, "the result", "'" + name + "'");
      gradient = zeroOf(builder, parameter.getLoc(), parameter.getType());
    }
    addResult(func, gradient, nanobragg::gradientName(name));
  }
  rename("vjp");
  return success();
}

//===----------------------------------------------------------------------===//
// Pass
//===----------------------------------------------------------------------===//

struct DifferentiatePass : nb::impl::DifferentiateBase<DifferentiatePass> {
  using DifferentiateBase::DifferentiateBase;

  LogicalResult differentiate(func::FuncOp func) {
    SmallVector<std::string> names(parameters.begin(), parameters.end());
    if (names.empty())
      return func.emitError("no parameters to differentiate with respect to (option 'parameters')");
    if (!func.getBody().hasOneBlock())
      return func.emitError("cannot differentiate a function with control flow between blocks");
    Differentiator differentiator(func, names, value);
    using Mode = nanobragg::Derivative::Mode;
    switch (mode) {
    case Mode::Value:
      return success();
    case Mode::Jacobian:
      return differentiator.jacobian();
    case Mode::JVP:
      return differentiator.jvp(directions, DerivativeKind::JVP);
    case Mode::VJP:
      return differentiator.vjp();
    case Mode::HVP: {
      unsigned images = value ? func.getNumResults() : 0;
      if (failed(differentiator.vjp()))
        return failure();
      return Differentiator(func, names, value).jvp(directions, DerivativeKind::HVP, images);
    }
    }
    llvm_unreachable("unknown mode");
  }

  void runOnOperation() override {
    SmallVector<func::FuncOp> funcs;
    getOperation()->walk([&](func::FuncOp func) {
      if (func.getName() == function && !func.isExternal())
        funcs.push_back(func);
    });
    if (funcs.empty()) {
      mlir::emitError(getOperation()->getLoc())
          << "no function '" << function << "' to differentiate";
      return signalPassFailure();
    }
    for (func::FuncOp func : funcs) {
      std::string name = func.getName().str();
      if (auto uses = SymbolTable::getSymbolUses(func, getOperation()); uses && !uses->empty()) {
        (*uses->begin()).getUser()->emitError()
            << "uses '" << name << "', which nb-differentiate replaces by its derivative";
        return signalPassFailure();
      }
      LDBG() << name << " by " << llvm::interleaved(parameters);
      if (failed(differentiate(func)))
        return signalPassFailure();
      ++differentiated;
      nb::remarkPassed(
          func.getLoc(),
          remark::RemarkOpts::name("differentiated").category(DEBUG_TYPE).function(func.getName()))
          << remark::add("'{0}' became '{1}': {2} parameter(s)", name, func.getName().str(),
                         parameters.size());
    }
  }
};
} // namespace
