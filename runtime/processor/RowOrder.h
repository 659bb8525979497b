// Orders by rows of pixels.
#ifndef NANOBRAGG_RUNTIME_ROWORDER_H
#define NANOBRAGG_RUNTIME_ROWORDER_H

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

namespace nanobragg {

/// The numbers from 0 to `count` - 1 by the row `rowOf` of each, of so many rows; rows before or
/// behind these count as the first or the last one. Numbers of one row stay in their order.
template <typename RowOf>
std::vector<std::uint32_t> orderByRow(std::size_t count, std::int64_t rows, RowOf &&rowOf) {
  std::vector<std::uint32_t> order(count);
  const auto row = [&](std::size_t i) {
    return std::size_t(std::clamp<std::int64_t>(rowOf(i), 0, rows - 1));
  };
  if (std::int64_t(count) < rows / 8) {
    std::iota(order.begin(), order.end(), 0U);
    std::ranges::stable_sort(order, {}, row);
    return order;
  }
  std::vector<std::uint32_t> at(static_cast<std::size_t>(rows));
  for (std::size_t i = 0; i != count; ++i)
    ++at[row(i)];
  std::uint32_t position = 0;
  for (std::uint32_t &n : at)
    position += std::exchange(n, position);
  for (std::size_t i = 0; i != count; ++i)
    order[at[row(i)]++] = std::uint32_t(i);
  return order;
}

} // namespace nanobragg
#endif
