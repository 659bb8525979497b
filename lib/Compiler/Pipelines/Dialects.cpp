#include "lib/Compiler/Pipelines/Dialects.h"

#include "lib/Compiler/Pipelines/Registration.h"
#include "lib/Frontend/Frontend.h"
#include "lib/Interpreter/Interpreter.h"

#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/GPU/GPUToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/ROCDL/ROCDLToLLVMIRTranslation.h"

void mlir::nb::registerCompilerDialects(DialectRegistry &registry) {
  // A program from a file, a pass of MLIR's or a schedule may have ops of any dialect.
  mlir::registerAllDialects(registry);
  registerAllExtensions(registry);
  nb::registerAllDialects(registry);
  registerBuiltinDialectTranslation(registry);
  registerGPUDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  registerNVVMDialectTranslation(registry);
  registerROCDLDialectTranslation(registry);
}

void mlir::nb::loadForInterpreter(MLIRContext &context) {
  DialectRegistry registry;
  registerCompilerDialects(registry);
  registerInterpreter(registry);
  context.appendDialectRegistry(registry);
  loadFrontendDialects(context);
}
