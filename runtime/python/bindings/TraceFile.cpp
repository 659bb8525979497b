// A timeline of the process: NB_TRACE_EVENTS, and trace_events() in Python.
#include "lib/Files/TraceFile.h"

#include "runtime/python/bindings/PythonSimulator.h"

#include <nanobind/stl/string.h>

#include <cstdio>
#include <exception>
#include <unistd.h>

namespace nanobragg::python {
namespace {

/// A process that does nothing but start programs leaves the file to them.
void writeAtExit(trace::Clock::time_point began, pid_t process) {
  if (process != ::getpid() || trace::isEmpty())
    return;
  try {
    trace::recordTo(trace::fileOfEnvironment(), began);
    trace::writeRecord("python");
  } catch (const std::exception &error) {
    std::fprintf(stderr, "WARNING: NB_TRACE_EVENTS: %s\n", error.what());
  }
}

void beginTrace(const std::string &file) {
  if (trace::isOn())
    throw std::runtime_error("a timeline of this process is being recorded already, by "
                             "trace_events() or NB_TRACE_EVENTS; there is one at a time");
  trace::recordTo(file);
}

} // namespace

void bindTraceFile(nb::module_ &module) {
  module.def("begin_trace", &beginTrace, nb::arg("file"), "Opens the file of a timeline.");
  module.def("end_trace", [] { trace::writeRecord("python"); }, "Writes it.");
  if (trace::fileOfEnvironment().empty())
    return;
  const auto began = trace::Clock::now();
  trace::start(began);
  nb::module_::import_("atexit").attr("register")(
      nb::cpp_function([began, process = ::getpid()] { writeAtExit(began, process); }));
}

} // namespace nanobragg::python
