#include "lib/Transforms/Reach/CullSupport.h"

#include "dialect/CrystalShapes.h"
#include "lib/Transforms/Invariants.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"

#include <cmath>
#include <map>

using namespace mlir;
using namespace mlir::nb;
using nanobragg::CulledProgram;
using nanobragg::SpotProfile;
namespace bounds = nanobragg::bounds;

namespace {
/// A polynomial in the three components of one vector, by the powers of these. A null coefficient
/// is 1.
using Powers = std::array<int, 3>;
using Polynomial = std::map<Powers, Value>;

/// Reads a value inside an image as a polynomial in the fraction of a Miller index, with
/// coefficients that are known ahead of the image.
class FormReader {
public:
  FormReader(Operation *image, RuleBuilder &r) : image(image), r(r) {}
  std::optional<Polynomial> read(Value value);
  /// The coefficients of xx, yy, zz, xy, xz, yz where `value` is a quadratic form and nothing else;
  /// a null one is 0.
  std::optional<SmallVector<Value, 6>> readForm(Value value);
  Value fraction; ///< everything read is a polynomial in it; null: none has been met

private:
  std::optional<Polynomial> product(const Polynomial &x, const Polynomial &y);
  Polynomial sum(Polynomial x, const Polynomial &y, bool subtract);
  Value number(Value coefficient) {
    return coefficient ? coefficient : r.constant(r.builder().getF64Type(), 1);
  }

  Operation *image;
  RuleBuilder &r;
};
} // namespace

std::optional<Polynomial> FormReader::product(const Polynomial &x, const Polynomial &y) {
  Polynomial result;
  for (auto &[p, a] : x)
    for (auto &[q, b] : y) {
      Powers powers{p[0] + q[0], p[1] + q[1], p[2] + q[2]};
      if (powers[0] + powers[1] + powers[2] > 2)
        return std::nullopt;
      Value term = !a ? b : !b ? a : r.mul(a, b);
      auto [place, first] = result.try_emplace(powers, term);
      if (!first)
        place->second = r.add(number(place->second), number(term));
    }
  return result;
}

Polynomial FormReader::sum(Polynomial x, const Polynomial &y, bool subtract) {
  for (auto &[powers, b] : y) {
    Value term = subtract ? r.neg(number(b)) : b;
    auto [place, first] = x.try_emplace(powers, term);
    if (!first)
      place->second = r.add(number(place->second), number(term));
  }
  return x;
}

std::optional<Polynomial> FormReader::read(Value value) {
  if (!isDefinedIn(value, image)) {
    if (!value.getType().isF64())
      return std::nullopt;
    return Polynomial{{Powers{0, 0, 0}, value}};
  }
  Operation *op = value.getDefiningOp();
  if (!op)
    return std::nullopt;
  if (auto component = dyn_cast<ComponentOp>(op)) {
    auto difference = component.getVector().getDefiningOp<SubOp>();
    if (!difference || !difference.getRhs().getDefiningOp<NearestMillerIndexOp>() ||
        (fraction && fraction != difference.getResult()))
      return std::nullopt;
    fraction = difference;
    Powers powers{};
    powers[component.getIndex()] = 1;
    return Polynomial{{powers, Value()}};
  }
  if (matchPattern(op, m_Constant()) && value.getType().isF64())
    return Polynomial{{Powers{0, 0, 0}, r.builder().clone(*op)->getResult(0)}};
  if (!isa<arith::MulFOp, arith::AddFOp, arith::SubFOp, arith::NegFOp>(op))
    return std::nullopt;
  auto x = read(op->getOperand(0));
  if (!x)
    return std::nullopt;
  if (isa<arith::NegFOp>(op))
    return sum({}, *x, /*subtract=*/true);
  auto y = read(op->getOperand(1));
  if (!y)
    return std::nullopt;
  if (isa<arith::MulFOp>(op))
    return product(*x, *y);
  return sum(*x, *y, isa<arith::SubFOp>(op));
}

std::optional<SmallVector<Value, 6>> FormReader::readForm(Value value) {
  auto polynomial = read(value);
  if (!polynomial || !fraction)
    return std::nullopt;
  constexpr Powers order[] = {{2, 0, 0}, {0, 2, 0}, {0, 0, 2}, {1, 1, 0}, {1, 0, 1}, {0, 1, 1}};
  SmallVector<Value, 6> form(6);
  size_t found = 0;
  for (auto [i, powers] : llvm::enumerate(order))
    if (auto term = polynomial->find(powers); term != polynomial->end()) {
      form[i] = number(term->second);
      ++found;
    }
  if (found != polynomial->size())
    return std::nullopt; // other powers too
  return form;
}

/// The nb.miller_index whose fraction this is, or null.
static Value indexOfFraction(Value fraction) {
  auto difference = fraction.getDefiningOp<SubOp>();
  auto nearest = difference ? difference.getRhs().getDefiningOp<NearestMillerIndexOp>() : nullptr;
  if (!nearest || nearest.getHkl() != difference.getLhs())
    return {};
  return difference.getLhs();
}

/// bounds::logarithmOfCells of the product of the components.
static Value logarithmOfCells(Value ncells, RuleBuilder &r) {
  Value root =
      r.abs(r.mul(r.component(ncells, 0), r.mul(r.component(ncells, 1), r.component(ncells, 2))));
  for (int i = 0; i < 6; ++i)
    root = r.sqrt(root);
  return r.mul(r.sub(root, r.constant(root.getType(), 1)), 64);
}

constexpr const char *nowhereZero =
    "a round crystal's factor is nowhere zero: only a tolerance could leave it out";

static std::array<Value, 6> scaled(ArrayRef<Value> form, double factor, RuleBuilder &r) {
  std::array<Value, 6> result;
  for (unsigned i = 0; i < 6; ++i)
    result[i] = i < form.size() && form[i] ? r.mul(form[i], factor)
                                           : r.constant(r.builder().getF64Type(), 0);
  return result;
}

/// |sin(pi N x) / sin(pi x)| <= N / max(1, N |sin(pi x)|) on each axis. A derivative of n-th order
/// is at most (2 pi N)^n times that, up to a factor that does not depend on N or x.
static std::optional<Support> ofGrating(Value hkl, Value cells, Operation *image,
                                        const CulledProgram &program, RuleBuilder &r,
                                        std::string &why) {
  if (program.isExact()) {
    why = "a square crystal's factor is nowhere zero: only a tolerance could leave it out";
    return std::nullopt;
  }
  if (!hkl || isDefinedIn(cells, image)) {
    why = "it is not a grating of the fraction of a Miller index, of a size that is known ahead";
    return std::nullopt;
  }
  Support support{hkl, scaled({}, 0, r), bounds::ofGrating(program.setting.tolerance()), {}};
  for (unsigned i = 0; i < 3; ++i)
    support.cells[i] = r.component(cells, i);
  return support;
}

static std::optional<Support> ofFactor(LatticeFactorOp op, Operation *image,
                                       const CulledProgram &program, RuleBuilder &r,
                                       std::string &why) {
  Value hkl = op.getFraction() ? indexOfFraction(op.getHkl()) : op.getHkl();
  for (Value operand : op->getOperands().drop_front())
    if (isDefinedIn(operand, image)) {
      why = "the size of the crystal varies inside the image";
      return std::nullopt;
    }
  const nanobragg::CrystalShapeRow &shape = rowOf(op.getShape());
  if (shape.profile == SpotProfile::Grating)
    return ofGrating(hkl, op.getNcells(), image, program, r, why);
  const auto bound = bounds::ofProfile(shape.profile, program, elementTypeOf(op.getType()).isF32());
  if (!bound) {
    why = nowhereZero;
    return std::nullopt;
  }
  // The form has the exponent's sign; it is made positive.
  const double factor = shape.distanceFactor;
  auto form = distanceCoefficients(op, factor, r);
  Support support{hkl, scaled(form, (factor < 0 ? -1 : 1) / *bound, r), 0, {}};
  if (shape.profile == SpotProfile::Gaussian && !shape.hasMatrix && program.isExact() &&
      !program.derives && elementTypeOf(op.getType()).isF64()) {
    // As many cells as there are, in place of 2^60.
    const double ofMost = bounds::ofMostCells / *bound;
    Value logarithm = logarithmOfCells(op.getNcells(), r);
    Value share = r.reciprocal(
        r.add(r.mul(logarithm, 1 / *bound), r.constant(logarithm.getType(), 1 - ofMost)));
    for (Value &coefficient : support.form)
      coefficient = r.mul(coefficient, share);
  }
  return support;
}

/// The support of a function of a quadratic form, which vanishes where `factor` times the form is
/// above 1.
static std::optional<Support> ofForm(Value value, double factor, Operation *image, RuleBuilder &r) {
  FormReader reader(image, r);
  auto form = reader.readForm(value);
  if (!form || !indexOfFraction(reader.fraction))
    return std::nullopt;
  return Support{indexOfFraction(reader.fraction), scaled(*form, factor, r), 0, {}};
}

/// The support that ends at the edge of a tophat: a choice between something and zero.
static std::optional<Support> ofChoice(arith::SelectOp op, Operation *image, RuleBuilder &r) {
  auto less = op.getCondition().getDefiningOp<arith::CmpFOp>();
  FloatAttr edge;
  if (!less || less.getPredicate() != arith::CmpFPredicate::OLT ||
      !matchPattern(op.getFalseValue(), m_AnyZeroFloat()) ||
      !matchPattern(less.getRhs(), m_Constant(&edge)) || !(edge.getValueAsDouble() > 0))
    return std::nullopt;
  return ofForm(less.getLhs(), 1 / (edge.getValueAsDouble() * bounds::edgeRoom), image, r);
}

std::optional<Support> nb::supportOf(Operation *op, Operation *image, const CulledProgram &program,
                                     OpBuilder &builder, std::string &why) {
  RuleBuilder r(builder, op->getLoc());
  if (auto factor = dyn_cast<LatticeFactorOp>(op))
    return ofFactor(factor, image, program, r, why);
  if (auto exponential = dyn_cast<math::ExpOp>(op)) {
    Value exponent = exponential.getOperand();
    if (auto rounded = exponent.getDefiningOp<arith::TruncFOp>())
      exponent = rounded.getIn();
    return ofForm(exponent,
                  -1 / bounds::ofExponent(program, elementTypeOf(exponential.getType()).isF32()),
                  image, r);
  }
  if (auto choice = dyn_cast<arith::SelectOp>(op))
    return ofChoice(choice, image, r);
  if (auto grating = dyn_cast<GratingOp>(op))
    return ofGrating(indexOfFraction(grating.getDelta()), grating.getNcells(), image, program, r,
                     why);
  if (auto ball = dyn_cast<BallOp>(op)) {
    if (program.isExact())
      why = nowhereZero;
    else
      return ofForm(ball.getU(), 1 / bounds::ofBall(program.setting.tolerance()), image, r);
  }
  return std::nullopt;
}
