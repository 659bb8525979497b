#include "lib/Compiler/CodeGen/Stats/DeviceMemory.h"

#include "lib/Conversion/KernelLayout.h"

#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"

using namespace llvm;

namespace layout = mlir::nb::layout;
static constexpr unsigned globalMemory = 1;

static bool isWritten(const Value *pointer, const Function &kernel) {
  SmallVector<const Value *> objects;
  getUnderlyingObjects(pointer, objects);
  return any_of(objects, [&](const Value *object) {
    auto *load = dyn_cast<LoadInst>(object);
    return object == kernel.getArg(layout::accumulators) ||
           (load &&
            getUnderlyingObject(load->getPointerOperand()) == kernel.getArg(layout::outputs));
  });
}

static void describe(Function &kernel) {
  SmallVector<LoadInst *> loads;
  for (Instruction &instruction : instructions(kernel))
    if (auto *load = dyn_cast<LoadInst>(&instruction))
      loads.push_back(load);
  MDNode *nothing = MDNode::get(kernel.getContext(), {});
  for (LoadInst *load : loads)
    if (!isWritten(load->getPointerOperand(), kernel))
      load->setMetadata(LLVMContext::MD_invariant_load, nothing);
  // Only now: the casts would hide where a pointer comes from.
  for (LoadInst *load : loads) {
    auto *type = dyn_cast<PointerType>(load->getType());
    if (!type || type->getAddressSpace() == globalMemory)
      continue;
    IRBuilder<> b(load->getNextNode());
    auto *global = new AddrSpaceCastInst(load, b.getPtrTy(globalMemory), "", b.GetInsertPoint());
    auto *generic = new AddrSpaceCastInst(global, load->getType(), "", b.GetInsertPoint());
    load->replaceUsesWithIf(generic, [&](Use &use) { return use.getUser() != global; });
  }
}

void mlir::nb::describeDeviceMemory(Module &module) {
  for (Function &function : module)
    if ((function.getCallingConv() == CallingConv::PTX_Kernel ||
         function.getCallingConv() == CallingConv::AMDGPU_KERNEL) &&
        function.arg_size() >= layout::argumentsOnDevice)
      describe(function);
}
