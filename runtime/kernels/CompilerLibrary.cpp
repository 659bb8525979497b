#include "runtime/kernels/CompilerLibrary.h"

#include "lib/Process/CodeFolders.h"
#include "lib/Process/Environment.h"
#include "lib/Process/Refusal.h"
#include "lib/Quantities/UsageError.h"
#include "lib/Trace/Trace.h"
#include "runtime/processor/LargeStack.h"

#include <dlfcn.h>
#include <stdexcept>

namespace nanobragg {
namespace {

constexpr const char *libraryName = "libnb-compiler.so";
/// The same over the shared MLIR, which plugins are linked with, too.
constexpr const char *libraryForPlugins = "libnb-compiler-shared.so";
constexpr const char *remedy = "; install the package nanobragg-compiler, build the target "
                               "nb-compiler or set NB_COMPILER_LIBRARY to its file";

/// Opened for the life of the process: LLVM's globals do not survive dlclose.
void *openOrThrow(const std::string &path, const std::string &whatWasSought) {
  trace::Span span("compiler", "open the compiler library");
  span.explain([&] { return path; });
  void *library = nullptr;
  std::string reason;
  onLargeStack([&] {
    library = dlopen(path.c_str(), RTLD_LAZY | RTLD_LOCAL);
    const char *error = library ? nullptr : dlerror();
    reason = error ? error : "unknown reason";
  });
  if (library)
    return library;
  throw std::runtime_error("cannot open the compiler library (" + whatWasSought + "): " + reason +
                           remedy);
}

/// The file that NB_COMPILER_LIBRARY names; empty: it is not set. The meaning of a relative name
/// would depend on where the program was started.
std::filesystem::path namedFile() {
  const std::filesystem::path named = environmentVariable("NB_COMPILER_LIBRARY");
  if (!named.empty() && !named.is_absolute())
    throw Refusal("NB_COMPILER_LIBRARY names '" + named.string() +
                  "'; give an absolute path, such as /usr/lib/" + libraryName);
  return named;
}

/// A text of the library's, which is freed; empty where there is none.
std::string taken(const nb_compiler_api &api, char *text) {
  const std::string result = text ? text : "";
  if (text)
    api.free_text(text);
  return result;
}

[[noreturn]] void failToFind(const CodeSearch &search) {
  std::string text;
  for (const std::filesystem::path &folder : codeFolders())
    text += (text.empty() ? "there is none in " : ", ") + folder.string();
  for (const std::string &refused : search.refused)
    text += "; " + refused;
  throw std::runtime_error("cannot open the compiler library: " + text + remedy);
}

void *openLibrary() {
  if (const std::string named = namedFile().string(); !named.empty())
    return openOrThrow(named, "NB_COMPILER_LIBRARY");
  const CodeSearch search = findCode(libraryName);
  if (search.found.empty())
    failToFind(search);
  return openOrThrow(search.found.front().string(), search.found.front().string());
}

[[noreturn]] void fail(const nb_compiler_api &api, char *error) {
  throw std::runtime_error(error ? taken(api, error) : "the compiler failed without a message");
}

std::vector<std::string> &flagsOfProcess() {
  static std::vector<std::string> flags;
  return flags;
}

/// A function of the interface that returns 0 when all went well.
template <typename Call>
int callCompiler(const nb_compiler_api &api, Call call) {
  if (api.record_spans)
    api.record_spans(trace::isOn() ? trace::addCompilerSpan : nullptr);
  int status = 0;
  onLargeStack([&] { status = call(); });
  return status;
}

} // namespace

std::filesystem::path CompilerLibrary::file() {
  if (std::filesystem::path named = namedFile(); !named.empty())
    return named;
  const CodeSearch search = findCode(libraryName);
  return search.found.empty() ? std::filesystem::path() : search.found.front();
}

std::shared_ptr<const CompilerLibrary> CompilerLibrary::open() { return ofLibrary(openLibrary()); }

std::shared_ptr<const CompilerLibrary> CompilerLibrary::openForPlugins() {
  if (namedFile().empty())
    if (const CodeSearch search = findCode(libraryForPlugins); !search.found.empty())
      return ofLibrary(openOrThrow(search.found.front().string(), search.found.front().string()));
  return open(); // which may be one that plugins can use, or refuses them
}

std::shared_ptr<const CompilerLibrary> CompilerLibrary::ofLibrary(void *library) {
  const auto getApi =
      reinterpret_cast<nb_compiler_get_api_fn>(dlsym(library, "nb_compiler_get_api"));
  if (!getApi)
    throw std::runtime_error("the compiler library has no nb_compiler_get_api; it is not "
                             "libnb-compiler.so or it is damaged");
  const nb_compiler_api *api = getApi(NB_COMPILER_API_VERSION);
  if (!api || api->request_size != sizeof(CompileRequest))
    throw std::runtime_error("the compiler library does not speak version " +
                             std::to_string(NB_COMPILER_API_VERSION) +
                             " of the compiler interface; build it and this program together");
  const std::vector<std::string> &flags = flagsOfProcess();
  if (!flags.empty()) {
    if (!api->set_flags)
      throw std::runtime_error("the compiler library takes no flags of MLIR; build it and this "
                               "program together");
    std::vector<const char *> words;
    words.reserve(flags.size());
    for (const std::string &flag : flags)
      words.push_back(flag.c_str());
    if (char *error = nullptr; api->set_flags(words.data(), words.size(), &error) != 0)
      throw UsageError(taken(*api, error));
  }
  return std::make_shared<const CompilerLibrary>(*api);
}

void CompilerLibrary::setFlags(const std::vector<std::string> &words) {
  if (words.empty())
    return;
  flagsOfProcess() = words;
  open();
}

bool CompilerLibrary::hasFlags() { return !flagsOfProcess().empty(); }

KernelHandle CompilerLibrary::compile(const KernelRequest &request) const {
  nb_kernel *kernel = nullptr;
  char *error = nullptr;
  if (callCompiler(api, [&] { return api.compile(&request, &kernel, &error); }) != 0)
    fail(api, error);
  const std::shared_ptr<nb_kernel> owner(
      kernel, [self = shared_from_this()](nb_kernel *k) { self->api.release(k); });
  return KernelHandle(owner, api.descriptor(kernel));
}

std::optional<std::vector<char>> CompilerLibrary::build(const KernelRequest &request,
                                                        const std::string &kind) const {
  if (!api.build)
    return std::nullopt;
  if (request.until.any())
    throw std::runtime_error("--" + request.until.toString() +
                             " applies to programs that are printed: add --emit=mlir");
  void *bytes = nullptr;
  std::size_t size = 0;
  char *error = nullptr;
  if (callCompiler(api, [&] { return api.build(&request, kind.c_str(), &bytes, &size, &error); }) !=
      0)
    fail(api, error);
  const char *begin = static_cast<const char *>(bytes);
  std::vector<char> image(begin, begin + size);
  api.free_bytes(bytes);
  return image;
}

std::string CompilerLibrary::emit(const KernelRequest &request, const std::string &stage) const {
  if (request.until.any() && stage != "mlir")
    throw std::runtime_error("--" + request.until.toString() +
                             " applies to --emit=mlir, not to --emit=" + stage);
  char *text = nullptr, *error = nullptr;
  if (callCompiler(api, [&] { return api.emit(&request, stage.c_str(), &text, &error); }) != 0)
    fail(api, error);
  return taken(api, text);
}

CompilerLibrary::ProgramLines
CompilerLibrary::programLines(std::span<const char> image,
                              std::span<const std::uint64_t> addresses) const {
  ProgramLines result{{}, std::vector<std::uint32_t>(addresses.size())};
  if (!api.program_lines)
    return result;
  char *text = nullptr, *error = nullptr;
  if (callCompiler(api, [&] {
        return api.program_lines(image.data(), image.size(), addresses.data(), addresses.size(),
                                 result.lines.data(), &text, &error);
      }) != 0)
    fail(api, error);
  result.text = taken(api, text);
  return result;
}

std::optional<CompilerLibrary::BusiestPart>
CompilerLibrary::busiestPart(std::span<const char> image, const std::string &target,
                             std::span<const std::uint64_t> addresses,
                             std::span<const std::uint64_t> counts) const {
  if (!api.busiest_part)
    return std::nullopt;
  BusiestPart result;
  char *part = nullptr, *error = nullptr;
  if (callCompiler(api, [&] {
        return api.busiest_part(image.data(), image.size(), target.c_str(), addresses.data(),
                                counts.data(), addresses.size(), &result.cycles, &part, &error);
      }) != 0)
    fail(api, error);
  if (!part)
    return std::nullopt;
  result.name = taken(api, part);
  return result;
}

std::shared_ptr<const PreparedProgram> CompilerLibrary::prepare(const KernelRequest &request,
                                                                const std::string &probe) const {
  if (!api.prepare_program)
    throw std::runtime_error(
        "the compiler library has no interpreter; build it and this program together");
  nb_program *program = nullptr;
  char *error = nullptr;
  const char *names = probe.empty() ? nullptr : probe.c_str();
  if (callCompiler(api, [&] { return api.prepare_program(&request, names, &program, &error); }) !=
      0)
    fail(api, error);
  return std::make_shared<const PreparedProgram>(api, program);
}

std::string PreparedProgram::run(const void *const *arguments, const nb_interpret_options &options,
                                 void *const *outputs) const {
  const std::lock_guard lock(mutex);
  char *report = nullptr, *error = nullptr;
  if (callCompiler(api, [&] {
        return api.run_program(program, arguments, &options, outputs, &report, &error);
      }) != 0)
    fail(api, error);
  return taken(api, report);
}

EngineComparison CompilerLibrary::compareEngines(const KernelRequest &request,
                                                 const void *const *arguments,
                                                 const nb_compare_options &options) const {
  if (!api.compare_engines)
    throw std::runtime_error(
        "the compiler library cannot compare engines; build it and this program together");
  char *report = nullptr, *error = nullptr;
  std::int32_t differ = 0;
  if (callCompiler(api, [&] {
        return api.compare_engines(&request, arguments, &options, &differ, &report, &error);
      }) != 0)
    fail(api, error);
  return {differ != 0, taken(api, report)};
}

std::string CompilerLibrary::judge(const KernelRequest &request,
                                   const nb_judge_options &options) const {
  if (!api.judge)
    throw std::runtime_error(
        "the compiler library judges no pipelines; build it and this program together");
  char *report = nullptr, *error = nullptr;
  if (callCompiler(api, [&] { return api.judge(&request, &options, &report, &error); }) != 0)
    fail(api, error);
  return taken(api, report);
}

} // namespace nanobragg
