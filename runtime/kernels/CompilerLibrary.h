// Libnb-compiler.so, opened on demand.
#ifndef NANOBRAGG_COMPILERLIBRARY_H
#define NANOBRAGG_COMPILERLIBRARY_H

#include "lib/Parallel/ProcessMutex.h"
#include "lib/Program/CompileRequest.h"
#include "lib/Program/KernelSpecification.h"
#include "nanobragg/CompilerABI.h"
#include "nanobragg/DeviceChoice.h"
#include "nanobragg/Engine.h"
#include "nanobragg/SimulatorOptions.h"
#include "runtime/processor/KernelRunner.h"

#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace nanobragg {

namespace gpu {
class Device;
}

/// A request to the compiler, and the place where the kernel is to run.
struct KernelRequest : CompileRequest {
  std::string file{};  ///< for KernelProvider: a kernel file that takes its place
  std::string shape{}; ///< shapeOf() the experiment, by which a tuned schedule is found
  DeviceChoice choice{DeviceChoice::Kind::Cpu};
  /// Found for that choice; empty: the processor.
  std::vector<std::shared_ptr<gpu::Device>> gpus{};

  bool isForGpu() const { return target.vendor() != nullptr; }
  /// As a kernel says what it is of, but for fixed counts.
  KernelSpecification specification() const { return {variant, derivative, {}, cull}; }
};

/// A program that the interpreter is ready to run. Runs wait for each other.
class PreparedProgram {
public:
  PreparedProgram(const nb_compiler_api &api, nb_program *program) : api(api), program(program) {}
  PreparedProgram(const PreparedProgram &) = delete;
  ~PreparedProgram() { api.release_program(program); }

  /// Its parameters and outputs; there are no functions.
  const nb_kernel_descriptor &descriptor() const { return *api.program_descriptor(program); }
  /// Returns the report that the options ask for.
  std::string run(const void *const *arguments, const nb_interpret_options &options,
                  void *const *outputs) const;

private:
  const nb_compiler_api &api;
  nb_program *program;
  mutable ProcessMutex mutex;
};

/// The compiler's C interface with exceptions and ownership. Every failure is a std::runtime_error
/// whose text is the compiler's sentence. Safe to use from several threads.
class CompilerLibrary : public std::enable_shared_from_this<CompilerLibrary> {
public:
  /// Opens file(). The error names the places searched, and those that were left alone because
  /// other users can write to them.
  static std::shared_ptr<const CompilerLibrary> open();
  /// The same for programs with plugins: libnb-compiler-shared.so, which has the MLIR that plugins
  /// are linked with, where it is.
  static std::shared_ptr<const CompilerLibrary> openForPlugins();

  /// The handle keeps the library alive.
  KernelHandle compile(const KernelRequest &request) const;

  /// The kernel as a shared object that needs nothing but libc ("so") or as an object to link
  /// ("obj"); nothing when this library only compiles in process.
  std::optional<std::vector<char>> build(const KernelRequest &request,
                                         const std::string &kind = "so") const;

  /// The program as text; stage is "nb", "mlir", "llvm" or "asm".
  std::string emit(const KernelRequest &request, const std::string &stage) const;

  /// The program that a kernel file was compiled from, and its lines at addresses in the file as it
  /// is loaded; see nb_compiler_api::program_lines.
  struct ProgramLines {
    std::string text{};
    std::vector<std::uint32_t> lines{};
  };
  ProgramLines programLines(std::span<const char> image,
                            std::span<const std::uint64_t> addresses = {}) const;

  /// The part of the processor that is occupied longest with instructions of a kernel file, see
  /// nb_compiler_api::busiest_part; nothing where the compiler has no model of the processor.
  struct BusiestPart {
    std::string name;
    double cycles = 0;
  };
  std::optional<BusiestPart> busiestPart(std::span<const char> image, const std::string &target,
                                         std::span<const std::uint64_t> addresses,
                                         std::span<const std::uint64_t> counts) const;

  bool canInterpret() const { return api.prepare_program; }

  /// The program for the interpreter, see nb_compiler_api::prepare_program. `probe` names the
  /// values that its runs report on; empty: none.
  std::shared_ptr<const PreparedProgram> prepare(const KernelRequest &request,
                                                 const std::string &probe = "") const;

  /// Runs the program on both engines, see nb_compiler_api::compare_engines.
  EngineComparison compareEngines(const KernelRequest &request, const void *const *arguments,
                                  const nb_compare_options &options) const;

  /// Judges pipelines of the request's program, see nb_compiler_api::judge: the report.
  std::string judge(const KernelRequest &request, const nb_judge_options &options) const;

  /// The file that open() opens: the one named by NB_COMPILER_LIBRARY if that is set, else the
  /// first that findCode finds. Empty: there is none. Throws a Refusal when the variable names no
  /// absolute path.
  static std::filesystem::path file();

  /// Flags of MLIR ("--mlir-timing") that each library follows from now on. Opens it where there
  /// are any. Throws UsageError.
  static void setFlags(const std::vector<std::string> &words);
  /// Have such flags been set? The compiler then has something to show, which a cached kernel has
  /// not.
  static bool hasFlags();

  explicit CompilerLibrary(const nb_compiler_api &api) : api(api) {}

private:
  static std::shared_ptr<const CompilerLibrary> ofLibrary(void *library);

  const nb_compiler_api &api;
};

} // namespace nanobragg
#endif
