#include "lib/Gemmi/Expansion.h"

#include "lib/Files/FileError.h"
#include "lib/Formats/GridSize.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <gemmi/math.hpp>
#include <limits>
#include <new>

namespace nanobragg::io {
namespace {

using Rotation = std::array<std::int32_t, 9>;

/// Those that differ as seen in reciprocal space, where a mate is -h.
std::vector<Rotation> distinctRotations(const gemmi::GroupOps &ops) {
  std::vector<Rotation> all;
  for (const gemmi::Op &op : ops.sym_ops) {
    Rotation r;
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j)
        r[3 * i + j] = op.rot[i][j] / gemmi::Op::DEN;
    if (std::find(all.begin(), all.end(), r) == all.end())
      all.push_back(r);
  }
  return all;
}

std::array<std::int32_t, 3> turned(const std::array<std::int32_t, 3> &h, const Rotation &r) {
  return {h[0] * r[0] + h[1] * r[3] + h[2] * r[6], h[0] * r[1] + h[1] * r[4] + h[2] * r[7],
          h[0] * r[2] + h[1] * r[5] + h[2] * r[8]};
}

} // namespace

bool UniqueReflection::complete(bool intensities) {
  const auto measured = [&](float value, float sigma) {
    return std::isfinite(value) && (!intensities || (std::isfinite(sigma) && sigma > 0));
  };
  const bool hasPlus = measured(plus, sigmas[0]), hasMinus = measured(minus, sigmas[1]);
  if (!hasPlus) {
    plus = minus;
    sigmas[0] = sigmas[1];
  } else if (!hasMinus) {
    minus = plus;
    sigmas[1] = sigmas[0];
  }
  return hasPlus || hasMinus;
}

void requireIndices(const std::string &path, const std::array<std::int32_t, 3> &hkl) {
  for (const std::int32_t index : hkl)
    if (std::abs(std::int64_t(index)) > 100000)
      throw FileError(path, "has the Miller index " + std::to_string(index) +
                                ", which is out of range; the file is damaged");
}

void expandToP1(const std::string &path, const std::vector<UniqueReflection> &unique,
                const gemmi::SpaceGroup &group, double defaultF, StructureFactors &result) {
  result.spaceGroup = group.hm;
  result.hallSymbol = group.hall;
  result.reflections = unique.size();
  const gemmi::GroupOps ops = group.operations();
  const std::vector<Rotation> rotations = distinctRotations(ops);
  std::array<std::int64_t, 3> limit{};
  for (const UniqueReflection &r : unique)
    requireIndices(path, r.hkl);
  for (const UniqueReflection &r : unique)
    for (const Rotation &rotation : rotations) {
      const auto h = turned(r.hkl, rotation);
      for (int i = 0; i < 3; ++i)
        limit[i] = std::max<std::int64_t>(limit[i], std::abs(h[i]));
    }
  HklGrid &grid = result.grid;
  grid = {-limit[0], limit[0], -limit[1], limit[1], -limit[2], limit[2], {}};
  const std::size_t nodes = gridNodes(path, grid, unique.size() * rotations.size());
  try {
    grid.values.assign(nodes, defaultF);
  } catch (const std::bad_alloc &) {
    throw gridTooLarge(path, grid);
  }
  const std::int64_t lSpan = 2 * limit[2] + 1, kSpan = (2 * limit[1] + 1) * lSpan;
  const std::int64_t middle = limit[0] * kSpan + limit[1] * lSpan + limit[2];
  double *center = grid.values.data() + middle;
  for (const Rotation &rotation : rotations)
    for (const UniqueReflection &r : unique) {
      const auto h = turned(r.hkl, rotation);
      const std::int64_t node = h[0] * kSpan + h[1] * lSpan + h[2];
      center[node] = r.plus;
      center[-node] = r.minus;
    }
  if (defaultF == 0)
    return;
  for (std::int64_t h = grid.hMin; h <= grid.hMax; ++h)
    for (std::int64_t k = grid.kMin; k <= grid.kMax; ++k)
      for (std::int64_t l = grid.lMin; l <= grid.lMax; ++l)
        if (ops.is_systematically_absent({int(h), int(k), int(l)}))
          center[h * kSpan + k * lSpan + l] = 0;
}

void expandPhases(const std::vector<UniqueReflection> &unique, const gemmi::SpaceGroup &group,
                  StructureFactors &result) {
  const HklGrid &grid = result.grid;
  result.real = grid.values;
  result.imaginary.assign(grid.values.size(), std::numeric_limits<double>::quiet_NaN());
  const std::int64_t lSpan = 2 * grid.lMax + 1, kSpan = (2 * grid.kMax + 1) * lSpan;
  const std::int64_t middle = grid.hMax * kSpan + grid.kMax * lSpan + grid.lMax;
  double *real = result.real.data() + middle, *imaginary = result.imaginary.data() + middle;
  const gemmi::GroupOps ops = group.operations();
  for (const gemmi::Op &op : ops.sym_ops)
    for (const UniqueReflection &r : unique) {
      const gemmi::Op::Miller given{{int(r.hkl[0]), int(r.hkl[1]), int(r.hkl[2])}};
      if (ops.is_systematically_absent(given))
        continue;
      const gemmi::Op::Miller h = op.apply_to_hkl(given);
      const double phase = r.phase * gemmi::pi() / 180 + op.phase_shift(given);
      const std::int64_t node = h[0] * kSpan + h[1] * lSpan + h[2];
      real[node] = real[-node] = r.plus * std::cos(phase);
      imaginary[node] = r.plus * std::sin(phase);
      imaginary[-node] = -imaginary[node];
    }
}

gemmi::Op operationOf(const std::string &text) {
  std::string triplet;
  for (const char *at = text.c_str(); *at;) {
    char *end = nullptr;
    const bool number = std::isdigit((unsigned char)*at) || *at == '.';
    const double value = number ? std::strtod(at, &end) : 0;
    if (number && value != std::rint(value)) {
      triplet += std::to_string(std::lround(value * gemmi::Op::DEN)) + "/" +
                 std::to_string(gemmi::Op::DEN);
      at = end;
      continue;
    }
    if (!std::isspace((unsigned char)*at))
      triplet += char(std::tolower((unsigned char)*at));
    ++at;
  }
  return gemmi::parse_triplet(triplet);
}

} // namespace nanobragg::io
