// Arrays of Python.
#ifndef NANOBRAGG_PYTHON_ARRAYS_H
#define NANOBRAGG_PYTHON_ARRAYS_H

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <numeric>
#include <span>
#include <stdexcept>
#include <vector>

namespace nanobragg::python {

namespace nb = nanobind;

/// The form that anything with a buffer or DLPack is turned into: doubles in a row in this
/// machine's memory, without a copy where they are that already.
using Doubles = nb::ndarray<const double, nb::c_contig, nb::device::cpu>;
using Indices = nb::ndarray<const std::int64_t, nb::c_contig, nb::device::cpu>;
using Bytes = nb::ndarray<const std::uint8_t, nb::c_contig, nb::device::cpu>;

template <typename T>
using NumpyArray = nb::ndarray<nb::numpy, T>;

inline std::span<const double> spanOf(const Doubles &array) { return {array.data(), array.size()}; }

inline std::span<double> spanOf(const NumpyArray<double> &array) {
  return {array.data(), array.size()};
}

using Shape = std::vector<std::size_t>;

/// A new NumPy array, its memory not initialized.
template <typename T>
NumpyArray<T> makeArray(const Shape &shape) {
  std::size_t size = 1;
  for (std::size_t n : shape)
    size *= n;
  T *data = new T[size == 0 ? 1 : size];
  nb::capsule owner(data, [](void *p) noexcept { delete[] static_cast<T *>(p); });
  return NumpyArray<T>(data, shape.size(), shape.data(), owner);
}

/// A NumPy array that owns the vector. Throws where it has not as many elements as the shape says.
template <typename T>
NumpyArray<T> takeVector(std::vector<T> values, const Shape &shape) {
  if (values.size() !=
      std::accumulate(shape.begin(), shape.end(), std::size_t(1), std::multiplies()))
    throw std::runtime_error("another thread gave the simulator another box of structure factors "
                             "while it was computing");
  values.reserve(1); // an empty array has an address, too
  auto owned = std::make_unique<std::vector<T>>(std::move(values));
  T *data = owned->data();
  nb::capsule owner(owned.release(),
                    [](void *p) noexcept { delete static_cast<std::vector<T> *>(p); });
  return NumpyArray<T>(data, shape.size(), shape.data(), owner);
}

} // namespace nanobragg::python
#endif
