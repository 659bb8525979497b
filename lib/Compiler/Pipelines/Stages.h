// The stages that pipelines are made of, in the order in which a kernel goes through them.
#ifndef NB_COMPILER_STAGES_H
#define NB_COMPILER_STAGES_H

#include "lib/Compiler/Pipelines/Pipeline.h"
#include "lib/Program/Derivative.h"
#include "lib/Program/FixedCount.h"
#include "nanobragg/Precision.h"

#include <string>

namespace mlir::nb {

/// A kernel's arithmetic.
struct ArithmeticOptions {
  nanobragg::Precision precision = nanobragg::Precision::F64;
  bool estimates = false; ///< the target has AVX-512's estimates of reciprocals
};

/// A chip of NVIDIA's.
struct ChipOptions {
  std::string chip = "sm_90", features = "+ptx78";
  int64_t blocks = 0; ///< that a multiprocessor should hold; 0: by the size of the loops
};

namespace stages {

//===----------------------------------------------------------------------===//
// On nb programs, which the interpreter can run after each pass
//===----------------------------------------------------------------------===//

/// "counts": these are compiled in.
void fixCounts(Pipeline &, llvm::ArrayRef<nanobragg::FixedCount> counts);
/// "simplify": for the interpreter. Probes stay, nothing moves.
void simplify(Pipeline &);
/// "average": averages over distributions in closed form.
void average(Pipeline &);
/// Averages that the program asks for in closed form are closed ahead of passes that do not: a
/// program of draws has but one of them then, and another image.
void averageFirst(Pipeline &passes, ModuleOp program);
/// "response": no probes; what follows the image is in its body, where it can be.
void fuseResponse(Pipeline &);
/// "hoist": what does not depend on a loop leaves it, into tables too.
void hoist(Pipeline &);
/// "branches": selects in place of branches.
void removeBranches(Pipeline &);
/// "differentiate": the program of the derivative, simplified.
void differentiate(Pipeline &, const nanobragg::Derivative &);
/// "hoist-derivative": the value and its derivative meet in the same sums, then their own
/// invariants leave.
void hoistDerivative(Pipeline &);
/// "fuse": one loop nest per image.
void fuse(Pipeline &);
/// "probe": for the interpreter, probes on what the patterns name, with commas between. Names of
/// ops have a dot, names of values have none.
void probe(Pipeline &, llvm::StringRef patterns);

//===----------------------------------------------------------------------===//
// From there to code
//===----------------------------------------------------------------------===//

/// "precision"
void setPrecision(Pipeline &, const ArithmeticOptions &);
/// "peel": lattice factors of the fraction of the Miller index.
void peel(Pipeline &);
/// "cull": samples without light are left out.
void cull(Pipeline &);
/// "lanes": `width` pixels at once.
void vectorize(Pipeline &, int64_t width);
/// "loops": above 0, `warp` is of a GPU, on which pixels are computed at the same time.
void lowerLoops(Pipeline &, int64_t warp);
/// "arith"
void lowerArithmetic(Pipeline &, const ArithmeticOptions &);
/// "outline": the kernel's entry points.
void outline(Pipeline &);
/// "gpu": one gpu.launch, of blocks of so many threads in warps of so many, renders a tile.
void launch(Pipeline &, int64_t threads, int64_t warp);
/// "grid": the launch as loops over its blocks and threads, for a processor.
void lowerGrid(Pipeline &);
/// "host": what a GPU's kernel needs on the host.
void keepHost(Pipeline &);
/// "llvm": the LLVM dialect.
void lowerToLLVM(Pipeline &);
/// "nvvm": a gpu.module in the NVVM dialect; what runs on the host is left as it is.
void lowerToNVVM(Pipeline &, const ChipOptions &);
/// "spirv": a gpu.module in the LLVM dialect, as OpenCL's SPIR-V is made of.
void lowerToSPIRV(Pipeline &, int64_t warp);
/// "rocdl": a gpu.module in the ROCDL dialect, for an AMD chip.
void lowerToROCDL(Pipeline &, StringRef chip);

} // namespace stages
} // namespace mlir::nb

#endif
