// The compiler itself: programs as text.
#include "lib/Program/ParameterGroups.h"
#include "runtime/kernels/CacheEntry.h"
#include "runtime/kernels/KernelProvider.h"
#include "runtime/python/bindings/PythonSimulator.h"
#include "runtime/simulator/Placement.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace nanobragg::python {
namespace {

KernelRequest requestOf(const std::string &program, const nb::dict &options) {
  KernelRequest request;
  request.program = program;
  for (auto [key, value] : options) {
    const std::string name = nb::cast<std::string>(key);
    std::string text;
    if (!nb::try_cast(value, text))
      throw nb::type_error(("the option '" + name + "' is a string").c_str());
    if (name == "precision")
      request.precision = precisionOf(text);
    else if (name == "target")
      request.target = KernelTarget::fromString(text);
    else if (name == "derivative")
      request.derivative = Derivative::fromString(text);
    else if (name == "until_after")
      request.until = {Until::Side::After, text};
    else if (name == "pipeline")
      request.passes.pipeline = text;
    else if (name == "plugins")
      request.passes.plugins = text;
    else if (name == "patterns")
      request.passes.patterns = text;
    else
      throw std::invalid_argument("there is no option '" + name + "'");
  }
  return request;
}

/// `gradient`: parameters, "none" or "usual". An object of JSON for each, a line each; with timing
/// the first is for the compiler's own passes.
std::string judge(const PythonSimulator &self, const std::string &program,
                  const std::vector<std::string> &pipelines, const std::string &gradient,
                  unsigned repeat, bool blame, double seconds) {
  if (self.options.device.kind == DeviceChoice::Kind::Gpu)
    throw std::invalid_argument("device=" + self.options.device.toString() +
                                ": kernels are judged on the processor, to which gpu-on-cpu gives "
                                "a GPU's program");
  return self.use([&](Simulator &simulator) {
    const Experiment &experiment = simulator.experiment();
    KernelRequest request = decide(experiment, self.options).request;
    request.program = program;
    request.passes = self.options.passes;
    if (gradient != "none")
      request.derivative = {Derivative::Mode::VJP,
                            gradient == "usual" ? std::vector<std::string>()
                                                : resolveParameters(gradient, experiment.variant)};
    std::vector<const char *> texts;
    texts.reserve(pipelines.size());
    for (const std::string &text : pipelines)
      texts.push_back(text.c_str());
    return KernelProvider::ofProcess().compiler(request)->judge(
        request, {&experiment, texts.data(), texts.size(), repeat, blame, seconds});
  });
}

} // namespace

void bindCompiler(nb::module_ &module) {
  module.def(
      "emit_program",
      [](const std::string &program, const std::string &stage, const nb::dict &options) {
        const KernelRequest request = requestOf(program, options);
        nb::gil_scoped_release released;
        return KernelProvider::ofProcess().compiler(request)->emit(request, stage);
      },
      nb::arg("program"), nb::arg("stage"), nb::arg("options"),
      "A program, an nb module as text, in the form of a stage.");
  module.def(
      "build_program",
      [](const std::string &program, const nb::dict &options) {
        const KernelRequest request = requestOf(program, options);
        std::optional<std::vector<char>> bytes;
        {
          nb::gil_scoped_release released;
          bytes = KernelProvider::ofProcess().compiler(request)->build(request);
        }
        if (!bytes)
          throw std::runtime_error("this compiler library makes no kernel files");
        // With a checksum, as nb-compile writes it.
        const std::string file = encodeEntry({*bytes, describeRequest(request)});
        return nb::bytes(file.data(), file.size());
      },
      nb::arg("program"), nb::arg("options"), "The kernel of a program as a shared object.");
  module.def("judge", &judge, nb::arg("core"), nb::arg("program"), nb::arg("pipelines"),
             nb::arg("gradient"), nb::arg("repeat"), nb::arg("blame"), nb::arg("seconds"),
             "Pipelines, compared with the interpreter: an object of JSON for each, a line each.");
}

} // namespace nanobragg::python
