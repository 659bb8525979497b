// Loops over what is lit.
//
// In an image that nb-cull has marked, the loops over pixels and those of its marked sums run over
// the lists of nb_lit (KernelABI.h) that the runtime hands to each tile.
#ifndef NB_CONVERSION_LITLOOPS_H
#define NB_CONVERSION_LITLOOPS_H

#include "lib/Conversion/Loops/LoopNest.h"

#include <array>

namespace mlir::nb {

class LitLoops {
public:
  /// Makes the memory that stands for the lists, at the builder, ahead of the image.
  void create(OpBuilder &b, Location loc);

  /// Inside the loop over blocks: the row and the first pixel of the block.
  Value slowOf(OpBuilder &b, Location loc, Value block);
  Value fastOf(OpBuilder &b, Location loc, Value block);
  /// The first row that is not rendered.
  Value slowEnd(OpBuilder &b, Location loc);

  /// As buildNest, for a sum with names::lit.
  SmallVector<Value>
  buildNest(OpBuilder &b, Location loc, SumOp sum, SmallVector<Value> carried,
            SmallVector<Value> &ivs,
            function_ref<SmallVector<Value>(OpBuilder &, ValueRange ivs, ValueRange carried)> body);

private:
  enum List { Slow, Fast, OuterBegin, Outer, InnerBegin, Inner, Reflection, SlowEnd, Count };
  Value load(OpBuilder &b, Location loc, List list, Value position);
  SmallVector<Value>
  overList(OpBuilder &b, Location loc, ValueRange counts, List list, Value begin, Value end,
           SmallVector<Value> carried, SmallVector<Value> &ivs,
           function_ref<SmallVector<Value>(OpBuilder &, Value position, SmallVector<Value> carried)>
               body);

  std::array<Value, Count> lists;
  Value block; ///< the one at hand
  Value beam;  ///< position in the list of beams of the loop at hand; null outside of one
};

} // namespace mlir::nb

#endif
