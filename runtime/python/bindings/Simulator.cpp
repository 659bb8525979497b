#include "lib/Experiment/Words.h"
#include "runtime/kernels/KernelProvider.h"
#include "runtime/python/bindings/ParameterTable.h"
#include "runtime/python/bindings/Settings.h"
#include "runtime/python/bindings/SimulatorClass.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace nanobragg::python {

namespace {

nb::object image(PythonSimulator &self, const std::string &dtype, nb::object out,
                 const nb::object &progress) {
  const Shape shape = self.imageShape();
  const auto render = [&](auto pixel, const auto &array) {
    using Pixel = decltype(pixel);
    const std::span<Pixel> pixels(array.data(), array.size());
    const std::string shortfall = self.run(
        [&](Simulator &s, const RunOptions &how) {
          const RunResult result = s.render(pixels, how);
          if (result.cancelled)
            throw Cancelled();
          return result.shortfall;
        },
        progress);
    if (!shortfall.empty())
      nb::module_::import_("warnings")
          .attr("warn")(shortfall, nb::module_::import_("nanobragg").attr("Warning"));
  };
  const auto into = [&](auto pixel) -> nb::object {
    using Pixel = decltype(pixel);
    if (out.is_none()) {
      const NumpyArray<Pixel> made = makeArray<Pixel>(shape);
      render(pixel, made);
      return nb::cast(made);
    }
    using Writable = nb::ndarray<Pixel, nb::c_contig, nb::device::cpu>;
    Writable given;
    if (!nb::try_cast(out, given, false))
      throw std::invalid_argument(
          "out= needs an array of " + std::string(sizeof(Pixel) == 8 ? "float64" : "float32") +
          ", one element after another, that may be written, in this machine's memory");
    bool same = given.ndim() == shape.size();
    for (std::size_t i = 0; same && i != shape.size(); ++i)
      same = given.shape(i) == shape[i];
    if (!same)
      throw std::invalid_argument("out= needs an array of shape " + shapeText(shape));
    render(pixel, given);
    return out;
  };
  if (dtype == "float64")
    return into(double());
  if (dtype == "float32")
    return into(float());
  throw std::invalid_argument("an image has dtype float64 or float32, not " + dtype);
}

} // namespace

void bindSimulator(nb::module_ &module) {
  SimulatorClass simulator(module, "Core", nb::is_weak_referenceable(),
                           "The compiled part of a Simulator.");
  bindValues(simulator);
  bindDerivatives(simulator);
  bindReflectionTable(simulator);
  bindLabGeometry(simulator);
  bindOnDevice(module, simulator);
  bindState(module, simulator);
  simulator.def_ro("version", &PythonSimulator::version)
      .def_prop_ro("shape",
                   [](const PythonSimulator &self) {
                     nb::list shape;
                     for (std::size_t n : self.imageShape())
                       shape.append(n);
                     return nb::tuple(shape);
                   })
      .def("image", &image, nb::arg("dtype"), nb::arg("out").none(), nb::arg("progress").none())
      .def("rendered",
           [](const PythonSimulator &self) {
             const auto rendered = self.use([](Simulator &s) {
               const auto r = s.rendered();
               return std::vector<std::uint8_t>(r.begin(), r.end());
             });
             return takeVector(std::vector<std::uint8_t>(rendered), self.imageShape());
           })
      .def("trace",
           [](PythonSimulator &self, std::int64_t panel, std::int64_t slow, std::int64_t fast) {
             if (!self.options.pixels.empty())
               throw std::invalid_argument(
                   "a list of pixels has no trace; make a simulator without --pixels");
             return self.run([&](Simulator &s, const RunOptions &) {
               const auto [panels, slows, fasts] = s.shape();
               if (panel < 0 || panel >= panels || slow < 0 || slow >= slows || fast < 0 ||
                   fast >= fasts)
                 throw std::invalid_argument("there is no pixel (" + std::to_string(panel) + ", " +
                                             std::to_string(slow) + ", " + std::to_string(fast) +
                                             "); the image has shape (" + std::to_string(panels) +
                                             ", " + std::to_string(slows) + ", " +
                                             std::to_string(fasts) + ")");
               return s.trace({panel, slow, fast});
             });
           })
      .def("emit",
           [](PythonSimulator &self, const std::string &stage) {
             return self.use([&](Simulator &s) { return s.emit(stage); });
           })
      .def("target",
           [](PythonSimulator &self) { return self.use([](Simulator &s) { return s.target(); }); })
      .def("prepare",
           [](PythonSimulator &self) {
             self.use([](Simulator &s) {
               s.prepare();
               return 0;
             });
           })
      .def("engine",
           [](const PythonSimulator &self) {
             return self.use([](Simulator &s) { return s.engine(); }) == nanobragg::Engine::Fused
                        ? "fused"
                        : "interpreter";
           })
      .def("fallback_reasons",
           [](const PythonSimulator &self) {
             return self.use([](Simulator &s) {
               return std::pair(s.fallbackReason(), s.deviceFallbackReason());
             });
           })
      .def("averages",
           [](const PythonSimulator &self) {
             return self.use([](Simulator &s) { return s.averages(); });
           })
      .def("timing",
           [](const PythonSimulator &self) {
             const SimulatorTiming t = self.use([](Simulator &s) { return s.timing(); });
             nb::dict d;
             d["value_seconds"] = t.value;
             d["derivative_seconds"] = t.derivative;
             d["values"] = t.values;
             d["derivatives"] = t.derivatives;
             d["device"] = t.device;
             return d;
           })
      .def("options",
           [](const PythonSimulator &self) {
             nb::dict d;
             d["average"] =
                 wordsOf<Averaging>[std::size_t(self.simulator.experiment().variant.averaging)];
             d["settings"] = settingsOf(self.options);
             return d;
           })
      .def("variant", [](const PythonSimulator &self) {
        return self.simulator.experiment().variant.toString();
      });

  module.def("take_notices", &KernelProvider::takeNotices);
  module.def("counters", [] {
    const KernelCounters c = KernelProvider::ofProcess().counters();
    nb::dict d;
    d["hits"] = c.hits;
    d["loads"] = c.loads;
    d["compiles"] = c.compiles;
    d["cache_seconds"] = c.cacheSeconds;
    d["compiler_load_seconds"] = c.compilerLoadSeconds;
    d["compile_seconds"] = c.compileSeconds;
    return d;
  });
}

} // namespace nanobragg::python
