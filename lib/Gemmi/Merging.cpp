#include "lib/Gemmi/Merging.h"

#include "lib/Files/FileError.h"

#include <algorithm>
#include <cmath>

namespace nanobragg::io {

ListedReflections::ListedReflections(const std::string &path, const gemmi::SpaceGroup &group,
                                     bool intensities)
    : path(path), intensities(intensities) {
  measured.spacegroup = &group;
}

void ListedReflections::add(const UniqueReflection &r, bool mates) {
  requireIndices(path, r.hkl);
  const auto one = [&](int sign, float value, float sigma) {
    if (std::isfinite(value) && (!intensities || (std::isfinite(sigma) && sigma > 0)))
      measured.data.push_back({{{sign * r.hkl[0], sign * r.hkl[1], sign * r.hkl[2]}},
                               0,
                               1,
                               value,
                               intensities ? sigma : 1.0});
  };
  one(1, r.plus, r.sigmas[0]);
  if (mates)
    one(-1, r.minus, r.sigmas[1]);
}

std::vector<UniqueReflection> ListedReflections::merged() {
  measured.switch_to_asu_indices();
  const bool apart = !measured.spacegroup->is_centrosymmetric();
  const auto same = [&](const auto &a, const auto &b) {
    return a.hkl == b.hkl && (!apart || a.isign == b.isign);
  };
  measured.sort();
  constexpr double rounding = 1e-3; // lists may have few digits
  for (std::size_t i = 1; i < measured.data.size(); ++i) {
    const auto &one = measured.data[i - 1], &next = measured.data[i];
    differing += same(one, next) &&
                 std::fabs(next.value - one.value) > rounding * std::fabs(one.value) + 1e-6;
  }
  measured.merge_in_place(apart ? gemmi::DataType::Anomalous : gemmi::DataType::Mean);
  std::vector<UniqueReflection> unique;
  for (const gemmi::Intensities::Refl &r : measured.data) {
    const std::array<std::int32_t, 3> hkl{r.hkl[0], r.hkl[1], r.hkl[2]};
    if (unique.empty() || unique.back().hkl != hkl)
      unique.push_back({hkl, NAN, NAN});
    UniqueReflection &u = unique.back();
    const float value = float(r.value), sigma = intensities ? float(r.sigma) : 0;
    if (r.isign >= 0) {
      u.plus = value;
      u.sigmas[0] = sigma;
    }
    if (r.isign <= 0) {
      u.minus = value;
      u.sigmas[1] = sigma;
    }
  }
  for (UniqueReflection &u : unique)
    u.complete(intensities);
  return unique;
}

std::vector<std::string> ListedReflections::warnings() const {
  if (differing == 0)
    return {};
  return {path + ": lists " + std::to_string(differing) +
          " values again, by the same indices or those of an equivalent, that differ from the "
          "first; each reflection has the mean" +
          (intensities ? ", weighted by the sigmas" : "")};
}

void refuseRepeated(const std::string &path, const std::vector<UniqueReflection> &reflections) {
  std::vector<std::array<std::int32_t, 3>> indices;
  indices.reserve(reflections.size());
  for (const UniqueReflection &r : reflections)
    indices.push_back(r.hkl);
  std::sort(indices.begin(), indices.end());
  const auto twice = std::adjacent_find(indices.begin(), indices.end());
  if (twice == indices.end())
    return;
  const auto &[h, k, l] = *twice;
  throw FileError(path, "lists the reflection " + std::to_string(h) + " " + std::to_string(k) +
                            " " + std::to_string(l) +
                            " more than once; merge the list, complex structure factors are "
                            "needed once each");
}

} // namespace nanobragg::io
