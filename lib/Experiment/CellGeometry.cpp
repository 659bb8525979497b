#include "lib/Experiment/CellGeometry.h"

#include "lib/Experiment/FlagUnits.h"
#include "lib/Experiment/Units.h"
#include "lib/Experiment/VectorAlgebra.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <stdexcept>

namespace nanobragg {
namespace {

/// The angle between two vectors whose lengths are known, from its sine and cosine as the C program
/// has them; the sine comes from the dual vectors, so a lattice that lost duality shows it.
double angle(double sine, double cosine) {
  return std::atan2(std::clamp(sine, -1.0, 1.0), cosine * cosine > 1 ? 1.0 : cosine);
}

void measure(CellReport &cell, const CellReport &dual, double volume) {
  for (int i = 0; i < 3; ++i) {
    const int j = (i + 1) % 3, k = (i + 2) % 3;
    double jk = cell.lengths[j] * cell.lengths[k];
    cell.angles[i] =
        angle(dual.lengths[i] * volume / jk, dot(cell.vectors[j], cell.vectors[k]) / jk);
  }
}

} // namespace

double UnitCell::quarterOfSquaredUnitVolume() const {
  double s = (alpha + beta + gamma) / 2;
  return std::sin(s) * std::sin(s - alpha) * std::sin(s - beta) * std::sin(s - gamma);
}

double UnitCell::volume() const {
  return 2.0 * a * b * c * std::sqrt(std::abs(quarterOfSquaredUnitVolume()));
}

UnitCell unitCellOf(const std::array<double, 6> &given) {
  const auto [a, b, c, alpha, beta, gamma] = flagUnit::inFlagUnits(flagUnit::cell, given);
  const UnitCell cell{a, b, c, given[3], given[4], given[5]};
  constexpr double smallest = 1e-6; // volume, over that of the box a b c
  bool convex = std::max({cell.alpha, cell.beta, cell.gamma}) < std::numbers::pi;
  double volume = cell.volume();
  if (!convex || !(cell.quarterOfSquaredUnitVolume() > 0) ||
      !(volume > smallest * cell.a * cell.b * cell.c) || !std::isfinite(volume))
    throw std::invalid_argument(
        "-cell: no cell with these edges and angles has a volume; each angle must be less than the "
        "sum of the others, and their sum less than 360");
  return cell;
}

std::pair<std::array<double, 3>, double> edgesAndVolume(const Experiment &experiment) {
  const Crystal &of = experiment.crystal;
  if (experiment.variant.cellSource != CellSource::Matrix) {
    const UnitCell cell{of.cellA, of.cellB, of.cellC, of.cellAlpha, of.cellBeta, of.cellGamma};
    return {{cell.a, cell.b, cell.c}, cell.volume()};
  }
  const Mat3 &m = of.reciprocalMatrix;
  const Vec3 a{m[0], m[3], m[6]}, b{m[1], m[4], m[7]}, c{m[2], m[5], m[8]};
  const double reciprocal = std::fabs(dot(a, cross(b, c)));
  return {{length(cross(b, c)) / reciprocal, length(cross(c, a)) / reciprocal,
           length(cross(a, b)) / reciprocal},
          1 / reciprocal};
}

std::array<Vec3, 3> defaultSetting(const UnitCell &cell, Rule rule) {
  const auto &[a, b, c, alpha, beta, gamma] = cell;
  const double volume = cell.volume(), reciprocalVolume = 1.0 / volume;
  const double aStar = b * c * std::sin(alpha) * reciprocalVolume;
  const double bStar = c * a * std::sin(beta) * reciprocalVolume;
  const double cStar = a * b * std::sin(gamma) * reciprocalVolume;
  const double cosAlphaStar =
      (std::cos(beta) * std::cos(gamma) - std::cos(alpha)) / (std::sin(beta) * std::sin(gamma));
  const double cosBetaStar =
      (std::cos(gamma) * std::cos(alpha) - std::cos(beta)) / (std::sin(gamma) * std::sin(alpha));
  const double cosGammaStar =
      (std::cos(alpha) * std::cos(beta) - std::cos(gamma)) / (std::sin(alpha) * std::sin(beta));
  const double sinGammaStar = std::min(c * reciprocalVolume / aStar / bStar, 1.0);
  const double cz = rule == Rule::C ? cStar * volume / (a * b * c * sinGammaStar) : 1.0 / c;
  return {{{aStar, 0, 0},
           {bStar * cosGammaStar, bStar * sinGammaStar, 0},
           {cStar * cosBetaStar, cStar * (cosAlphaStar - cosBetaStar * cosGammaStar) / sinGammaStar,
            cz}}};
}

Lattice latticeOf(const std::array<Vec3, 3> &reciprocal, const UnitCell *cell) {
  Lattice lattice;
  std::array<Vec3, 3> normals; // b* x c*, c* x a*, a* x b*
  for (int i = 0; i < 3; ++i)
    normals[i] = cross(reciprocal[(i + 1) % 3], reciprocal[(i + 2) % 3]);
  double reciprocalVolume = dot(reciprocal[0], normals[0]);
  if (cell) {
    const double edges[] = {cell->a, cell->b, cell->c};
    reciprocalVolume = 1.0 / cell->volume();
    for (int i = 0; i < 3; ++i)
      // Divided by the volume before the length, as the C program rounds.
      normals[i] = scaled(normals[i], edges[i] / cell->volume() / length(normals[i]));
  }
  lattice.volume = 1.0 / reciprocalVolume;
  CellReport &real = lattice.real, &dual = lattice.reciprocal;
  for (int i = 0; i < 3; ++i)
    real.vectors[i] = scaled(normals[i], lattice.volume);
  for (int i = 0; i < 3; ++i)
    dual.vectors[i] =
        scaled(cross(real.vectors[(i + 1) % 3], real.vectors[(i + 2) % 3]), reciprocalVolume);
  for (int i = 0; i < 3; ++i) {
    real.lengths[i] = length(real.vectors[i]);
    lattice.edges[i] = length(scaled(real.vectors[i], units::angstrom));
    dual.lengths[i] = length(dual.vectors[i]);
  }
  measure(real, dual, lattice.volume);
  measure(dual, real, reciprocalVolume);
  return lattice;
}

} // namespace nanobragg
