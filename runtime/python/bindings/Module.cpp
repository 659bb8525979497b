// nanobragg._core: what Python calls. nanobragg/ in this folder's parent has the rest.
#include "lib/Files/FileError.h"
#include "lib/Process/CodeFolders.h"
#include "lib/Program/ParameterGroups.h"
#include "lib/Quantities/UsageError.h"
#include "runtime/python/bindings/ParameterTable.h"
#include "runtime/python/bindings/PythonSimulator.h"

#include <nanobind/stl/string.h>

#include <new>

using namespace nanobragg;
using namespace nanobragg::python;

NB_MODULE(_core, module) {
  module.doc() = "The compiled part of nanobragg.";
  module.attr("version") = NB_VERSION;
  // Frameworks keep functions alive until the process ends.
  nanobind::set_leak_warnings(false);

  // The last that is registered is tried first.
  const nanobind::exception<UsageError> flagError(module, "FlagError", PyExc_ValueError);
  const nanobind::exception<io::FileError> fileError(module, "FileError", PyExc_OSError);
  static nanobind::object unknownName = nanobind::steal(PyErr_NewException(
      "nanobragg.UnknownName",
      nanobind::make_tuple(nanobind::handle(PyExc_ValueError), nanobind::handle(PyExc_LookupError))
          .ptr(),
      nullptr));
  module.attr("UnknownName") = unknownName;
  nanobind::register_exception_translator([](const std::exception_ptr &p, void *) {
    try {
      std::rethrow_exception(p);
    } catch (const UnknownName &e) {
      PyErr_SetString(unknownName.ptr(), e.what());
    } catch (const UnknownParameter &e) {
      PyErr_SetString(unknownName.ptr(), e.what());
    } catch (const std::bad_alloc &) {
      PyErr_SetString(PyExc_MemoryError,
                      "there is not enough memory for this; make images that are "
                      "smaller, or fewer at a time");
    }
  });

  module.def(
      "add_code_folder", [](const std::string &folder) { addCodeFolder(folder); },
      nanobind::arg("folder"), "Where the compiler library is looked for, too.");
  bindLoss(module);
  bindBackground(module);
  bindProfiles(module);
  bindStream(module);
  bindReflections(module);
  bindResponse(module);
  bindSimulator(module);
  bindFunction(module);
  bindExperiment(module);
  bindCompiler(module);
  bindTraceFile(module);
#ifdef NB_WITH_JAX
  bindJax(module);
#endif
}
