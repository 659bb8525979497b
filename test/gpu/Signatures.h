// The arguments of a driver's function: how many, of what size, and which are pointers.
#ifndef NANOBRAGG_TEST_GPU_SIGNATURES_H
#define NANOBRAGG_TEST_GPU_SIGNATURES_H

#include <array>
#include <cstddef>
#include <type_traits>

struct Passed {
  std::size_t size;
  bool pointer;
  bool operator==(const Passed &) const = default;
};

template <typename T>
constexpr Passed passed = {sizeof(T), std::is_pointer_v<T>};
template <>
inline constexpr Passed passed<void> = {0, false};

template <typename Result, typename... Arguments>
constexpr std::array<Passed, sizeof...(Arguments) + 1> signatureOf(Result (*)(Arguments...)) {
  return {passed<Result>, passed<Arguments>...};
}

template <typename Ours, typename Theirs>
constexpr bool same(Ours ours, Theirs theirs) {
  const auto a = signatureOf(ours);
  const auto b = signatureOf(theirs);
  if (a.size() != b.size())
    return false;
  for (std::size_t i = 0; i != a.size(); ++i)
    if (!(a[i] == b[i]))
      return false;
  return true;
}

#endif
