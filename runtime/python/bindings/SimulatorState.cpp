// Copies and pickles.
#include "runtime/python/bindings/ExperimentArchive.h"
#include "runtime/python/bindings/Settings.h"
#include "runtime/python/bindings/SimulatorClass.h"

#include <nanobind/stl/array.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

namespace nanobragg::python {
namespace {

/// A pickle; what is in it may grow, and older ones are refused by their version.
nb::dict stateOf(const PythonSimulator &self) {
  const std::string bytes =
      self.use([](Simulator &s) { return archive(s.experiment(), s.listed()); });
  nb::dict state;
  state["version"] = NB_VERSION;
  state["experiment"] = nb::bytes(bytes.data(), bytes.size());
  state["settings"] = settingsOf(self.options);
  return state;
}

std::unique_ptr<PythonSimulator> restored(const nb::dict &state) {
  const auto version = nb::cast<std::string>(state["version"]);
  if (version != NB_VERSION)
    throw std::invalid_argument("this simulator was pickled by version " + version +
                                " of nanobragg, and this is version " NB_VERSION
                                "; pickles are for the version that wrote them");
  const auto bytes = nb::cast<nb::bytes>(state["experiment"]);
  const auto [experiment, listed] = restore(std::string_view(bytes.c_str(), bytes.size()));
  SimulatorOptions how;
  applySettings(nb::cast<nb::dict>(state["settings"]), how);
  if (!listed.any())
    return std::make_unique<PythonSimulator>(experiment, how);
  return std::make_unique<PythonSimulator>(Simulator::ofListed(experiment, listed, how), how);
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

  module.def("restore", &restored, nb::arg("state"));
}

} // namespace nanobragg::python
