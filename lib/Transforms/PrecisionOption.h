// The precision of a kernel as an option of passes and pipelines.
#ifndef NB_TRANSFORMS_PRECISIONOPTION_H
#define NB_TRANSFORMS_PRECISIONOPTION_H

#include "nanobragg/Precision.h"

#include "llvm/Support/CommandLine.h"

namespace mlir::nb {

inline llvm::cl::ValuesClass precisionValues() {
  using nanobragg::Precision;
  return llvm::cl::values(clEnumValN(Precision::F64, "f64", "all in f64"),
                          clEnumValN(Precision::Mixed, "mixed", "amplitudes in f32"),
                          clEnumValN(Precision::F32, "f32", "images in f32"));
}

} // namespace mlir::nb

#endif
