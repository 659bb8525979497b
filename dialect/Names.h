// Names by which passes, code generation and the runtime find what another one made.
#ifndef NB_DIALECT_NAMES_H
#define NB_DIALECT_NAMES_H

#include "llvm/ADT/StringRef.h"

namespace mlir::nb::names {

//===----------------------------------------------------------------------===//
// Attributes, which NBDialect verifies (Attributes.cpp says where each may stand)
//===----------------------------------------------------------------------===//

/// The name of a function's argument or result, by which parameters are bound and outputs are
/// found.
inline constexpr llvm::StringLiteral name = "nb.name";
/// The unit of a function's argument or result, "m", "rad", "1", SI throughout.
inline constexpr llvm::StringLiteral unit = "nb.unit";
/// The count that nb-fix-counts compiled in for this argument of a function, as an index.
inline constexpr llvm::StringLiteral fixed = "nb.fixed";
/// Which loop of an image convert-nb-to-loops made: panel, slow or fast, as #nb.dim. A tile
/// restricts the loops over panels and rows, and threads of a GPU take the place of pixels.
inline constexpr llvm::StringLiteral loop = "nb.loop";
/// A memref.alloc into which an image's pixels are summed. It is zero ahead of the loops.
inline constexpr llvm::StringLiteral accumulator = "nb.accumulator";
/// A memref.atomic_rmw with which each pixel adds to another place.
inline constexpr llvm::StringLiteral scattered = "nb.scattered";
/// A memref.alloc of partial sums per lane, which mean nothing outside of the loop over a panel.
inline constexpr llvm::StringLiteral scratch = "nb.scratch";
/// The function that the entry point run_tile was made of, {arguments = [names], fixed = {names =
/// counts}, name = "image", results = [names], type = its type}. Names that it did not have are
/// empty; without counts that are compiled in there is no `fixed`.
inline constexpr llvm::StringLiteral kernel = "nb.kernel";
/// An arith.select of the index that a lookup reads: it takes 0 where the branch that the lookup
/// stood in is not taken, and where nothing uses the entry.
inline constexpr llvm::StringLiteral guard = "nb.guard";
/// How many threads of a gpu.launch run in step, where these are not 32.
inline constexpr llvm::StringLiteral warp = "nb.warp";
/// The tolerance of the samples that nb-cull may leave out of a function; 0: only those that are
/// zero in floating point.
inline constexpr llvm::StringLiteral cull = "nb.cull";
/// A unit attribute of a function: averages over distributions stay draws.
inline constexpr llvm::StringLiteral draws = "nb.draws";
/// A unit attribute of a function: its image is a table of reflections.
inline constexpr llvm::StringLiteral reflections = "nb.reflections";
/// On an image: only blocks of pixels with light are computed. On a sum in it: how each of its
/// dimensions runs, as an array of LitDimension (dialect/NB.h). On a loop in the place of rows: it
/// is over such blocks. On a load of an integer: it is from a list, which is never written.
inline constexpr llvm::StringLiteral lit = "nb.lit";
/// Which list of nb_lit (KernelABI.h) a memref.alloc of i32 or i64 stands for, as a number.
inline constexpr llvm::StringLiteral litList = "nb.lit_list";

//===----------------------------------------------------------------------===//
// Entry points of a kernel: the function's name and one of these
//===----------------------------------------------------------------------===//

inline constexpr llvm::StringLiteral workspaceSize = "_workspace_size";
inline constexpr llvm::StringLiteral prepare = "_prepare";
inline constexpr llvm::StringLiteral runTile = "_run_tile";
inline constexpr llvm::StringLiteral accumulatorSize = "_accumulator_size";
inline constexpr llvm::StringLiteral scratchSize = "_scratch_size";
inline constexpr llvm::StringLiteral finish = "_finish";
inline constexpr llvm::StringLiteral outputSizes = "_output_sizes";
inline constexpr llvm::StringLiteral reach = "_reach";
/// On a GPU, where what renders has the function's name: adds up the accumulators of all warps.
inline constexpr llvm::StringLiteral reduce = "_reduce";

} // namespace mlir::nb::names

#endif
