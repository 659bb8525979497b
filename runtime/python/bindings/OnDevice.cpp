#include "runtime/python/bindings/OnDevice.h"

#include "lib/Program/ParameterElements.h"
#include "runtime/python/bindings/SimulatorClass.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <string_view>

namespace nanobragg::python {
namespace {

/// A view of DLPack's that keeps the memory.
nb::object viewOf(const DeviceArray &array) {
  auto kept = std::make_unique<std::shared_ptr<const void>>(array.memory.owner);
  const nb::capsule owner(kept.release(), [](void *p) noexcept {
    delete static_cast<std::shared_ptr<const void> *>(p);
  });
  const auto type = array.isDouble ? nb::dtype<double>() : nb::dtype<float>();
  const nb::ndarray<nb::array_api> view(reinterpret_cast<void *>(array.memory.address),
                                        array.shape.size(), array.shape.data(), owner, nullptr,
                                        type, array.memory.kind, array.memory.number);
  return nb::cast(view);
}

template <typename T>
nb::object copied(const DeviceArray &array) {
  auto made = makeArray<T>(array.shape);
  {
    nb::gil_scoped_release released;
    array.memory.copyTo(made.data());
  }
  return nb::cast(made);
}

nb::tuple tupleOf(const Shape &shape) {
  nb::list list;
  for (std::size_t n : shape)
    list.append(n);
  return nb::tuple(list);
}

/// Structure factors that lie on the GPU, if they are given.
RunOptions withFactors(const PythonSimulator &self, RunOptions how,
                       const std::optional<DeviceMemory> &factors) {
  if (factors)
    how.onDevice["F"] = *factors;
  return how;
}

std::optional<DeviceMemory> factorsOf(const PythonSimulator &self, const nb::object &given) {
  if (given.is_none())
    return std::nullopt;
  const Parameter &parameter = *findParameter("F");
  return onDevice(given, "F", shapeOf(self.simulator.experiment(), parameter));
}

/// Throws where readers of a DLPack capsule would follow an address of 0.
void checkDlpack(const nb::capsule &capsule) {
  const std::string_view name = capsule.name() ? capsule.name() : "";
  constexpr std::size_t beforeVersioned = 32; // version, context, deleter and flags
  const bool isVersioned = name == "dltensor_versioned";
  if (!isVersioned && name != "dltensor")
    throw std::invalid_argument(
        "__dlpack__ returned a capsule whose tensor has been taken already, or that has none");
  const auto &tensor = *reinterpret_cast<const nb::dlpack::dltensor *>(
      static_cast<const char *>(capsule.data()) + (isVersioned ? beforeVersioned : 0));
  if (tensor.ndim < 0 || (tensor.ndim > 0 && !tensor.shape))
    throw std::invalid_argument("__dlpack__ hands out a tensor of " + std::to_string(tensor.ndim) +
                                " dimensions without a shape");
}

} // namespace

DeviceMemory onDevice(const nb::object &object, const char *what, const Shape &shape) {
  using Any = nb::ndarray<nb::ro>;
  auto array = std::make_shared<Any>();
  if (!nb::try_cast(object, *array, false))
    throw std::invalid_argument(std::string(what) + " hands out no memory of a GPU by __dlpack__");
  const std::string name(what);
  if (array->size() != 0 && !array->data())
    throw std::invalid_argument(name + " on a GPU hands out an address of 0");
  if (array->dtype() != nb::dtype<double>())
    throw std::invalid_argument(name + " on a GPU has to be an array of float64");
  bool same = array->ndim() == shape.size();
  for (std::size_t i = 0; same && i != shape.size(); ++i)
    same = array->shape(i) == shape[i];
  if (!same)
    throw std::invalid_argument(name + " on a GPU has to have the shape " + shapeText(shape));
  std::int64_t stride = 1;
  for (std::size_t i = shape.size(); i-- != 0; stride *= std::int64_t(shape[i]))
    if (shape[i] > 1 && array->stride(i) != stride)
      throw std::invalid_argument(name + " on a GPU has to have one element after another; give "
                                         "it contiguous");
  // The capsule is given back with the GIL, whichever thread lets go of it.
  const std::shared_ptr<const void> owner(array.get(), [array](const void *) mutable {
    nb::gil_scoped_acquire acquired;
    array.reset();
  });
  return {array->device_type(),
          array->device_id(),
          reinterpret_cast<std::uint64_t>(array->data()),
          array->size() * sizeof(double),
          owner,
          {}};
}

void bindOnDevice(nb::module_ &module, SimulatorClass &simulator) {
  module.def("check_dlpack", &checkDlpack, nb::arg("capsule"),
             "Refuses what __dlpack__ hands out, if it has dimensions and no shape.");
  nb::class_<DeviceArray>(module, "DeviceArray",
                          "An image in the memory of the GPU that rendered it, for from_dlpack of "
                          "PyTorch, JAX or CuPy, which see it without a copy. It is complete, for "
                          "every stream; its memory is freed with the last of those who have it.")
      .def_prop_ro("shape", [](const DeviceArray &a) { return tupleOf(a.shape); })
      .def_prop_ro("dtype",
                   [](const DeviceArray &a) {
                     return nb::module_::import_("numpy").attr("dtype")(a.isDouble ? "float64"
                                                                                   : "float32");
                   })
      .def(
          "numpy",
          [](const DeviceArray &a) { return a.isDouble ? copied<double>(a) : copied<float>(a); },
          "A copy in this machine's memory.")
      .def("__dlpack__", [](const DeviceArray &a,
                            const nb::kwargs &how) { return viewOf(a).attr("__dlpack__")(**how); })
      .def("__dlpack_device__",
           [](const DeviceArray &a) { return nb::make_tuple(a.memory.kind, a.memory.number); });

  simulator
      .def(
          "image_on_device",
          [](PythonSimulator &self, bool isDouble, const nb::object &progress,
             const nb::object &factors) -> nb::object {
            const auto given = factorsOf(self, factors);
            auto image = self.run(
                [&](Simulator &s, const RunOptions &how) {
                  return s.imageOnDevice(isDouble ? PixelType::F64 : PixelType::F32,
                                         withFactors(self, how, given));
                },
                progress);
            if (!image)
              return nb::none();
            return nb::cast(DeviceArray{std::move(*image), self.imageShape(), isDouble});
          },
          nb::arg("is_double"), nb::arg("progress").none(), nb::arg("factors").none())
      .def(
          "gradient_on_device",
          [](PythonSimulator &self, const std::string &wrt, const nb::object &cotangent,
             const nb::object &factors) {
            const auto given = factorsOf(self, factors);
            const DeviceMemory pixels = onDevice(cotangent, "the cotangent", self.imageShape());
            const auto g = self.run([&](Simulator &s, const RunOptions &how) {
              s.setRunOptions(withFactors(self, how, given));
              return s.gradient(wrt, pixels);
            });
            return asDict(self, g);
          },
          nb::arg("wrt"), nb::arg("cotangent"), nb::arg("factors").none());
}

} // namespace nanobragg::python
