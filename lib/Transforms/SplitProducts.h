// Values as products.
#ifndef NB_TRANSFORMS_SPLITPRODUCTS_H
#define NB_TRANSFORMS_SPLITPRODUCTS_H

#include "dialect/NB.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/DenseMap.h"

namespace mlir::nb {

/// A value as `rest` times numbers that do not change in a sum.
struct Product {
  Value rest; ///< null where the value is a number and nothing in it changes
  SmallVector<Value, 2> factors = {};
  double constant = 1;

  bool isTrivial() const { return factors.empty() && constant == 1; }
};

/// Finds the factors of values in a sum's body that do not change in it: factors of products, of
/// what is linear in such a product, and of sums whose terms all have them.
class ProductSplitter {
public:
  explicit ProductSplitter(SumOp sum) : sum(sum) {}

  /// The value as a product. The ops that compute the rest stand in the body beside the old ones.
  const Product &split(Value value);

private:
  Product find(Value value);
  Product ofScalarProduct(Operation *op);
  Product ofIntensity(IntensityOp op);
  Product ofLinear(Operation *op);
  Product ofTerms(Operation *op);

  SumOp sum;
  llvm::DenseMap<Value, Product> known;
};

/// `value` times the factors, which are multiplied first, from the outermost on: several values
/// have the same product, and some of it may leave loops further out.
Value multiply(Value value, const Product &factors, OpBuilder &builder);

} // namespace mlir::nb

#endif
