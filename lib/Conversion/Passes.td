// Nb to arith, scf, memref, llvm -----------*- tablegen -*.
#ifndef NB_CONVERSION_PASSES
#define NB_CONVERSION_PASSES

include "mlir/Pass/PassBase.td"

def ConvertNBToLoops : Pass<"convert-nb-to-loops"> {
  let summary = "lower images, sums and tables to scf loops over memref";
  let description = [{
    `nb.image` becomes loops over panels, rows and pixels, or groups of pixels, that store into a
    memref. `nb.sum` and `nb.first` become loops with carried values. `nb.tabulate` becomes loops
    that fill a memref, and `nb.lookup` a load from it. Tables are one-dimensional memrefs of
    scalars, in which the components of an entry are adjacent.

    Sums over the pixels of an image, and all sums of tables or grids, are in memory. A yielded
    `nb.scatter` becomes a load, an addition and a store in its loop, without copies. With lanes,
    each number is a vector of partial sums, which are added after the loops; lanes of pixels that
    are not rendered add nothing. Memory marked `nb.accumulator` must be zero before the loops.

    With `warp` above 0, pixels are computed concurrently and add to that memory by
    `memref.atomic_rmw`, for `nb-to-gpu`. Additions to grids, at a different address for each pixel,
    are marked `nb.scattered`.

    In a function with an image, other results (numbers, vectors, matrices) are stored in memory,
    too.

    Example: `nb-opt --convert-nb-to-loops kernel.mlir`
  }];
  let options = [
    Option<"warp", "warp", "int64_t", "0",
           "threads of a warp on a GPU, where pixels are computed concurrently and add to sums by "
           "memref.atomic_rmw; 0: a processor's loops">
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
    Trigonometric functions and exponentials become polynomials (for sin and cos, of the argument in
    half turns), so that the kernel of an experiment calls no math library. Grid lookups become
    loads from a memref, or gathers for lanes. Reciprocal square roots of lanes are approximated and
    refined. With `estimates`, AVX-512's instructions make this approximation (relative error
    2^-14), and that of the reciprocal in the quotient of a lattice factor. Ops of the math dialect
    are lowered in the same way if their fast-math flags contain `afn`; otherwise they become calls
    of the math library. Of the fast-math flags only `contract` is kept.

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
    Splits each function that contains an image loop nest (after `convert-nb-to-loops` and
    `convert-nb-to-arith`) into the entry points of the kernel ABI. `NAME_workspace_size` returns
    the size of the workspace. `NAME_prepare` contains all code before the nest, and saves the
    values that are used later in the workspace. `NAME_run_tile` runs the nest on a range of rows of
    one panel. The loops of the nest keep their names, `nb.loop`, for `nb-to-gpu`. Arguments are
    passed as an array of pointers, in the order of the function's arguments, and so are the
    addresses of the results.

    If the function has results other than images, there are three more. `NAME_accumulator_size`
    returns the size of an accumulator. `NAME_finish` adds up the accumulators of the tiles, runs
    the code after the nest and writes the results. `NAME_output_sizes` returns the sizes of the
    results.

    Entry points of an earlier run do not change. A function without an image keeps its name; its
    arguments of nb types become the scalars and buffers of `nb.parts`.

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
    In each `NAME_run_tile` of `nb-outline-kernel`, the loops over panels, rows and pixels become
    one `gpu.launch` whose kernel is called `NAME`. Blocks have `threads` threads. The rows of the
    tile are divided into chunks of `threads` neighbouring pixels, so that neighbouring threads
    store to neighbouring addresses. Block b of B renders the chunks b, b + B, b + 2B, ..., so any
    number of blocks can render the tile. The sums of a pixel are loops of its thread. Threads
    outside the region of interest store 0 and end; threads beyond the end of the row do nothing.

    The kernel takes the first five pointers of `run_tile`: arguments, workspace, tile, outputs,
    accumulators. Values are loaded through them inside the kernel, so all data may be in the memory
    of a device. The program must not have lanes (no `nb-vectorize`).

    If there are sums over pixels (made by `convert-nb-to-loops` with `warp`), warp w adds to the
    accumulator at `accumulators + w * NAME_accumulator_size` by `memref.atomic_rmw`, at an address
    that is the same for all its pixels. Threads of the warp without a pixel compute the nearest one
    and add 0. Only additions marked `nb.scattered` (values of a grid) may have different addresses.
    A second launch, `NAME_reduce` (accumulators, number of warps, doubles of an accumulator), has a
    block of one warp for each double; it adds all accumulators to the first one and clears the
    others.

    If samples without light are skipped (`nb-cull`), a warp renders a block of neighbouring pixels,
    one for each thread, and all its threads run over the block's lists of samples.

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
    Runs a GPU's program on the CPU: the body of each `gpu.launch` becomes the body of loops over
    all blocks and all threads of a block, and `memref.atomic_rmw addf` becomes a load, an addition
    and a store. Threads must not wait for each other: barriers, shared or private memory of the
    launch and asynchronous dependencies are errors.

    `NAME_accumulator_size` includes the accumulators of all warps that `nb-to-gpu` launches.

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
    Erases each function with a `gpu.launch`, which is each `NAME_run_tile` after `nb-to-gpu`. The
    rest runs on the host: `NAME_prepare`, `NAME_finish`, and the functions that return sizes.

    Example: `nb-opt --nb-to-gpu --nb-erase-launches outlined.mlir`
  }];
  let statistics = [
    Statistic<"erased", "erased", "functions that were erased">
  ];
}

def SumOverWarps : Pass<"nb-sum-over-warps", "::mlir::ModuleOp"> {
  let summary = "combine the additions of a warp to one address";
  let description = [{
    Replaces the atomic additions (`memref.atomic_rmw addf`) in each `gpu.launch`. Numbers of the
    threads of a warp are summed in a fixed order, and one load, addition and store adds the sum to
    memory. All threads of the warp must execute the additions with the same addresses, and no other
    warp may add to these. Then no atomic operation is needed, and the result is reproducible.
    Additions marked `nb.scattered` have other addresses and stay atomic.

    Up to 32 numbers are summed together, in five steps. In each step a thread gives half of its
    numbers to a partner, takes the partner's part of the other half, and adds. At the end each
    number is in one thread, which adds it to memory. Nine numbers take 12 exchanges instead of 45.

    Example: `nb-opt --nb-to-gpu --nb-sum-over-warps outlined.mlir`
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::gpu::GPUDialect",
                           "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect"];
  let statistics = [
    Statistic<"ofThreads", "of-threads", "additions of single threads that were replaced">,
    Statistic<"ofWarps", "of-warps", "additions of warps that replaced them">
  ];
}

def RelieveRegisters : Pass<"nb-relieve-registers", "::mlir::ModuleOp"> {
  let summary = "load values in the loops of a gpu.launch that use them";
  let description = [{
    A thread has few registers, and a value of an outer loop occupies one while the inner loops run.
    In each `gpu.launch`:

    * Some values are computed only from constants and from loads of memory that is never written.
      They are loaded again in the body of each loop that uses them. Values that an innermost loop
      uses are loaded just before it. The sign bit of the chunk's number, which is always 0, is
      added to the addresses. This addition keeps later passes and ptxas from moving these loads out
      of the outermost loop, which is over chunks of pixels.
    * Loops count in 32 bits.

    Example: `nb-opt --nb-to-gpu --nb-relieve-registers outlined.mlir`
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::arith::ArithDialect",
                           "::mlir::scf::SCFDialect"];
  let statistics = [
    Statistic<"reloaded", "reloaded", "uses that load or compute again">
  ];
}

def GPUToNVVM : Pass<"nb-gpu-to-nvvm", "::mlir::gpu::GPUModuleOp"> {
  let summary = "lower a GPU's kernel to the NVVM dialect, without a math library";
  let description = [{
    As `convert-gpu-to-nvvm`, but a kernel need not be linked with libdevice: rounding and absolute
    values become instructions of the GPU. Quotients and square roots use the GPU's approximate
    instructions, since the exact ones branch on data and call subroutines. In f64 they are correct
    to 1 ulp if the divisor or radicand is a normal number (denormal divisors are treated as 0); in
    f32 they are correct to 2 ulp. Run `convert-scf-to-cf` before this pass.

    With `blocks`, kernels request that a multiprocessor holds at least that many blocks at a time
    (`nvvm.minctasm`). This limits the registers of a thread: for blocks of 128 threads, to 64 with
    8 blocks and to 102 with 5. By default, the number depends on the size of the kernel's loops.

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
    Like `convert-gpu-to-rocdl`, but arithmetic and branches are lowered as well. Moreover:

    * ROCm's device libraries are not called. The size of the grid comes from the arguments that the
      runtime adds to those of a kernel.
    * All pointers are to global memory (address space 1): those that a kernel takes, and those that
      it loads. A kernel that allocates memory (`llvm.alloca`) is an error.
    * Numbers to which several threads add (`nb.scattered`) are assumed to be in the device's own
      memory, where an addition is one instruction instead of a loop that compares and exchanges.

    Run `convert-scf-to-cf` before this pass.

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
    Like `convert-gpu-to-llvm-spv`, but arithmetic and branches are lowered as well. Moreover:

    * All pointers are to global memory (address space 1): those that a kernel takes, and those that
      it loads. A kernel that allocates memory (`llvm.alloca`) is an error.
    * A kernel has sub-groups of `warp` threads, which exchange numbers in sums over pixels.
    * An addition to a number to which several threads add (`nb.scattered`) compares and exchanges
      its 64 bits until it succeeds, since few devices add f64 in one step.

    Run `convert-scf-to-cf` before this pass.

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
