#include "runtime/processor/AveragedSearch.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>

namespace nanobragg {
namespace {

/// Kernels compute an exponent at the best values of the variables, where derivatives are others
/// than at the middle: exponents that are as much larger are listed.
constexpr double wider = 1.1;

/// Row by row.
using Square = std::array<double, 9>;

Square squareAt(const double *p) {
  Square m;
  std::copy_n(p, 9, m.begin());
  return m;
}
Square operator*(const Square &a, const Square &b) {
  Square c{};
  for (std::size_t i = 0; i != 9; ++i)
    for (std::size_t j = 0; j != 3; ++j)
      c[i] += a[i / 3 * 3 + j] * b[3 * j + i % 3];
  return c;
}
Square operator*(double f, Square m) {
  for (double &e : m)
    e *= f;
  return m;
}
Square operator+(Square a, const Square &b) {
  for (std::size_t i = 0; i != 9; ++i)
    a[i] += b[i];
  return a;
}
Square transposed(const Square &m) {
  return {m[0], m[3], m[6], m[1], m[4], m[7], m[2], m[5], m[8]};
}
Vector operator*(const Square &m, Vector v) {
  return {dot(vectorAt(m.data()), v), dot(vectorAt(m.data() + 3), v),
          dot(vectorAt(m.data() + 6), v)};
}
Square inverse(const Square &m) {
  const Vector a = vectorAt(m.data()), b = vectorAt(m.data() + 3), c = vectorAt(m.data() + 6);
  const double f = 1 / dot(a, cross(b, c));
  const Vector x = f * cross(b, c), y = f * cross(c, a), z = f * cross(a, b);
  return {x.x, y.x, z.x, x.y, y.y, z.y, x.z, y.z, z.z};
}
constexpr Square unit{1, 0, 0, 0, 1, 0, 0, 0, 1};

Square outer(Vector v) {
  return {v.x * v.x, v.x * v.y, v.x * v.z, v.y * v.x, v.y * v.y,
          v.y * v.z, v.z * v.x, v.z * v.y, v.z * v.z};
}
/// Not less than the longest |m v| of unit vectors v.
double stretch(const Square &m) {
  double sum = 0;
  for (double e : m)
    sum += e * e;
  return std::sqrt(sum);
}
/// Not less than the largest eigenvalue of a symmetric matrix.
double largest(const Square &m) {
  double most = 0;
  for (std::size_t i = 0; i != 9; i += 3)
    most = std::max(most, std::fabs(m[i]) + std::fabs(m[i + 1]) + std::fabs(m[i + 2]));
  return most;
}
bool isPositive(const Square &m) {
  const double second = m[0] * m[4] - m[1] * m[1];
  const double third = dot(vectorAt(m.data()), cross(vectorAt(m.data() + 3), vectorAt(&m[6])));
  constexpr double least = 1e-12;
  return m[0] > 0 && second > least * m[0] * m[4] && third > least * second * m[8];
}
void copySymmetric(const Square &from, double (&to)[6]) {
  for (int i = 0; std::size_t e : {0, 4, 8, 1, 2, 5})
    to[i++] = from[e];
}
loops::Linear linear(const Square &matrix, Vector offset) {
  loops::Linear l{};
  std::copy(matrix.begin(), matrix.end(), l.matrix);
  copy(offset, l.offset);
  return l;
}
bool isFiniteLinear(const loops::Linear &l) {
  double sum = 0;
  for (double e : l.matrix)
    sum += std::fabs(e);
  for (double e : l.offset)
    sum += std::fabs(e);
  return std::isfinite(sum);
}

} // namespace

void AveragedSearch::refuse() {
  throw std::runtime_error(
      "the spreads (mosaicity, bandwidth, divergence) are so wide, or the crystal is so small, "
      "that nearly every reflection lights every pixel, and averages in closed form would take "
      "longer than samples that are drawn; reduce the spreads, or choose the average quadrature or "
      "sampled");
}

void PlaceMemory::begin(std::int64_t most, std::int64_t extents) {
  constexpr std::int64_t kinds = 3 + 9 + 2;
  most = (most + loops::placesAtOnce - 1) / loops::placesAtOnce * loops::placesAtOnce;
  numbers.resize(std::size_t(kinds * most));
  blocks.resize(std::size_t(most));
  double *next = numbers.data();
  const auto take = [&] {
    double *const from = next;
    next += most;
    return from;
  };
  for (double *&axis : arrays.d)
    axis = take();
  for (auto &extent : arrays.extent)
    for (double *&axis : extent)
      axis = take();
  arrays.bend = take();
  arrays.size = take();
  arrays.block = blocks.data();
  arrays.extents = extents;
  count = 0;
}

// h = D (d - k) / lambda, and J_j = D X_j (d - k) - D k_j / lambda with X_j = (D^-1 D_j - l_j) /
// lambda, where l_j = lambda_j / lambda. That is linear in d: a change of d by delta moves J_j by D
// X_j delta. On the ellipsoid the normal variables are at most sqrt(bound2) long.
//
// Kernels go beyond the linear: with q(k, lambda) and the sums over t of D^-1 D_j = turn + strain,
// an antisymmetric matrix and a symmetric one, the terms of second order of h are D times
//
//   (turn + strain)^2 q / 2 + (turn + strain) q_1 + q_2, q_1 = -k_t / lambda - l_t q,
//   q_2 = l_t^2 q + l_t k_t / lambda + k_t^2 / (2 lambda).
//
// In a turn by at most A, turn^2 q / 2 lies in the ball about -A^2 q / 4 that has the origin on its
// surface; and l_t^2 q in one about L^2 q / 2. So h is as much longer, and the ball is added. Terms
// of all higher orders are those of exp(turn + strain) / (1 - l_t), at most.
AveragedSearch::AveragedSearch(const nb_reach_numbers &number, const Tables &tables) {
  const auto count = std::int64_t(number.beams), normals = std::int64_t(number.normals),
             boxes = std::int64_t(number.boxes), variables = normals + boxes;
  const double *f = number.form, bound2 = 2 * wider * number.bound;
  const Square twice{2 * f[0], f[3], f[4], f[3], 2 * f[1], f[5], f[4], f[5], 2 * f[2]};
  if (!(bound2 > 0) || !isPositive(twice))
    refuse();
  const Square own = bound2 * inverse(twice);
  varied.resize(std::size_t(count * variables));
  bool finite = true;
  for (std::int64_t i = 0; i != count; ++i) {
    const Square direct = squareAt(tables.direct + 9 * i);
    const Vector k = vectorAt(tables.incident + 3 * i);
    const double lambda = tables.wavelength[i];
    const Square perLambda = (1 / lambda) * direct, back = inverse(direct);
    loops::Linear *const derivatives = varied.data() + i * variables;
    Square turns{}, strains{};
    double turnOfBoxes = 0, strainOfBoxes = 0;
    double lengths2 = 0, lengthOfBoxes = 0, tilts2 = 0, tiltOfBoxes = 0;
    for (std::int64_t j = 0; j != variables; ++j) {
      const std::int64_t at = i * variables + j;
      const Square form = back * squareAt(tables.variedDirect + 9 * at);
      const Square strain = 0.5 * (form + transposed(form));
      const Vector turn = 0.5 * Vector{form[7] - form[5], form[2] - form[6], form[3] - form[1]};
      const double length = tables.variedWavelength[at] / lambda;
      const Vector tilt = vectorAt(tables.variedIncident + 3 * at);
      const Square change = (1 / lambda) * (form + (-length) * unit), moves = direct * change;
      derivatives[j] = linear(moves, -1.0 * (moves * k + perLambda * tilt));
      finite &= isFiniteLinear(derivatives[j]);
      const double tilt2 = dot(tilt, tilt);
      if (j < normals) {
        turns = turns + outer(turn);
        strains = strains + strain * strain;
        lengths2 += length * length;
        tilts2 += tilt2;
      } else {
        turnOfBoxes += norm(turn) / 2;
        strainOfBoxes += stretch(strain) / 2;
        lengthOfBoxes += std::fabs(length) / 2;
        tiltOfBoxes += std::sqrt(tilt2) / 2;
      }
    }
    const auto most = [&](double square, double ofBoxes) {
      return std::sqrt(bound2 * square) + ofBoxes;
    };
    const double turn = most(largest(turns), turnOfBoxes);
    const double strain = most(largest(strains), strainOfBoxes);
    const double length = most(lengths2, lengthOfBoxes), tilt = most(tilts2, tiltOfBoxes);
    const double longer = 1 - turn * turn / 4 + length * length / 2;

    loops::AveragedBeam beam{};
    const Square toIndex = longer * perLambda;
    beam.index = linear(toIndex, -1.0 * (toIndex * k));
    beam.varied = derivatives;
    beam.normals = normals;
    beam.boxes = boxes;
    copySymmetric(own, beam.own);
    beam.bound2 = bound2;
    copySymmetric(direct * transposed(direct), beam.metric);
    for (std::size_t i = 0; i != 3; ++i)
      beam.longest[i] = std::sqrt(beam.metric[i]);
    copy(k, beam.k);
    beam.perBend = 1 / lambda;
    const double twist = turn + strain, all = std::exp(twist) / (1 - length);
    const double higher =
        all - (1 + twist + length + twist * twist / 2 + twist * length + length * length);
    beam.perChange = (turn * turn / 4 + strain * (turn + strain / 2) + twist * length +
                      length * length / 2 + std::max(higher, 0.0)) /
                     lambda;
    beam.perSize = (twist + length) / lambda + beam.perChange;
    beam.always = tilt * (all - 1 + tilt / 2) / lambda;
    beam.most[0] = std::floor(number.h_most);
    beam.most[1] = std::floor(number.k_most);
    beam.most[2] = std::floor(number.l_most);
    finite &= isFiniteLinear(beam.index) && lambda > 0 && length < 1 &&
              std::isfinite(beam.perSize + beam.perChange + beam.always);
    longestAxis = std::max(longestAxis, stretch(perLambda));
    beams.push_back(beam);
  }
  if (!finite || beams.empty())
    refuse();
}

double AveragedSearch::windows(std::int64_t beam, const PlaceMemory &places) const {
  return loops::countAveraged(beams[std::size_t(beam)], places.arrays, places.count);
}

void AveragedSearch::find(std::int64_t beam, const PlaceMemory &places,
                          FoundReflections &found) const {
  for (std::int64_t place = 0, needed = 0;;) {
    loops::AveragedHits into{found.memory.data(), std::int64_t(found.size),
                             std::int64_t(found.memory.size())};
    place = loops::findAveraged(beams[std::size_t(beam)], std::int32_t(beam), places.arrays, place,
                                places.count, into, needed);
    found.size = std::size_t(into.size);
    if (place >= places.count)
      return;
    found.memory.resize(2 * (found.size + std::size_t(needed)));
  }
}

} // namespace nanobragg
