// Rotations of the Laue groups, as they act on Miller indices.
#ifndef NANOBRAGG_CHOOSE_LAUEGROUP_H
#define NANOBRAGG_CHOOSE_LAUEGROUP_H

#include <array>
#include <vector>

namespace nanobragg {

/// Row-major: (h', k', l') = m (h, k, l).
using IndexRotation = std::array<int, 9>;

/// -1 112/m 12/m1 2/m11 mmm 4/m 4/mmm -3 -3m1 -31m 6/m 6/mmm m-3 m-3m, counted from 1; trigonal
/// ones on hexagonal axes.
inline constexpr int laueGroups = 14;

/// The proper rotations of a group; the identity comes first.
std::vector<IndexRotation> rotationsOfLaueGroup(int group);

} // namespace nanobragg
#endif
