#include "lib/Choose/LaueGroup.h"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace nanobragg {
namespace {

constexpr IndexRotation identity = {1, 0, 0, 0, 1, 0, 0, 0, 1};
constexpr IndexRotation twoC = {-1, 0, 0, 0, -1, 0, 0, 0, 1};
constexpr IndexRotation twoB = {-1, 0, 0, 0, 1, 0, 0, 0, -1};
constexpr IndexRotation twoA = {1, 0, 0, 0, -1, 0, 0, 0, -1};
constexpr IndexRotation fourC = {0, 1, 0, -1, 0, 0, 0, 0, 1};
/// h k i l goes to k i h l, i = -h - k.
constexpr IndexRotation threeC = {0, 1, 0, -1, -1, 0, 0, 0, 1};
constexpr IndexRotation swapped = {0, 1, 0, 1, 0, 0, 0, 0, -1};        // along a + b
constexpr IndexRotation minusSwapped = {0, -1, 0, -1, 0, 0, 0, 0, -1}; // along a - b
constexpr IndexRotation threeDiagonal = {0, 1, 0, 0, 0, 1, 1, 0, 0};   // along a + b + c

std::vector<IndexRotation> generators(int group) {
  switch (group) {
  case 1:
    return {};
  case 2:
    return {twoC};
  case 3:
    return {twoB};
  case 4:
    return {twoA};
  case 5:
    return {twoC, twoB};
  case 6:
    return {fourC};
  case 7:
    return {fourC, twoA};
  case 8:
    return {threeC};
  case 9:
    return {threeC, swapped};
  case 10:
    return {threeC, minusSwapped};
  case 11:
    return {threeC, twoC};
  case 12:
    return {threeC, twoC, swapped};
  case 13:
    return {twoC, twoB, threeDiagonal};
  case 14:
    return {fourC, threeDiagonal};
  }
  throw std::invalid_argument("there is no Laue group " + std::to_string(group) +
                              "; they are counted from 1 to 14");
}

IndexRotation product(const IndexRotation &x, const IndexRotation &y) {
  IndexRotation result{};
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j)
      for (int k = 0; k < 3; ++k)
        result[std::size_t(3 * i + j)] += x[std::size_t(3 * i + k)] * y[std::size_t(3 * k + j)];
  return result;
}

} // namespace

std::vector<IndexRotation> rotationsOfLaueGroup(int group) {
  const std::vector<IndexRotation> by = generators(group);
  std::vector<IndexRotation> found{identity};
  for (std::size_t i = 0; i < found.size(); ++i)
    for (const IndexRotation &generator : by) {
      const IndexRotation next = product(generator, found[i]);
      if (std::ranges::find(found, next) == found.end())
        found.push_back(next);
    }
  return found;
}

} // namespace nanobragg
