// Nb to arith, scf, memref, llvm -----------*- tablegen -*.
#ifndef NB_CONVERSION_PASSES
#define NB_CONVERSION_PASSES

include "mlir/Pass/PassBase.td"

def ConvertNBToLoops : Pass<"convert-nb-to-loops"> {
  let summary = "lower images, sums and tables to scf loops over memref";
  let description = [{
    `nb.image` becomes loops over panels, rows and (groups of) pixels that store into a memref,
    `nb.sum` and `nb.first` become loops with carried values, `nb.tabulate` becomes loops that fill
    a memref, `nb.lookup` loads from it. Tables are one-dimensional memrefs of scalars, the
    components of an entry next to each other.

    What an image sums over its pixels, and every sum of tables or grids, is memory: an
    `nb.scatter` that is yielded becomes a load, an addition and a store, in the loop that it stands
    in and through any number of sums around it, without copies. With lanes each number is a vector
    of partial sums, which are added up after the loops; a lane that is not a pixel to be rendered adds
    nothing. Memory marked `nb.accumulator` has to be zero ahead of the loops.

    With `warp` above 0, pixels are computed at the same time and add to that memory by
    `memref.atomic_rmw`, for `nb-to-gpu`. Those to grids, where each has places of its own to
    add to, are marked `nb.scattered`.

    A function with an image returns memory too: a number, vector or matrix is stored at its end.

    Example: `nb-opt --convert-nb-to-loops kernel.mlir`
  }];
  let options = [
    Option<"warp", "warp", "int64_t", "0",
           "threads that run in step on a GPU, where pixels are computed at the same time and add to "
           "sums by memref.atomic_rmw; 0: a processor's loops">
  ];
  let dependentDialects = ["::mlir::nb::NBDialect", "::mlir::arith::ArithDialect",
                           "::mlir::math::MathDialect", "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"];
  let statistics = [
    Statistic<"loops", "loops", "images and sums that became loops">,
    Statistic<"tables", "tables", "tables that became memory">
  ];
}

def ConvertNBToArith : Pass<"convert-nb-to-arith"> {
  let summary = "lower physics and geometry to arithmetic";
  let description = [{
    Lowers every geometry and diffraction op to arith, math and vector ops on scalars or lanes.
    Trigonometric functions and exponentials become polynomials (of the argument in half turns for
    sin and cos), so that the kernel of an experiment calls no math library. Grid lookups become
    loads from a memref, gathers for lanes. Reciprocal square roots of lanes are approximated and
    refined; with `estimates` the approximation is the instruction that AVX-512 has for it, 2^-14
    off, and so it is for the quotient of a lattice factor. Functions of the math dialect are treated
    so where their fast-math flags have `afn`, and are otherwise those of the math library. No flag
    but `contract` is left.

    Example: `nb-opt --convert-nb-to-arith kernel.mlir`
  }];
  let options = [Option<"estimates", "estimates", "bool", /*default=*/"false",
                        "the target has AVX-512's estimates of reciprocals">];
  let dependentDialects = ["::mlir::nb::NBDialect", "::mlir::LLVM::LLVMDialect",
                           "::mlir::arith::ArithDialect", "::mlir::math::MathDialect",
                           "::mlir::memref::MemRefDialect", "::mlir::vector::VectorDialect",
                           "::mlir::scf::SCFDialect"];
  let statistics = [
    Statistic<"converted", "converted", "ops of the nb dialect that became arithmetic">
  ];
}

def OutlineKernel : Pass<"nb-outline-kernel", "::mlir::ModuleOp"> {
  let summary = "split an image function into the entry points of a kernel";
  let description = [{
    Replaces each function that holds one image loop nest (after `convert-nb-to-loops` and
    `convert-nb-to-arith`) by the entry points of the kernel ABI: `NAME_workspace_size`,
    `NAME_prepare`, which computes all that stands before the nest and saves what is used later
    into a workspace, and `NAME_run_tile`, which runs the nest on one panel's range of rows. The
    loops of the nest keep their names, `nb.loop`, for `nb-to-gpu`.
    Arguments arrive as an array of pointers, in the order of the function's arguments, and so do
    the places for its results.

    If the function returns anything but images, there are also `NAME_accumulator_size`,
    `NAME_finish`, which adds up the accumulators that the tiles were summed into, runs what stands
    behind the nest and writes the results, and `NAME_output_sizes`.

    Entry points that an earlier run made stay as they are. A function without an image keeps its
    name; its arguments of nb types become the scalars and buffers of `nb.parts`.

    Example: `nb-opt --nb-outline-kernel kernel.mlir`
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::arith::ArithDialect",
                           "::mlir::memref::MemRefDialect", "::mlir::func::FuncDialect"];
  let statistics = [
    Statistic<"outlined", "outlined", "functions that became kernels">
  ];
}

def NBToGPU : Pass<"nb-to-gpu", "::mlir::ModuleOp"> {
  let summary = "run the pixels of a kernel's tile as threads of one gpu.launch";
  let description = [{
    In each `NAME_run_tile` of `nb-outline-kernel`, the loops over panels, rows and pixels become one
    `gpu.launch` whose kernel is called `NAME`. Blocks have `threads` threads. The rows of the tile are
    split into chunks of as many neighbouring pixels: neighbouring threads store to neighbouring
    places. Block b of B renders the chunks b, b + B, b + 2B, ..., so that any number of blocks
    renders the tile. Whatever is summed for a pixel stays a loop of its thread. Threads
    outside the region of interest store 0 and end, those beyond the row do nothing.

    The kernel takes the first five pointers of `run_tile`: arguments, workspace, tile, outputs,
    accumulators. What the loops need of them is loaded inside, so that all of it may lie in the
    memory of a device. The program has to be without lanes (no `nb-vectorize`).

    If there are sums over pixels (made by `convert-nb-to-loops` with `warp`), each warp
    has an accumulator of its own: warp w the one at `accumulators + w * NAME_accumulator_size`.
    `memref.atomic_rmw` adds to it, at a place that is the same for all pixels; threads of the
    warp that have no pixel compute the nearest one and add 0. Only what is marked `nb.scattered`, a
    value of a grid, may be at another place for each pixel. A second launch, `NAME_reduce`
    (accumulators, number of warps, doubles of an accumulator), has a block of one warp for each
    double, which adds up all accumulators in the first and clears the others.

    Where samples without light are left out (`nb-cull`), a warp renders a block of as many lit
    pixels as it has threads, and all its threads run over the same lists.

    Example: `nb-opt --nb-to-gpu=threads=256 outlined.mlir`
  }];
  let options = [
    Option<"threads", "threads", "int64_t", "128", "threads of a block, whole warps">,
    Option<"warp", "warp", "int64_t", "32", "threads that run in step">
  ];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::arith::ArithDialect",
                           "::mlir::gpu::GPUDialect", "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect"];
  let statistics = [
    Statistic<"launched", "launched", "kernels whose pixels became threads">
  ];
}

def GPUToLoops : Pass<"nb-gpu-to-loops", "::mlir::ModuleOp"> {
  let summary = "run a gpu.launch as loops over its blocks and threads";
  let description = [{
    Runs a GPU's program on the CPU: the body of each `gpu.launch` stands in loops over all blocks
    and, within, all threads; `memref.atomic_rmw addf` becomes a load, an addition and a store. Threads must not
    wait for each other; one with a barrier, with memory of its own kind or with asynchronous
    dependencies is an error.

    `NAME_accumulator_size` makes room for the accumulators of all warps that `nb-to-gpu` launches.

    Example: `nb-opt --nb-to-gpu --nb-gpu-to-loops outlined.mlir`
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect"];
  let statistics = [
    Statistic<"lowered", "lowered", "launches that became loops">
  ];
}

def EraseLaunches : Pass<"nb-erase-launches", "::mlir::ModuleOp"> {
  let summary = "keep what a GPU's kernel needs on the host";
  let description = [{
    Erases each function with a `gpu.launch`, that is each `NAME_run_tile` after `nb-to-gpu`. What is left
    runs on the host: `NAME_prepare`, `NAME_finish`, and the sizes of memory.

    Example: `nb-opt --nb-to-gpu --nb-erase-launches outlined.mlir`
  }];
  let statistics = [
    Statistic<"erased", "erased", "functions that were erased">
  ];
}

def SumOverWarps : Pass<"nb-sum-over-warps", "::mlir::ModuleOp"> {
  let summary = "add what all threads of a warp add to one place in one addition";
  let description = [{
    In each `gpu.launch`, the `memref.atomic_rmw addf` of a block of ops become a sum over the 32
    threads of a warp, in a fixed order, and one load, addition and store. All threads of the warp
    have to run them, at the same places, and no other warp may add to these places. Then no atomic
    operation is needed, and the result is the same every time. What is marked `nb.scattered` goes
    to other places and stays an atomic addition of each thread.

    Up to 32 numbers are summed together, in five steps. In each a thread gives half of its numbers
    to a partner, takes the partner's part of the other half, and adds. At the end each number is in
    one thread, which adds it to memory. Nine numbers take 12 exchanges instead of 45.

    Example: `nb-opt --nb-to-gpu --nb-sum-over-warps outlined.mlir`
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::gpu::GPUDialect",
                           "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect"];
  let statistics = [
    Statistic<"ofThreads", "of-threads", "additions of single threads that are gone">,
    Statistic<"ofWarps", "of-warps", "additions of warps in their place">
  ];
}

def RelieveRegisters : Pass<"nb-relieve-registers", "::mlir::ModuleOp"> {
  let summary = "load values in the loops of a gpu.launch that use them";
  let description = [{
    A thread has few registers, and a value that an outer loop needs occupies one while the inner
    loops run. In each `gpu.launch`:

    * Values that come from constants and from loads through the kernel's pointers (whose memory is
      never written) are loaded again in the body of each loop that uses them, ahead of the
      innermost loops. Later passes, and ptxas, may move them. To keep them inside the outermost
      loop, over chunks of pixels, the sign of the chunk's number, which is 0, is added to the
      addresses.
    * Loops count in 32 bits.

    Example: `nb-opt --nb-to-gpu --nb-relieve-registers outlined.mlir`
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::arith::ArithDialect",
                           "::mlir::scf::SCFDialect"];
  let statistics = [
    Statistic<"reloaded", "reloaded", "uses that load or compute anew">
  ];
}

def GPUToNVVM : Pass<"nb-gpu-to-nvvm", "::mlir::gpu::GPUModuleOp"> {
  let summary = "lower a GPU's kernel to the NVVM dialect, without a math library";
  let description = [{
    As `convert-gpu-to-nvvm`, except that rounding and absolute values become instructions of the
    GPU and not calls of libdevice, which a kernel would have to be linked with. Quotients and square
    roots are made of the GPU's approximate instructions: in f64 they are correct to 1 ulp where
    the divisor or radicand is a normal number (denormal divisors count as 0); in f32 they are good to 2 ulp.
    The exact instructions would branch on data and call subroutines. Loops have to be
    branches (`convert-scf-to-cf`) by then.

    With `blocks`, kernels say that a multiprocessor should hold as many blocks at a time
    (`nvvm.minctasm`), which limits the registers of a thread: with 128 threads, 8 blocks leave 64 and
    5 blocks 102. Without, the compiler chooses by the size of the kernel's loops.

    Example: `nb-opt --pass-pipeline="builtin.module(gpu.module(nb-gpu-to-nvvm))" kernel.mlir`
  }];
  let options = [
    Option<"blocks", "blocks", "int64_t", "0",
           "blocks that a multiprocessor should hold at a time; 0: by the size of the loops">
  ];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::NVVM::NVVMDialect"];
  let statistics = [
    Statistic<"converted", "converted", "ops that became those of LLVM and NVIDIA">
  ];
}

def GPUToROCDL : Pass<"nb-gpu-to-rocdl", "::mlir::gpu::GPUModuleOp"> {
  let summary = "lower a GPU's kernel to the ROCDL dialect, without a math library";
  let description = [{
    As `convert-gpu-to-rocdl`, with arithmetic and branches, and:

    * Nothing of ROCm's device libraries is called. The size of the grid comes from the arguments
      that the runtime adds to those of a kernel.
    * All pointers are to global memory (address space 1), as those that a kernel takes and finds
      in what they point to are. A kernel with memory of its own (`llvm.alloca`) is an error.
    * A number to which other threads add (`nb.scattered`) is in memory of the device, where an
      addition needs no loop.

    Loops have to be branches (`convert-scf-to-cf`) by then.

    Example: `nb-opt --pass-pipeline="builtin.module(gpu.module(nb-gpu-to-rocdl{chip=gfx942}))" kernel.mlir`
  }];
  let options = [
    Option<"chip", "chip", "std::string", "\"gfx942\"", "AMD's chip">
  ];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::ROCDL::ROCDLDialect"];
  let statistics = [
    Statistic<"converted", "converted", "modules that became ops of LLVM and AMD">
  ];
}

def GPUToSPIRV : Pass<"nb-gpu-to-spirv", "::mlir::gpu::GPUModuleOp"> {
  let summary = "lower a GPU's kernel to the LLVM dialect, for OpenCL's SPIR-V";
  let description = [{
    As `convert-gpu-to-llvm-spv`, with arithmetic and branches, and:

    * All pointers are to global memory (address space 1), as those that a kernel takes and finds
      in what they point to are. A kernel with memory of its own (`llvm.alloca`) is an error.
    * A kernel has sub-groups of `warp` threads, which exchange numbers in sums over pixels.
    * An addition to a number that other threads add to (`nb.scattered`) compares and exchanges
      its 64 bits until it succeeds: few devices add f64 in one step.

    Loops have to be branches (`convert-scf-to-cf`) by then.

    Example: `nb-opt --pass-pipeline="builtin.module(gpu.module(nb-gpu-to-spirv))" kernel.mlir`
  }];
  let options = [
    Option<"warp", "warp", "int64_t", "32", "threads that run in step">
  ];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
  let statistics = [
    Statistic<"expanded", "expanded", "additions that compare and exchange">
  ];
}

#endif
