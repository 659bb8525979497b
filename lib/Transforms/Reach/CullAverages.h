// Averages over reflections that the runtime lists.
#ifndef NB_TRANSFORMS_CULLAVERAGES_H
#define NB_TRANSFORMS_CULLAVERAGES_H

#include "dialect/NB.h"

#include <string>

namespace mlir::nb {

/// The only nb.reach ahead of the image that nb-close-averages has written; null: none.
ReachOp averageReachOf(ImageOp image);

/// The sums over reflections of the image, and those over beams around them, run over what is
/// listed. False, and why, where they cannot.
bool cullAverages(ImageOp image, ReachOp reach, Operation *&where, std::string &why);

} // namespace mlir::nb

#endif
