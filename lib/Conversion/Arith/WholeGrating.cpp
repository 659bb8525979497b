#include "lib/Conversion/Arith/WholeGrating.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"

#include <cmath>

using namespace mlir;
using namespace mlir::nb;

/// sin(N theta) / sin(theta) from 2 cos(theta). An even N is twice half of it,
///   sin(2 m theta) / sin(theta) = 2 cos(theta) sin(m 2 theta) / sin(2 theta),
/// an odd one follows from those below it,
///   U_2j = 2 cos(2 theta) U_2j-2 - U_2j-4,
/// which keeps what rounding does to a cosine from growing as it does in powers of a cosine.
static Value fromTwiceCosine(int64_t cells, Value twice, Arithmetic &a) {
  Value one = a.constant(twice.getType(), 1);
  if (cells == 1)
    return one;
  if (cells == 2)
    return twice;
  Value doubled = a.sub(a.mul(twice, twice), 2);
  if (cells % 2 == 0)
    return a.mul(twice, fromTwiceCosine(cells / 2, doubled, a));
  Value before = one, last = a.add(doubled, 1);
  for (int64_t n = 3; n < cells; n += 2) {
    Value next = a.sub(a.mul(doubled, last), before);
    before = last;
    last = next;
  }
  return last;
}

/// Operations of fromTwiceCosine.
static int64_t countOperations(int64_t cells) {
  if (cells <= 2)
    return 0;
  return cells % 2 == 0 ? 2 + countOperations(cells / 2) : 1 + (cells - 1) / 2;
}

std::optional<int64_t> nb::knownCells(Value cells) {
  while (auto broadcast = cells.getDefiningOp<vector::BroadcastOp>())
    cells = broadcast.getSource();
  Attribute constant;
  if (!matchPattern(cells, m_Constant(&constant)))
    return std::nullopt;
  if (auto splat = dyn_cast<SplatElementsAttr>(constant))
    constant = splat.getSplatValue<Attribute>();
  auto value = dyn_cast<FloatAttr>(constant);
  if (!value)
    return std::nullopt;
  double number = value.getValueAsDouble();
  if (number != std::floor(number) || number < 1 || number > 1e6)
    return std::nullopt;
  return int64_t(number);
}

bool nb::isPolynomialBetter(int64_t cells, Type type) {
  // Where the quotient is as fast as that many steps in addition to the cosine.
  constexpr int64_t quotient = 14;
  bool wide = getElementTypeOrSelf(type).isF64();
  int64_t mostAccurate = wide ? 1000 : 8;
  return cells <= mostAccurate && countOperations(cells) < quotient;
}

Value nb::lowerWholeGrating(int64_t cells, Value x, Arithmetic &a) {
  return fromTwiceCosine(cells, a.twiceCosPi(x), a);
}
