#include "lib/Compiler/CodeGen/ReplaceRounding.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"

using namespace llvm;

/// To the nearest whole number, halves to even: adding 2^52 (2^23) leaves no bits behind the point.
static Value *roundEven(IRBuilder<> &b, Value *x) {
  Type *type = x->getType();
  double limit = type->getScalarType()->isDoubleTy() ? 0x1p52 : 0x1p23;
  Value *rounder = ConstantFP::get(type, limit);
  Value *magnitude = b.CreateUnaryIntrinsic(Intrinsic::fabs, x);
  Value *whole = b.CreateFSub(b.CreateFAdd(magnitude, rounder), rounder);
  Value *withSign = b.CreateBinaryIntrinsic(Intrinsic::copysign, whole, x);
  // Larger numbers are whole, infinities and NaN stay what they are.
  return b.CreateSelect(b.CreateFCmpOLT(magnitude, rounder), withSign, x);
}

/// The same for numbers below 2^51 (2^22), the sign of 0 aside: two operations instead of ten.
static Value *roundSmall(IRBuilder<> &b, Value *x) {
  Type *type = x->getType();
  Value *rounder = ConstantFP::get(type, type->getScalarType()->isDoubleTy() ? 0x1.8p52 : 0x1.8p23);
  return b.CreateFSub(b.CreateFAdd(x, rounder), rounder);
}

static Value *replacement(IntrinsicInst *call) {
  IRBuilder<> b(call);
  b.setFastMathFlags(FastMathFlags());
  const bool small = call->hasApproxFunc();
  Value *x = call->getArgOperand(0), *near = small ? roundSmall(b, x) : roundEven(b, x);
  Type *type = x->getType();
  Value *one = ConstantFP::get(type, 1.0), *zero = ConstantFP::get(type, 0.0);
  switch (call->getIntrinsicID()) {
  case Intrinsic::ceil: {
    Value *up = b.CreateFAdd(near, b.CreateSelect(b.CreateFCmpOLT(near, x), one, zero));
    return small ? up : b.CreateBinaryIntrinsic(Intrinsic::copysign, up, x);
  }
  case Intrinsic::floor:
    return b.CreateFSub(near, b.CreateSelect(b.CreateFCmpOGT(near, x), one, zero));
  case Intrinsic::roundeven:
    return near;
  default:
    llvm_unreachable("it rounds in another way");
  }
}

void mlir::nb::replaceRounding(Module &module) {
  SmallVector<IntrinsicInst *> calls;
  for (Function &function : module)
    for (Instruction &instruction : instructions(function))
      if (auto *call = dyn_cast<IntrinsicInst>(&instruction))
        if (call->getIntrinsicID() == Intrinsic::ceil ||
            call->getIntrinsicID() == Intrinsic::floor ||
            call->getIntrinsicID() == Intrinsic::roundeven)
          calls.push_back(call);
  for (IntrinsicInst *call : calls) {
    call->replaceAllUsesWith(replacement(call));
    call->eraseFromParent();
  }
}
