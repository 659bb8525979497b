#include "runtime/kernels/CompilerLibrary.h"

#include <cstdlib>
#include <dlfcn.h>
#include <stdexcept>
#include <system_error>

#ifndef NB_INSTALL_LIBDIR
#error "NB_INSTALL_LIBDIR is the directory that libnb-compiler.so is installed to"
#endif

namespace nanobragg {
namespace {

constexpr const char *libraryName = "libnb-compiler.so";

std::string placesSearched() {
  std::string text;
  for (const std::filesystem::path &path : CompilerLibrary::candidates())
    if (path.has_parent_path())
      text += path.parent_path().string() + ", ";
  return text + "the dynamic loader's path";
}

/// Opened for the life of the process: LLVM's globals do not survive dlclose.
void *openOrThrow(const std::string &path, const std::string &whatWasSought) {
  if (void *library = dlopen(path.c_str(), RTLD_LAZY | RTLD_LOCAL))
    return library;
  const char *reason = dlerror();
  throw std::runtime_error("cannot open the compiler library (" + whatWasSought +
                           "): " + (reason ? reason : "unknown reason") +
                           "; install the package nanobragg-compiler, build the target nb-compiler or set "
                           "NB_COMPILER_LIBRARY to its file");
}

void *openLibrary() {
  const char *named = std::getenv("NB_COMPILER_LIBRARY");
  if (named && *named)
    return openOrThrow(named, "NB_COMPILER_LIBRARY");
  if (const std::filesystem::path file = CompilerLibrary::file(); !file.empty())
    return openOrThrow(file.string(), file.string());
  return openOrThrow(libraryName, "searched " + placesSearched());
}

nb_compile_request toC(const KernelRequest &request) {
  nb_compile_request c = {};
  c.variant = request.variant.c_str();
  c.precision = request.precision.c_str();
  c.target = request.target.c_str();
  c.dump_ir = request.dumpIR.empty() ? nullptr : request.dumpIR.c_str();
  c.engine = request.engine == Engine::Fused ? NB_ENGINE_FUSED : NB_ENGINE_INTERPRETER;
  c.program = request.program.empty() ? nullptr : request.program.c_str();
  c.fixed = request.fixed.empty() ? nullptr : request.fixed.c_str();
  c.symbol = request.symbol.empty() ? nullptr : request.symbol.c_str();
  c.derivative = request.derivative.empty() ? nullptr : request.derivative.c_str();
  return c;
}

[[noreturn]] void fail(const nb_compiler_api &api, char *error) {
  const std::string text = error ? error : "the compiler failed without saying why";
  if (error)
    api.free_text(error);
  throw std::runtime_error(text);
}

} // namespace

std::vector<std::filesystem::path> CompilerLibrary::candidates() {
  std::vector<std::filesystem::path> paths;
  std::error_code error;
  const auto executable = std::filesystem::read_symlink("/proc/self/exe", error);
  if (!error)
    paths.push_back(executable.parent_path().parent_path() / "lib" / libraryName);
  // libnanobragg.so is used by programs that live elsewhere.
  Dl_info here;
  if (dladdr(reinterpret_cast<void *>(&openOrThrow), &here) && here.dli_fname)
    paths.push_back(std::filesystem::path(here.dli_fname).parent_path() / libraryName);
  paths.push_back(std::filesystem::path(NB_INSTALL_LIBDIR) / libraryName);
  return paths;
}

std::filesystem::path CompilerLibrary::file() {
  const char *named = std::getenv("NB_COMPILER_LIBRARY");
  if (named && *named)
    return named;
  for (const std::filesystem::path &path : candidates()) {
    std::error_code ignored;
    if (std::filesystem::exists(path, ignored))
      return path;
  }
  return {};
}

std::shared_ptr<const CompilerLibrary> CompilerLibrary::open() {
  void *library = openLibrary();
  const auto getApi =
      reinterpret_cast<nb_compiler_get_api_fn>(dlsym(library, "nb_compiler_get_api"));
  if (!getApi)
    throw std::runtime_error("the compiler library has no nb_compiler_get_api; it is not "
                             "libnb-compiler.so or it is damaged");
  const nb_compiler_api *api = getApi(NB_COMPILER_API_VERSION);
  if (!api)
    throw std::runtime_error("the compiler library does not speak version " +
                             std::to_string(NB_COMPILER_API_VERSION) +
                             " of the compiler interface; build it and this program together");
  return std::make_shared<const CompilerLibrary>(*api);
}

KernelHandle CompilerLibrary::compile(const KernelRequest &request) const {
  const nb_compile_request c = toC(request);
  nb_kernel *kernel = nullptr;
  char *error = nullptr;
  if (api.compile(&c, &kernel, &error) != 0)
    fail(api, error);
  const std::shared_ptr<nb_kernel> owner(
      kernel, [self = shared_from_this()](nb_kernel *k) { self->api.release(k); });
  return KernelHandle(owner, api.descriptor(kernel));
}

std::optional<std::vector<char>> CompilerLibrary::build(const KernelRequest &request,
                                                        const std::string &kind) const {
  if (!api.build)
    return std::nullopt;
  const nb_compile_request c = toC(request);
  void *bytes = nullptr;
  std::size_t size = 0;
  char *error = nullptr;
  if (api.build(&c, kind.c_str(), &bytes, &size, &error) != 0)
    fail(api, error);
  const char *begin = static_cast<const char *>(bytes);
  std::vector<char> image(begin, begin + size);
  api.free_bytes(bytes);
  return image;
}

std::string CompilerLibrary::emit(const KernelRequest &request, const std::string &stage) const {
  const nb_compile_request c = toC(request);
  char *text = nullptr, *error = nullptr;
  if (api.emit(&c, stage.c_str(), &text, &error) != 0)
    fail(api, error);
  const std::string result = text ? text : "";
  if (text)
    api.free_text(text);
  return result;
}

std::string CompilerLibrary::interpret(const KernelRequest &request, const void *const *arguments,
                                       const nb_interpret_options &options, void *image) const {
  if (!api.interpret)
    throw std::runtime_error("the compiler library has no interpreter");
  const nb_compile_request c = toC(request);
  char *report = nullptr, *error = nullptr;
  if (api.interpret(&c, arguments, &options, image, &report, &error) != 0)
    fail(api, error);
  const std::string result = report ? report : "";
  if (report)
    api.free_text(report);
  return result;
}

std::shared_ptr<const PreparedProgram>
CompilerLibrary::prepare(const KernelRequest &request) const {
  if (!api.prepare_program)
    throw std::runtime_error("the compiler library has no interpreter that can be kept ready; build "
                             "it and this program together");
  const nb_compile_request c = toC(request);
  nb_program *program = nullptr;
  char *error = nullptr;
  if (api.prepare_program(&c, nullptr, &program, &error) != 0)
    fail(api, error);
  return std::make_shared<const PreparedProgram>(api, program);
}

std::string PreparedProgram::run(const void *const *arguments, const nb_interpret_options &options,
                                 void *const *outputs) const {
  const std::lock_guard lock(mutex);
  char *report = nullptr, *error = nullptr;
  if (api.run_program(program, arguments, &options, outputs, &report, &error) != 0)
    fail(api, error);
  const std::string result = report ? report : "";
  if (report)
    api.free_text(report);
  return result;
}

EngineComparison CompilerLibrary::compareEngines(const KernelRequest &request,
                                                 const void *const *arguments,
                                                 const nb_compare_options &options) const {
  if (!api.compare_engines)
    throw std::runtime_error("the compiler library cannot compare engines; build it and this "
                             "program together");
  const nb_compile_request c = toC(request);
  char *report = nullptr, *error = nullptr;
  std::int32_t differ = 0;
  if (api.compare_engines(&c, arguments, &options, &differ, &report, &error) != 0)
    fail(api, error);
  EngineComparison comparison = {differ != 0, report ? report : ""};
  if (report)
    api.free_text(report);
  return comparison;
}

} // namespace nanobragg
