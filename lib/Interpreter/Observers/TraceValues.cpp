#include "lib/Interpreter/Observers/TraceValues.h"

#include "lib/Experiment/Units.h"
#include "lib/Interpreter/Algebra.h"
#include "lib/Interpreter/Names.h"
#include "lib/Interpreter/ShapeFunctions.h"
#include "lib/Interpreter/StructureFactor.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "nanobragg/KernelABI.h"

#include <numbers>

using namespace mlir;
using namespace mlir::nb;
using namespace mlir::nb::evaluation;

namespace {
/// The name in our programs, the key in a trace, the factor between their units.
struct Key {
  const char *name, *key;
  double factor;
};

constexpr double perAngstrom = nanobragg::units::angstrom, angstroms = 1e10,
                 degrees = 180 / std::numbers::pi;

constexpr Key keys[] = {
    {"pix0_vector", "pix0_vector_meters", 1},
    {"pixel_pos", "pixel_pos_meters", 1},
    {"omega_pixel", "omega_pixel_sr", 1},
    {"omega_pixel", "omega_pixel", 1},
    {"close_distance", "close_distance_meters", 1},
    {"lambda", "lambda_meters", 1},
    {"lambda", "lambda_angstroms", angstroms},
    {"scattering_vec", "scattering_vec_A_inv", perAngstrom},
    {"fluence", "fluence_photons_per_m2", 1},
    {"spindle_axis", "spindle_axis", 1},
    {"phi", "phi_deg", degrees},
    {"hkl", "hkl_frac", 1},
    {"I", "I_before_scaling", 1},
};

/// Arguments that a trace shows; the others are what the user gave.
constexpr const char *shownArguments[] = {"fluence", "spindle_axis"};

Vec3 vec(ArrayRef<double> v) { return {v[0], v[1], v[2]}; }
} // namespace

SmallVector<double, 9> TraceValues::numbers(Value value) {
  Slot slot = plan.planner.slot(value);
  SmallVector<double, 9> components;
  for (int64_t c = 0; c < slot.components; ++c)
    components.push_back(slot.kind == Kind::Integer
                             ? double(*frame.integers(slot))
                             : frame.reals(slot)[c * (slot.varying ? laneStride : 1)]);
  return components;
}

void TraceValues::add(const char *key, ArrayRef<double> numbers) {
  values.push_back({key, toText(numbers)});
}

void TraceValues::named(Value value) {
  std::string name = nameOf(value.getLoc());
  Slot slot = plan.planner.slot(value);
  if (name.empty() || slot.kind == Kind::Object)
    return;
  bool known = false;
  for (const Key &key : keys) {
    if (name != key.name)
      continue;
    known = true;
    SmallVector<double, 9> scaled = numbers(value);
    for (double &x : scaled)
      x *= key.factor;
    add(key.key, scaled);
  }
  if (!known)
    add(name.c_str(), numbers(value));
}

/// The rotated cell and its reciprocal.
static void addBasis(ArrayRef<double> m, llvm::function_ref<void(const char *, Vec3)> add) {
  Vec3 a = vec(m.take_front(3)), b = vec(m.slice(3, 3)), c = vec(m.take_back(3));
  double V = dot(a, cross(b, c));
  add("rot_a_angstroms", a * angstroms);
  add("rot_b_angstroms", b * angstroms);
  add("rot_c_angstroms", c * angstroms);
  add("rot_a_star_A_inv", cross(b, c) * (perAngstrom / V));
  add("rot_b_star_A_inv", cross(c, a) * (perAngstrom / V));
  add("rot_c_star_A_inv", cross(a, b) * (perAngstrom / V));
}

/// Where a structure factor comes from.
static const char *sourceOf(StructureFactorOp op, const nb_hkl_grid &grid, Vec3 hkl) {
  if (op.getInterpolation() == Interpolation::tricubic && isInside(grid, hkl, tricubicMargin))
    return "tricubic";
  return isInside(grid, nearestReflection(hkl)) ? "nearest" : "default";
}

void TraceValues::derived(Operation *op) {
  auto vector = [&](Value value) { return vec(numbers(value)); };
  auto scalar = [&](Value value) { return numbers(value)[0]; };
  auto addVec = [&](const char *key, Vec3 v) { add(key, {v.x, v.y, v.z}); };
  std::string name = nameOf(op->getLoc());
  if (isa<PixelPositionOp, CurvedPositionOp>(op) && name == "pixel_pos") {
    add("R_distance_meters", norm(vector(op->getResult(0))));
  } else if (auto omega = dyn_cast<SolidAngleOp>(op)) {
    add("obliquity_factor", scalar(omega.getCloseDistance()) / norm(vector(omega.getPosition())));
  } else if (name == "rotated_direct") {
    addBasis(numbers(op->getResult(0)), addVec);
  } else if (isa<MillerIndexOp>(op)) {
    addVec("hkl_rounded", nearestReflection(vector(op->getResult(0))));
  } else if (auto lattice = dyn_cast<LatticeFactorOp>(op);
             lattice && lattice.getShape() == Shape::square) {
    Vec3 hkl = vector(lattice.getHkl()), n = vector(lattice.getNcells());
    Vec3 delta = hkl - nearestReflection(hkl);
    add("F_latt_a", std::abs(grating(delta.x, n.x)));
    add("F_latt_b", std::abs(grating(delta.y, n.y)));
    add("F_latt_c", std::abs(grating(delta.z, n.z)));
  } else if (auto factor = dyn_cast<StructureFactorOp>(op)) {
    const auto &grid = *frame.object<const nb_hkl_grid>(plan.planner.slot(factor.getGrid()));
    values.push_back({"F_cell_source", sourceOf(factor, grid, vector(factor.getHkl()))});
  } else if (auto intensity = dyn_cast<IntensityOp>(op);
             intensity && isa<BlockArgument>(intensity.getStructureFactor())) {
    // Without reflections the structure factor is an argument.
    add("F_cell", scalar(intensity.getStructureFactor()));
    values.push_back({"F_cell_source", "default"});
  } else if (auto polar = dyn_cast<PolarizationOp>(op)) {
    add("cos_2theta", dot(vector(polar.getIncident()), vector(polar.getDiffracted())));
  } else if (name == "r_e_sqr_fluence") {
    bool second = isa_and_nonnull<arith::ConstantOp>(op->getOperand(1).getDefiningOp());
    double squared = scalar(op->getOperand(second ? 1 : 0));
    add("r_e_meters", std::sqrt(squared));
    add("r_e_sqr", squared);
  } else if (name == "mosaic_rotation") {
    for (const LoopIndex &loop : plan.planner.loopsOf.lookup(op))
      if (loop.dimension == Dimension::mosaic)
        add("mosaic_domain", double(*frame.integers(loop.slot)));
  }
}

/// A partial result of a formula that our programs compute in several ops of one name.
static bool isPartial(Operation *op) {
  if (op->getNumResults() != 1 || !op->hasOneUse())
    return false;
  std::string name = nameOf(op->getLoc());
  return !name.empty() && name == nameOf((*op->user_begin())->getLoc());
}

/// The value that becomes the pixel.
static ImageOp imageOf(Operation *op) {
  for (Operation *user : op->getUsers())
    if (isa<YieldOp>(user))
      return dyn_cast<ImageOp>(user->getParentOp());
  return nullptr;
}

std::vector<TraceValue> TraceValues::of(Operation *op) {
  values.clear();
  if (op->hasTrait<OpTrait::ConstantLike>())
    return values;
  if (imageOf(op)) {
    Value exact = isa<arith::TruncFOp>(op) ? op->getOperand(0) : op->getResult(0);
    add("I_pixel_final", numbers(exact));
    add("floatimage_accumulated", numbers(op->getResult(0)));
    return values;
  }
  if (isa<PointwiseResponse, PointSpreadOp>(op)) { // the image of a trace is its one pixel
    Slot slot = plan.planner.slot(op->getResult(0));
    add(nameOf(op->getLoc()).c_str(), frame.object<const Tensor>(slot)->get(0));
    return values;
  }
  if (isPartial(op)) {
    derived(op);
    return values;
  }
  // A lattice factor's axes come before their product.
  if (isa<LatticeFactorOp>(op))
    derived(op);
  for (Value result : op->getResults())
    named(result);
  if (!isa<LatticeFactorOp>(op))
    derived(op);
  return values;
}

std::vector<TraceValue> TraceValues::ofArgument(Value argument) {
  values.clear();
  if (llvm::is_contained(shownArguments, nameOf(argument.getLoc())))
    named(argument);
  return values;
}
