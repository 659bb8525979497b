// Copies and pickles.
#include "runtime/python/bindings/ExperimentArchive.h"
#include "runtime/python/bindings/SimulatorClass.h"

#include <nanobind/stl/array.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

namespace nanobragg::python {
namespace {

SimulatorOptions optionsFrom(const nb::tuple &t) {
  SimulatorOptions options;
  options.threads = nb::cast<int>(t[0]);
  options.precision = precisionOf(nb::cast<std::string>(t[1]));
  options.device = nb::cast<std::string>(t[2]);
  const int engine = nb::cast<int>(t[3]);
  if (engine >= 0)
    options.engine = nanobragg::Engine(engine);
  options.kernelFile = nb::cast<std::string>(t[4]);
  options.fallback = nb::cast<bool>(t[5]);
  options.passes.pipeline = nb::cast<std::string>(t[6]);
  options.passes.plugins = nb::cast<std::string>(t[7]);
  options.passes.patterns = nb::cast<std::string>(t[8]);
  options.cull = CullSetting::fromString(nb::cast<std::string>(t[9]));
  options.pixels = pixelsOf(nb::cast<Indices>(t[10]));
  options.specialize = nb::cast<bool>(t[11]);
  return options;
}

/// (pixels, 3), as pixelsOf takes them.
NumpyArray<std::int64_t> rowsOf(const std::vector<PixelIndex> &pixels) {
  std::vector<std::int64_t> rows;
  for (const PixelIndex &p : pixels)
    rows.insert(rows.end(), {p.panel, p.slow, p.fast});
  return takeVector(std::move(rows), {pixels.size(), 3});
}

nb::tuple stateOf(const PythonSimulator &self) {
  const std::string bytes =
      self.use([](Simulator &s) { return archive(s.experiment(), s.listed()); });
  const SimulatorOptions &o = self.options;
  return nb::make_tuple(nb::bytes(bytes.data(), bytes.size()),
                        nb::make_tuple(o.threads, toString(o.precision), o.device.toString(),
                                       o.engine ? int(*o.engine) : -1, o.kernelFile, o.fallback,
                                       o.passes.pipeline, o.passes.plugins, o.passes.patterns,
                                       o.cull ? o.cull->toString() : "", rowsOf(o.pixels),
                                       o.specialize));
}

} // namespace

void bindState(nb::module_ &module, SimulatorClass &simulator) {
  simulator
      .def("copy",
           [](const PythonSimulator &self) {
             return self.use([&](Simulator &s) {
               return std::make_unique<PythonSimulator>(s.copy(), self.options);
             });
           })
      .def("at_pixels",
           [](const PythonSimulator &self, const Indices &rows) {
             if (!self.options.pixels.empty())
               throw std::invalid_argument("a simulator of a list of pixels has no others; take "
                                           "them from one of the whole detector");
             return self.use([&](Simulator &s) {
               SimulatorOptions options = self.options;
               options.pixels = pixelsOf(rows);
               return std::make_unique<PythonSimulator>(s.experiment(), options);
             });
           })
      .def("state", &stateOf);

  module.def(
      "restore",
      [](const nb::bytes &bytes, const nb::tuple &options) {
        const auto [experiment, listed] = restore(std::string_view(bytes.c_str(), bytes.size()));
        const SimulatorOptions how = optionsFrom(options);
        if (!listed.any())
          return std::make_unique<PythonSimulator>(experiment, how);
        return std::make_unique<PythonSimulator>(Simulator::ofListed(experiment, listed, how), how);
      },
      nb::arg("bytes"), nb::arg("options"));
}

} // namespace nanobragg::python
