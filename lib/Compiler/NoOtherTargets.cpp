// lld asks for all of LLVM's targets, to compile what link-time optimization left over. Here it
// links objects, so that targets for which no code is generated are none, and so are all parsers
// of assembly: what the linker finds here it does not take from LLVM's archives.

// The targets for which CodeGen.cpp generates code, and nothing else.
#define NB_OURS_AArch64 ,
#define NB_OURS_AMDGPU ,
#define NB_OURS_NVPTX ,
#define NB_OURS_SPIRV ,
#define NB_OURS_X86 ,

// NB_UNLESS_OURS(X86, text) is nothing, and with another target the text.
#define NB_SECOND(first, second, ...) second
#define NB_EXPAND_AND_TAKE_SECOND(...) NB_SECOND(__VA_ARGS__, )
#define NB_UNLESS_OURS(target, ...) NB_EXPAND_AND_TAKE_SECOND(NB_OURS_##target, __VA_ARGS__)

#define NB_NONE(target, part)                                                                      \
  void LLVMInitialize##target##part() {}

extern "C" {
#define LLVM_TARGET(target)                                                                        \
  NB_UNLESS_OURS(target,                                                                           \
                 NB_NONE(target, TargetInfo) NB_NONE(target, Target) NB_NONE(target, TargetMC))
#include "llvm/Config/Targets.def"

#define LLVM_ASM_PRINTER(target) NB_UNLESS_OURS(target, NB_NONE(target, AsmPrinter))
#include "llvm/Config/AsmPrinters.def"

#define LLVM_ASM_PARSER(target) NB_NONE(target, AsmParser)
#include "llvm/Config/AsmParsers.def"
}
