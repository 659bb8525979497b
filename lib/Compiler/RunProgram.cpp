#include "lib/Compiler/RunProgram.h"

#include "dialect/NB.h"
#include "lib/Compiler/ResultsAsImage.h"

#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

#include <new>

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
    if (!message.empty())
      return;
    llvm::raw_string_ostream stream(message);
    if (!isa<UnknownLoc>(diagnostic.getLocation()))
      stream << diagnostic.getLocation() << ": ";
    stream << diagnostic;
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
  auto image = terminator->getOperand(0).getDefiningOp<ImageOp>();
  if (!image || !llvm::all_of(image->getUsers(), [&](Operation *u) { return u == terminator; }))
    return createStringError("'" + function.getName().str() + "' returns no nb.image of its own");
  SmallVector<Value> counts = llvm::to_vector(image.getCounts());
  terminator->setOperands(counts);
  OpBuilder b(slice);
  slice.setFunctionType(b.getFunctionType(slice.getArgumentTypes(), ValueRange(counts).getTypes()));
  slice.removeResAttrsAttr();
  image.erase();
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(slice.getBody().front())))
    if (op.use_empty() && isMemoryEffectFree(&op) && !op.hasTrait<OpTrait::IsTerminator>())
      op.erase();
  auto results = interpret(slice, arguments, {});
  if (!results)
    return results.takeError();
  std::array<int64_t, 3> shape{};
  for (unsigned i = 0; i < 3; ++i)
    shape[i] = int64_t((*results)[i].values.front());
  return shape;
}

template <typename Element>
static std::vector<double> renderAs(const nb_kernel_descriptor &kernel,
                                    const void *const *arguments, const void *workspace,
                                    std::array<int64_t, 3> shape) {
  std::vector<Element> image(size_t(shape[0] * shape[1] * shape[2]));
  for (int64_t panel = 0; panel < shape[0]; ++panel) {
    const nb_tile tile{panel, 0, shape[1]};
    kernel.run_tile(arguments, workspace, &tile, image.data());
  }
  return {image.begin(), image.end()};
}

RenderedImage nb::runKernel(const nb_kernel_descriptor &kernel, const RunArguments &arguments,
                            std::array<int64_t, 3> shape) {
  std::vector<const void *> addresses;
  for (const InterpreterArgument &argument : arguments)
    addresses.push_back(argument.data);
  constexpr std::align_val_t alignment{64};
  auto release = [&](void *memory) { ::operator delete(memory, alignment); };
  auto bytes = size_t(kernel.workspace_size(addresses.data()));
  std::unique_ptr<void, decltype(release)> workspace(::operator new(bytes, alignment), release);
  kernel.prepare(addresses.data(), workspace.get());
  auto render = kernel.image_type == NB_IMAGE_F32 ? renderAs<float> : renderAs<double>;
  return {shape, render(kernel, addresses.data(), workspace.get(), shape)};
}

OwningOpRef<ModuleOp> nb::isolate(func::FuncOp function) {
  OwningOpRef<ModuleOp> program = function->getParentOfType<ModuleOp>().clone();
  for (auto other : program->getOps<func::FuncOp>())
    other.setVisibility(other.getName() == function.getName() ? SymbolTable::Visibility::Public
                                                              : SymbolTable::Visibility::Private);
  PassManager passes(program->getContext());
  passes.addPass(createSymbolDCEPass());
  (void)passes.run(*program); // at worst, functions stay that nobody calls
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

Expected<std::vector<InterpreterResult>> nb::runCompiled(func::FuncOp function,
                                                         const RunArguments &arguments,
                                                         const CompileOptions &options) {
  OwningOpRef<ModuleOp> program = isolate(function);
  auto kernelFunction = program->lookupSymbol<func::FuncOp>(function.getName());
  bool packed = !returnsImage(function);
  if (packed)
    if (auto error = packResults(kernelFunction))
      return error;
  auto shape = imageShape(kernelFunction, arguments);
  if (!shape)
    return shape.takeError();
  auto kernel = compileFunction(*program, function.getName(), /*fused=*/false, options);
  if (!kernel)
    return kernel.takeError();
  RenderedImage image = runKernel((*kernel)->descriptor(), arguments, *shape);
  if (packed)
    return unpack(function.getResultTypes(), image.pixels);
  std::vector<InterpreterResult> results;
  results.push_back({function.getResultTypes()[0], SmallVector<int64_t>(ArrayRef(*shape)),
                     std::move(image.pixels)});
  return results;
}
