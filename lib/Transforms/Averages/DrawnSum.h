// A sum over draws whose body is linear in the square of one Gaussian lattice factor.
#ifndef NB_TRANSFORMS_DRAWNSUM_H
#define NB_TRANSFORMS_DRAWNSUM_H

#include "lib/Transforms/Reach/AverageReach.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"

#include <string>

namespace mlir::nb {

/// The argument of this name; null where there is none.
Value argumentNamed(func::FuncOp func, StringRef name);

/// The proof that averages over the draws can be written down, and the parts of the body that the
/// average is written with. The builder's ops go ahead of the sum, or where beginOuter() left it.
class DrawnSum {
public:
  DrawnSum(SumOp sum, func::FuncOp func) : b(sum), sum(sum), func(func) {}

  /// False where there is no closed form, saying at `where` why.
  bool decide();
  std::string why;
  Operation *where = nullptr;

  ArrayRef<Variable> normals() const { return normal; }
  ArrayRef<Variable> uniforms() const { return uniform; }
  MillerIndexOp millerIndex() const { return index; }
  /// The sums of what is averaged and something else.
  ArrayRef<Operation *> additions() const { return added.getArrayRef(); }
  AveragedSum average() const { return {sum, deviates, normal, uniform, factor, index}; }

  /// A sum of as many numbers over the other dimensions, into whose body the builder is put.
  SumOp beginOuter(unsigned results);
  /// The covariance of the squared lattice factor and its value in the middle of a reflection,
  /// which do not change from draw to draw.
  struct Crystal {
    Symmetric shape;
    Value peak;
  };
  FailureOr<Crystal> crystal(RuleBuilder &r);
  /// The Miller index at a point of what is averaged, as the distance, and how it moves there; and
  /// the same of another value of the body, where that is asked for.
  struct Linear {
    LinearSpot spot;
    Value other;
    SmallVector<Value> otherByNormals; ///< null is 0
  };
  FailureOr<Linear> linearAt(const SpotPoint &point, RuleBuilder &r, Value other = {});
  /// The Miller index at a point.
  FailureOr<Value> indexAt(const SpotPoint &point, RuleBuilder &r);
  /// The body at the middle of all distributions, with the average in place of the squared factor
  /// and the reflection in place of the nearest; the value that it yields. Without an average, what
  /// is added to it. `instead`: values that are others in it, from out- or inside of it.
  Value bodyWith(Value average, Value reflection, RuleBuilder &r,
                 ArrayRef<std::pair<Value, Value>> instead = {});
  /// A value of the body at the middle of all distributions.
  Value valueWith(Value value, RuleBuilder &r, ArrayRef<std::pair<Value, Value>> instead);
  /// The number of draws, by which a term in the place of their sum is multiplied.
  Value draws(RuleBuilder &r);

  OpBuilder b;

private:
  bool refuse(Operation *op, const Twine &reason) {
    where = op;
    why = reason.str();
    return false;
  }
  bool findVariables();
  bool findFactor();
  bool isLinearIn(Value squared);
  bool hasNoProductOfTwo();
  /// Values of all deviates from values of the variables; null ones are 0.
  SmallVector<Value> deviatesAt(const SpotPoint &point, RuleBuilder &r);

  SumOp sum;
  func::FuncOp func;
  SmallVector<DeviateOp> deviates;
  SmallVector<Variable> normal, uniform;
  LatticeFactorOp factor;
  MillerIndexOp index;
  SmallVector<Operation *> squares;           ///< products in which the factor is squared
  llvm::SmallSetVector<Operation *, 4> added; ///< sums of what is averaged and something else
  DenseSet<Value> averaged;                   ///< the values linear in the squared factor
  IRMapping outside;                          ///< the other dimensions
};

} // namespace mlir::nb

#endif
