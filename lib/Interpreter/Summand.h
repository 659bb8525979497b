// The summands of nb.sum and nb.image.
#ifndef NB_INTERPRETER_SUMMAND_H
#define NB_INTERPRETER_SUMMAND_H

#include "lib/Interpreter/Planner.h"

namespace mlir::nb {

/// One result of a loop that is the sum of what the body yields for it: numbers as they are stored,
/// components one after the other, tables and grids dense. An image adds over its pixels. So does a
/// sum of tables inside an image, as nothing but that image can want it: one table for all pixels
/// of a tile.
class Summand {
public:
  /// The loop's body is planned. Defines the result; fails with a diagnostic.
  static FailureOr<Summand> plan(Operation *loop, Value yielded, Value result, Dimensions dims,
                                 Planner &planner);

  /// How many numbers the sum has.
  int64_t size(Frame &frame) const;
  /// Makes the result zero; returns its numbers.
  double *clear(Frame &frame) const;
  /// Adds what the body has just yielded.
  void add(Frame &frame, double *sum) const;

private:
  /// A size of a table.
  struct Extent {
    Slot slot;
    std::optional<int64_t> constant;
    int64_t get(Frame &frame) const { return constant ? *constant : *frame.integers(slot); }
  };

  /// A term of an nb.add of tables or grids; the one value that is yielded otherwise.
  struct Term {
    Slot value;
    bool varying = false;         ///< the value is one per pixel
    Operation *entry = nullptr;   ///< nb.scatter or nb.scatter_factor; null when the value is dense
    SmallVector<Slot, 2> indices; ///< where the entry is in a table
    Slot hkl;                     ///< where the entry is in a grid
  };

  LogicalResult planTable(Operation *loop, Operation *source, Planner &planner);
  LogicalResult planGrid(Operation *loop, Operation *source, Planner &planner);
  void planTerms(Value yielded, Planner &planner);

  void addNumbers(Frame &frame, const Term &term, double *sum) const;
  void addEntries(Frame &frame, const Term &term, double *sum) const;
  void addReflections(Frame &frame, const Term &term, double *sum) const;
  void addDense(Frame &frame, const Term &term, double *sum) const;
  /// The lanes to go over, and how often each counts.
  int64_t lanes(Frame &frame, const Term &term) const { return term.varying ? frame.lanes : 1; }
  double weight(Frame &frame, const Term &term) const {
    return overPixels && !term.varying ? double(frame.lanes) : 1;
  }

  Slot result;
  SmallVector<Term, 1> terms;
  bool overPixels = false; ///< the sum is over the pixels of a tile, too
  unsigned object = 0;     ///< ordinal of the table or grid that the result points to
  bool isTable = false, isGrid = false;
  int64_t components = 1;       ///< numbers in an entry
  SmallVector<Extent, 2> sizes; ///< the table's extents
  Slot like;                    ///< the grid with these bounds
};

} // namespace mlir::nb

#endif
