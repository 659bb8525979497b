#include "lib/Interpreter/Images.h"

#include "lib/Interpreter/Run.h"

using namespace mlir;
using namespace mlir::nb;

/// Is this the first image that the function returns?
static bool isFirstResult(const Plan &plan, Slot slot) {
  func::FuncOp function = plan.function;
  for (auto [type, result] : llvm::zip_equal(function.getResultTypes(), plan.results))
    if (isa<RankedTensorType>(type))
      return result.offset == slot.offset;
  return false;
}

Tensor &nb::makeImage(Frame &root, unsigned ordinal, Slot slot, Type element,
                      ArrayRef<int64_t> shape) {
  auto image = std::make_unique<Tensor>();
  image->element = element;
  image->shape.assign(shape.begin(), shape.end());
  size_t bytes = size_t(image->size()) * (element.isF64() ? 8 : 4);
  const InterpreterOptions &options = root.run->options;
  void *memory = options.trace ? nullptr : options.image;
  if (memory && isFirstResult(root.run->plan, slot)) {
    std::fill_n(static_cast<char *>(memory), bytes, 0);
    image->data = memory;
  } else {
    image->own.resize(bytes);
    image->data = image->own.data();
  }
  root.object<const Tensor>(slot) = image.get();
  root.tensors[ordinal] = std::move(image);
  return *root.tensors[ordinal];
}
