// The writer of where light can fall, for nb-cull and nb-close-averages.
#ifndef NB_TRANSFORMS_REACHWRITER_H
#define NB_TRANSFORMS_REACHWRITER_H

#include "dialect/NB.h"
#include "dialect/ReachFields.h"

#include "mlir/IR/Builders.h"

#include <string>
#include <utility>

namespace mlir::nb {

/// One dimension of a sum inside an image.
struct ImageLoop {
  mutable SumOp sum; // asking an op is not const in MLIR
  unsigned position;
  BlockArgument iv() const { return sum.getInductionVars()[position]; }
  Value count() const { return sum.getCounts()[position]; }
  Dimension dimension() const { return sum.getDimension(position); }
};

/// Writes an nb.reach and its tables ahead of an image, in f64.
class ReachWriter {
protected:
  explicit ReachWriter(ImageOp image) : image(image), b(image), loc(image.getLoc()) {}

  /// False; what stands in the way is kept.
  bool refuse(Operation *op, const Twine &reason) {
    where = op;
    why = reason.str();
    return false;
  }
  /// The loops of all sums from `op` up to the image, outer ones first. False where something else
  /// stands between them, or how often one runs depends on the pixel.
  bool findLoops(Operation *op, const char *what, SmallVectorImpl<ImageLoop> &loops);
  bool dependsOnPixel(Value value, ValueRange allowed);

  Value constant(double value);
  Value number(Value index);
  /// How often the loops run together.
  Value countOf(ArrayRef<ImageLoop> over);
  using Counts = SmallVector<std::pair<Value, Dimension>>;
  static Counts countsOf(ArrayRef<ImageLoop> over);
  /// A table of what `body` makes of the induction variables; of one entry where there are none.
  Value tabulate(Location at, Type type, Counts counts, function_ref<Value(ValueRange)> body);

  /// Pixels and the region of interest; blocks of one pixel until convert-nb-to-loops knows the
  /// lanes.
  ReachNumbers numbersOfImage();
  void addPlace(PixelPositionOp position, ReachTables &tables,
                function_ref<Value(Value)> tabulateOfPanels);

  ImageOp image;
  OpBuilder b;
  Location loc;
  Operation *where = nullptr;
  std::string why;
};

} // namespace mlir::nb

#endif
