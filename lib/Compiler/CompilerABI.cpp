#include "nanobragg/CompilerABI.h"

#include "lib/Compiler/CodeGen/Compiler.h"
#include "lib/Compiler/CodeGen/ReadLines.h"
#include "lib/Compiler/CodeGen/Stats/PortUse.h"
#include "lib/Compiler/Compare/CompareEngines.h"
#include "lib/Compiler/Lab/Judge.h"
#include "lib/Compiler/Lab/TrialText.h"
#include "lib/Compiler/Pipelines/Dialects.h"
#include "lib/Compiler/Pipelines/MLIRFlags.h"
#include "lib/Compiler/Pipelines/Pipeline.h"
#include "lib/Compiler/Pipelines/RegisterPasses.h"
#include "lib/Compiler/Pipelines/TraceSpans.h"
#include "lib/Compiler/Pipelines/ValueNames.h"
#include "lib/Compiler/Run/InterpretExperiment.h"
#include "lib/Program/CompileRequest.h"
#include "lib/Quantities/Printable.h"

#include <atomic>
#include <cstdlib>
#include <cstring>

using namespace mlir::nb;

struct nb_kernel {
  std::unique_ptr<JitKernel> jit;
};

struct nb_program {
  std::unique_ptr<InterpretedExperiment> experiment;
};

namespace {
char *copyText(const std::string &text) {
  char *copy = static_cast<char *>(std::malloc(text.size() + 1));
  if (copy)
    std::memcpy(copy, text.c_str(), text.size() + 1);
  return copy;
}

std::atomic<SpanSink> spanSink = nullptr;

/// Runs `work`; what goes wrong goes to *error.
template <typename Work>
int guardedCall(char **error, Work work) {
  const TraceSpans spans(spanSink);
  try {
    if (llvm::Error failure = work()) {
      *error = copyText(nanobragg::printable(llvm::toString(std::move(failure))));
      return 1;
    }
    return 0;
  } catch (const std::exception &exception) {
    *error = copyText(nanobragg::printable(exception.what()));
    return 1;
  }
}

/// Runs `work` on the variant.
template <typename Work>
int guarded(const nb_compile_request *request, char **error, Work work) {
  return guardedCall(error, [&] {
    CompileOptions options(*request);
    if (!options.passes.any()) // the compiler's own passes are not told
      options.passes.tell = nullptr;
    return work(request->variant, options);
  });
}

/// Runs `work` on the parsed program, or on the variant when there is none.
template <typename Work>
int guardedEither(const nb_compile_request *request, char **error, Work work) {
  if (request->program.empty())
    return guarded(request, error, work);
  return guardedCall(error, [&]() -> llvm::Error {
    mlir::DialectRegistry registry;
    registerCompilerDialects(registry);
    mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
    const CompileOptions options(*request);
    // Ops of a plugin's dialect are to be understood.
    if (auto failure = loadPlugins(options.passes.plugins, registry))
      return failure;
    context.appendDialectRegistry(registry);
    std::string message;
    mlir::ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic &diagnostic) {
      if (message.empty())
        message = sentenceOf(diagnostic);
    });
    const std::string name = request->programName.empty() ? "program" : request->programName;
    auto program =
        parseNamed(llvm::MemoryBuffer::getMemBufferCopy(request->program, name), context);
    if (!program)
      return llvm::createStringError("the program cannot be read: " + message);
    return work(*program, options);
  });
}

int compile(const nb_compile_request *request, nb_kernel **kernel, char **error) {
  return guarded(request, error, [&](const auto &variant, const auto &options) -> llvm::Error {
    auto compiled = compileKernel(variant, options);
    if (!compiled)
      return compiled.takeError();
    *kernel = new nb_kernel{std::move(*compiled)};
    return llvm::Error::success();
  });
}

const nb_kernel_descriptor *descriptor(const nb_kernel *kernel) {
  return &kernel->jit->descriptor();
}

void release(nb_kernel *kernel) { delete kernel; }

int build(const nb_compile_request *request, const char *kind, void **bytes, size_t *size,
          char **error) {
  return guardedEither(request, error, [&](auto program, const auto &options) -> llvm::Error {
    auto built = buildKernel(program, options, kind);
    if (!built)
      return built.takeError();
    *bytes = std::malloc(built->size());
    if (!*bytes)
      return llvm::createStringError("out of memory for a kernel file of " +
                                     std::to_string(built->size()) + " bytes");
    std::memcpy(*bytes, built->data(), built->size());
    *size = built->size();
    return llvm::Error::success();
  });
}

int emit(const nb_compile_request *request, const char *stage, char **text, char **error) {
  return guardedEither(request, error, [&](auto program, const auto &options) -> llvm::Error {
    auto emitted = emitProgram(program, options, stage);
    if (!emitted)
      return emitted.takeError();
    *text = copyText(*emitted);
    return llvm::Error::success();
  });
}

int prepareProgram(const nb_compile_request *request, const char *probe, nb_program **program,
                   char **error) {
  return guarded(request, error, [&](const auto &variant, const auto &options) -> llvm::Error {
    auto prepared = InterpretedExperiment::prepare(variant, options, probe ? probe : "");
    if (!prepared)
      return prepared.takeError();
    *program = new nb_program{std::move(*prepared)};
    return llvm::Error::success();
  });
}

const nb_kernel_descriptor *programDescriptor(const nb_program *program) {
  return &program->experiment->descriptor();
}

int runProgram(const nb_program *program, const void *const *arguments,
               const nb_interpret_options *how, void *const *outputs, char **report, char **error) {
  return guardedCall(error, [&]() -> llvm::Error {
    auto text = program->experiment->run(arguments, *how, outputs);
    if (!text)
      return text.takeError();
    *report = copyText(*text);
    return llvm::Error::success();
  });
}

void releaseProgram(nb_program *program) { delete program; }

int compare(const nb_compile_request *request, const void *const *arguments,
            const nb_compare_options *how, int32_t *differ, char **report, char **error) {
  return guarded(request, error, [&](const auto &variant, const auto &options) -> llvm::Error {
    CompareOptions compareOptions;
    compareOptions.tolerance = {how->rtol, how->atol_of_max};
    compareOptions.everyStage = how->every_stage;
    compareOptions.threads = how->threads;
    auto comparison = compareEngines(variant, arguments, options, compareOptions);
    if (!comparison)
      return comparison.takeError();
    *differ = !comparison->agree();
    *report = copyText(comparison->toString());
    return llvm::Error::success();
  });
}

int programLines(const void *bytes, size_t size, const uint64_t *addresses, size_t count,
                 uint32_t *lines, char **text, char **error) {
  return guardedCall(error, [&]() -> llvm::Error {
    auto found = readLines({static_cast<const char *>(bytes), size}, {addresses, count});
    if (!found)
      return found.takeError();
    std::copy(found->lines.begin(), found->lines.end(), lines);
    *text = copyText(found->text);
    return llvm::Error::success();
  });
}

int judgePipelines(const nb_compile_request *request, const nb_judge_options *options,
                   char **report, char **error) {
  return guardedCall(error, [&]() -> llvm::Error {
    const nanobragg::Experiment &experiment = *options->experiment;
    const std::string &program = request->program;
    auto subject =
        program.empty()
            ? Subject::ofExperiment(experiment, *request)
            : Subject::ofProgram(llvm::MemoryBuffer::getMemBufferCopy(program, "program"),
                                 experiment, *request);
    TrialOptions trials = trialOptionsOf(*request, *subject);
    trials.gradientBy = request->derivative.parameters;
    if (request->derives() && trials.gradientBy.empty())
      trials.gradientBy = subject->usualParameters(3);
    trials.countInstructions = false;
    trials.mostSeconds = options->most_seconds > 0 ? options->most_seconds : trials.mostSeconds;
    lookWhereLightIs(*subject, trials);
    subject->restrictTo(/*samples=*/2e6);
    Judging judging;
    if (options->repeat > 0)
      judging.pipelines.push_back({"default", ""});
    for (size_t i = 0; i != options->num_pipelines; ++i)
      judging.pipelines.push_back({"given " + std::to_string(i + 1), options->pipelines[i]});
    judging.repeat = options->repeat;
    judging.blame = options->blame ? Judging::Whom::Wrong : Judging::Whom::Nobody;
    auto expectation = expect(*subject, trials);
    if (!expectation)
      return expectation.takeError();
    std::string text;
    for (const TrialResult &result : judge(*subject, *expectation, trials, judging))
      text += toJson(result) + "\n";
    *report = copyText(text);
    return llvm::Error::success();
  });
}

int setFlags(const char *const *words, size_t count, char **error) {
  return guardedCall(error,
                     [&] { return setMLIRFlags(std::vector<std::string>(words, words + count)); });
}

void recordSpans(SpanSink sink) { spanSink = sink; }

int busiestPart(const void *bytes, size_t size, const char *target, const uint64_t *addresses,
                const uint64_t *counts, size_t count, double *cycles, char **part, char **error) {
  return guardedCall(error, [&]() -> llvm::Error {
    auto parts = findOccupied({static_cast<const char *>(bytes), size}, target, {addresses, count},
                              {counts, count});
    if (!parts)
      return parts.takeError();
    const Occupied *most = longest(*parts);
    *cycles = most ? most->cycles : 0;
    *part = most ? copyText(most->part) : nullptr;
    return llvm::Error::success();
  });
}

void freeText(char *text) { std::free(text); }
void freeBytes(void *bytes) { std::free(bytes); }

constexpr nb_compiler_api api = {NB_COMPILER_API_VERSION,
                                 sizeof(nb_compile_request),
                                 compile,
                                 descriptor,
                                 release,
                                 emit,
                                 freeText,
                                 build,
                                 freeBytes,
                                 compare,
                                 prepareProgram,
                                 programDescriptor,
                                 runProgram,
                                 releaseProgram,
                                 programLines,
                                 judgePipelines,
                                 setFlags,
                                 recordSpans,
                                 busiestPart};
} // namespace

extern "C" __attribute__((visibility("default"))) const nb_compiler_api *
nb_compiler_get_api(uint32_t version) {
  return version == NB_COMPILER_API_VERSION ? &api : nullptr;
}
