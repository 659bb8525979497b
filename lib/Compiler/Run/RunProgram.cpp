#include "lib/Compiler/Run/RunProgram.h"

#include "dialect/NB.h"
#include "dialect/Names.h"
#include "lib/Compiler/CodeGen/ProgramLines.h"
#include "lib/Compiler/Pipelines/MLIRFlags.h"
#include "lib/Compiler/Pipelines/Pipeline.h"
#include "lib/Compiler/Run/CheckReads.h"
#include "lib/Compiler/Run/KernelRun.h"
#include "lib/Compiler/Run/ResultsAsImage.h"

#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace mlir::nb;
using llvm::createStringError;
using llvm::Expected;

Pixel RenderedImage::pixelAt(size_t index) const {
  auto i = int64_t(index);
  return {i / (shape[1] * shape[2]), i / shape[2] % shape[1], i % shape[2]};
}

Expected<std::vector<InterpreterResult>> nb::interpret(func::FuncOp function,
                                                       const RunArguments &arguments,
                                                       const InterpreterOptions &options) {
  std::string message;
  ScopedDiagnosticHandler handler(function.getContext(), [&](Diagnostic &diagnostic) {
    if (message.empty())
      message = sentenceOf(diagnostic);
  });
  auto interpreter = Interpreter::prepare(function);
  if (failed(interpreter))
    return createStringError(message);
  auto results = interpreter->run(arguments, options);
  if (failed(results))
    return createStringError(message);
  return std::move(*results);
}

Expected<RenderedImage> nb::interpretImage(func::FuncOp function, const RunArguments &arguments,
                                           int threads) {
  InterpreterOptions options;
  options.threads = threads;
  auto results = interpret(function, arguments, options);
  if (!results)
    return results.takeError();
  InterpreterResult &result = results->front();
  if (result.shape.size() != 3)
    return createStringError("'" + function.getName().str() + "' returns no image");
  return RenderedImage{{result.shape[0], result.shape[1], result.shape[2]},
                       std::move(result.values)};
}

Expected<std::array<int64_t, 3>> nb::imageShape(func::FuncOp function,
                                                const RunArguments &arguments) {
  // The function reduced to what the counts are computed from.
  OwningOpRef<ModuleOp> program = function->getParentOfType<ModuleOp>().clone();
  auto slice = program->lookupSymbol<func::FuncOp>(function.getName());
  Operation *terminator = slice.getBody().front().getTerminator();
  auto images = slice.getBody().front().getOps<ImageOp>();
  if (images.empty())
    return createStringError("'" + function.getName().str() + "' has no nb.image of its own");
  SmallVector<Value> counts = llvm::to_vector((*images.begin()).getCounts());
  terminator->setOperands(counts);
  OpBuilder b(slice);
  slice.setFunctionType(b.getFunctionType(slice.getArgumentTypes(), ValueRange(counts).getTypes()));
  slice.removeResAttrsAttr();
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(slice.getBody().front())))
    if (op.use_empty() && isMemoryEffectFree(&op) && !op.hasTrait<OpTrait::IsTerminator>())
      op.erase();
  auto results = interpret(slice, arguments, {});
  if (!results)
    return results.takeError();
  std::array<int64_t, 3> shape{};
  for (unsigned i = 0; i < 3; ++i)
    shape[i] = std::max<int64_t>(int64_t((*results)[i].values.front()), 0);
  return shape;
}

std::vector<std::vector<double>> nb::runKernel(const nb_kernel_descriptor &kernel,
                                               const RunArguments &arguments,
                                               std::array<int64_t, 3> shape) {
  std::vector<const void *> addresses;
  for (const InterpreterArgument &argument : arguments)
    addresses.push_back(argument.data);
  KernelRun run(kernel, std::move(addresses), shape);
  run.prepare();
  run.render();
  run.finish();
  return run.results();
}

RenderedImage nb::renderImage(const nb_kernel_descriptor &kernel, const RunArguments &arguments,
                              std::array<int64_t, 3> shape) {
  return {shape, runKernel(kernel, arguments, shape).front()};
}

OwningOpRef<ModuleOp> nb::isolate(func::FuncOp function) {
  OwningOpRef<ModuleOp> program = function->getParentOfType<ModuleOp>().clone();
  for (auto other : program->getOps<func::FuncOp>())
    other.setVisibility(other.getName() == function.getName() ? SymbolTable::Visibility::Public
                                                              : SymbolTable::Visibility::Private);
  FlaggedPassManager passes(program->getContext());
  passes.addPass(createSymbolDCEPass());
  (void)passes.run(*program); // at worst, functions without a caller stay
  return program;
}

/// The results that packResults has packed into `pixels`.
static std::vector<InterpreterResult> unpack(TypeRange types, const std::vector<double> &pixels) {
  std::vector<InterpreterResult> results;
  auto next = pixels.begin();
  for (Type type : types) {
    auto end = next + (isa<Vec3Type>(type) ? 3 : isa<Mat3Type>(type) ? 9 : 1);
    results.push_back({type, {}, {next, end}});
    next = end;
  }
  return results;
}

/// Images and tables of one dimension have their shape, other arrays are flat.
static SmallVector<int64_t> shapeOf(Type type, ArrayRef<int64_t> image, size_t numbers) {
  if (isa<RankedTensorType>(type))
    return SmallVector<int64_t>(image);
  if (auto table = dyn_cast<TableType>(type)) {
    Type element = table.getElementType();
    return {int64_t(numbers) / (isa<Vec3Type>(element) ? 3 : isa<Mat3Type>(element) ? 9 : 1)};
  }
  return isa<HklGridType>(type) ? SmallVector<int64_t>{int64_t(numbers)} : SmallVector<int64_t>();
}

/// Lists of what is lit are the runtime's, which is not here; the program means the same without.
static void computeAllSamples(func::FuncOp function) {
  function->removeAttr(names::cull);
  SmallVector<Operation *> reaches;
  function.walk([&](Operation *op) {
    if (isa<ImageOp, SumOp>(op))
      op->removeAttr(names::lit);
    if (isa<ReachOp>(op))
      reaches.push_back(op);
  });
  for (Operation *reach : reaches)
    reach->erase();
}

Expected<std::vector<InterpreterResult>> nb::runCompiled(func::FuncOp function,
                                                         const RunArguments &arguments,
                                                         const CompileOptions &options) {
  if (auto error = checkReads(function, arguments))
    return error;
  OwningOpRef<ModuleOp> program = isolate(function);
  auto kernelFunction = program->lookupSymbol<func::FuncOp>(function.getName());
  computeAllSamples(kernelFunction);
  bool packed = kernelFunction.getBody().front().getOps<ImageOp>().empty();
  if (packed)
    if (auto error = packResults(kernelFunction))
      return error;
  auto shape = imageShape(kernelFunction, arguments);
  if (!shape)
    return shape.takeError();
  CompileOptions debugged = options;
  debugged.programFile = programFileOfProcess();
  auto kernel = compileFunction(*program, function.getName(), /*fused=*/false, debugged);
  if (!kernel)
    return kernel.takeError();
  auto outputs = runKernel((*kernel)->descriptor(), arguments, *shape);
  if (packed)
    return unpack(function.getResultTypes(), outputs.front());
  std::vector<InterpreterResult> results;
  for (auto [type, values] : llvm::zip(function.getResultTypes(), outputs))
    results.push_back({type, shapeOf(type, *shape, values.size()), std::move(values)});
  return results;
}
