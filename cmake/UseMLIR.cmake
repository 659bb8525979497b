# MLIR, LLVM and lld.

find_package(MLIR REQUIRED CONFIG HINTS /usr/lib/llvm-22/lib/cmake/mlir)
if(NOT LLVM_VERSION_MAJOR EQUAL 22)
  message(FATAL_ERROR "NanoBragg needs MLIR 22, found ${LLVM_VERSION} in ${MLIR_DIR}")
endif()
# MLIRConfig does not say that only the dylib may be linked; static MLIR beside it in one program or
# library registers command-line options twice. libnb-compiler.so has archives alone.
set(MLIR_LINK_MLIR_DYLIB ON)
list(APPEND CMAKE_MODULE_PATH ${MLIR_CMAKE_DIR} ${LLVM_CMAKE_DIR})
include(TableGen)
include(AddLLVM)
include(AddMLIR)
# The archives themselves: LLDConfig would link the static LLVM beside the dylib.
find_library(LLD_ELF lldELF HINTS ${LLVM_LIBRARY_DIRS} REQUIRED)
find_library(LLD_COMMON lldCommon HINTS ${LLVM_LIBRARY_DIRS} REQUIRED)
