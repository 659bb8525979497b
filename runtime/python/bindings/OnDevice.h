// Arrays in the memory of a GPU.
#ifndef NANOBRAGG_PYTHON_ONDEVICE_H
#define NANOBRAGG_PYTHON_ONDEVICE_H

#include "runtime/python/bindings/Arrays.h"

#include "nanobragg/Run.h"

namespace nanobragg::python {

/// An array that others read through DLPack. It is complete before it is handed out, so that every
/// stream may read it at once.
struct DeviceArray {
  DeviceMemory memory;
  Shape shape;
  bool isDouble = true;
};

/// The data that an object with DLPack's methods has in a GPU's memory: doubles in a row in
/// this shape. The owner keeps its capsule. Throws std::invalid_argument that names `what`.
DeviceMemory onDevice(const nb::object &object, const char *what, const Shape &shape);

} // namespace nanobragg::python
#endif
