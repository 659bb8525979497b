/* The one C entry of libnb-compiler.so: what the runtime and nb-sim ask of the compiler. The
 * library is opened with dlopen when a kernel has to be compiled, IR shown, or a program
 * interpreted; nothing else in the process maps MLIR or LLVM. */
#ifndef NANOBRAGG_COMPILERABI_H
#define NANOBRAGG_COMPILERABI_H

#include "nanobragg/KernelABI.h"

#include <stddef.h>

namespace nanobragg {
struct CompileRequest; /* lib/Program/CompileRequest.h */
struct Experiment;     /* lib/Experiment/Experiment.h */
} // namespace nanobragg

extern "C" {

#define NB_COMPILER_API_VERSION 9u

/* Both sides are from one build: the request is a structure of C++, whose size nb_compiler_api
 * contains. */
typedef nanobragg::CompileRequest nb_compile_request;

/* A compiled kernel; its descriptor lives as long as it does. */
typedef struct nb_kernel nb_kernel;

/* A program that the interpreter is ready to run; its descriptor lives as long as it does. */
typedef struct nb_program nb_program;

/* How the interpreter runs a program. All zero: the image and nothing else. */
typedef struct nb_interpret_options {
  int32_t threads; /* 0: as many as the machine offers */
  int32_t json;    /* 1: the report of probes as JSON */
  int32_t trace;   /* 1: report how one pixel is computed; the image is not made */
  int64_t trace_panel, trace_slow, trace_fast;
  int32_t check_finite; /* 1: NaN or infinity is an error, which says where it first appears */
  void (*progress)(void *context, double fraction); /* one call at a time, or NULL */
  int32_t (*cancelled)(void *context);              /* asked between tiles; or NULL */
  void *context;
} nb_interpret_options;

/* When two engines agree: |kernel - interpreter| <= rtol * |interpreter| + atol_of_max * maximum,
 * the latter over all pixels of the interpreter. */
typedef struct nb_compare_options {
  double rtol, atol_of_max;
  int32_t every_stage; /* 1: interpret the program after each pass even when the engines agree */
  int32_t threads;     /* for the interpreter; 0: as many as the machine offers */
} nb_compare_options;

/* Pipelines to be judged. The request specifies precision, target, patterns, plugins, the
 * parameters of the gradient (a mode without parameters: up to three usual ones), and a program in
 * place of the variant's. */
typedef struct nb_judge_options {
  const nanobragg::Experiment *experiment; /* whose numbers the program gets */
  const char *const *pipelines;
  size_t num_pipelines;
  uint32_t repeat;     /* rounds of timing; 0: none */
  int32_t blame;       /* 1: name the first wrong pass of those that are wrong */
  double most_seconds; /* for each; 0: 120 */
} nb_judge_options;

/* Every function returns 0 on success; otherwise *error holds one sentence to be freed with
 * free_text. Functions may be called from any thread. */
typedef struct nb_compiler_api {
  uint32_t version;    /* NB_COMPILER_API_VERSION */
  size_t request_size; /* size of nb_compile_request, in bytes */

  int (*compile)(const nb_compile_request *request, nb_kernel **kernel, char **error);
  const nb_kernel_descriptor *(*descriptor)(const nb_kernel *kernel);
  void (*release)(nb_kernel *kernel);

  /* The program as text: stage is "nb" (as the frontend wrote it), "mlir" (after the pipeline's
   * nb-level passes or those of `pipeline`, or where `until` says), "report" (as JSON: {"text",
   * "passes": [{"pass", "seconds", "changed", "remarks": [{"kind", "pass", "message", "value",
   * "line", "column"}]}]}), "stages" (the names of the pipeline's stages, one a line), "llvm" (with
   * the names of values), "asm", "stats" (what its loops are made of, registers and the bound),
   * "stats-json", or for a GPU "ptx". */
  int (*emit)(const nb_compile_request *request, const char *stage, char **text, char **error);

  void (*free_text)(char *text);

  /* A kernel as a file: kind "so" is an ELF shared object that needs nothing but libc, "obj" a
   * relocatable object. Both define nb_kernel_get_descriptor (KernelABI.h). "cubin" and "spirv" are
   * the code of one GPU chip alone. *bytes is to be freed with free_bytes. */
  int (*build)(const nb_compile_request *request, const char *kind, void **bytes, size_t *size,
               char **error);
  void (*free_bytes)(void *bytes);

  /* Runs an experiment on both engines, in f64 whatever the variant's image type. *report gives
   * the difference of the images; *differ is 1 when that is beyond the tolerance, and the report
   * then names the first pass and the first value that differ. */
  int (*compare_engines)(const nb_compile_request *request, const void *const *arguments,
                         const nb_compare_options *options, int32_t *differ, char **report,
                         char **error);

  /* A program for the interpreter, and its runs. The program's descriptor says which parameters it
   * takes and which outputs it has; its functions are NULL. `probe` asks for a report on the values
   * whose names match, with * and ?; NULL: none. A program may be run by one thread at a time.
   * *report holds what probe and options ask for, to be freed with free_text. With a trace there
   * are no outputs. */
  int (*prepare_program)(const nb_compile_request *request, const char *probe, nb_program **program,
                         char **error);
  const nb_kernel_descriptor *(*program_descriptor)(const nb_program *program);
  int (*run_program)(const nb_program *program, const void *const *arguments,
                     const nb_interpret_options *options, void *const *outputs, char **report,
                     char **error);
  void (*release_program)(nb_program *program);

  /* The debug information of a kernel file ("so"): the lines of its program at addresses, which
   * count from where the file is loaded (0: none), and the program's text, to be freed with
   * free_text. The text is empty where there is no debug information. */
  int (*program_lines)(const void *bytes, size_t size, const uint64_t *addresses, size_t count,
                       uint32_t *lines, char **text, char **error);

  /* Judges each of the pipelines, as nb-try does. *report has an object of JSON for each, a line
   * each, as nb-try --json prints them; with timing the first is for the compiler's own passes. */
  int (*judge)(const nb_compile_request *request, const nb_judge_options *options, char **report,
               char **error);

  /* Sets flags of MLIR ("--mlir-timing") for the life of the process, before any other call of the
   * library. The error says what is wrong with a flag. */
  int (*set_flags)(const char *const *words, size_t count, char **error);

  /* From now on, each call calls `span` at its end for each of its passes and phases, on the
   * calling thread; NULL: no longer. Times are nanoseconds of CLOCK_MONOTONIC. */
  void (*record_spans)(void (*span)(const char *name, const char *detail, int64_t begin,
                                    int64_t end));

  /* The cycles for which the busiest part of a processor is occupied by instructions of a kernel
   * file ("so"), according to LLVM's scheduling model: counts[i] times the one at addresses[i],
   * which counts from where the file is loaded. `target` is the descriptor's. *part names that part
   * of the processor, to be freed with free_text; it is NULL where there is no model of it. */
  int (*busiest_part)(const void *bytes, size_t size, const char *target, const uint64_t *addresses,
                      const uint64_t *counts, size_t count, double *cycles, char **part,
                      char **error);
} nb_compiler_api;

/* NULL when this library does not speak `version`. */
typedef const nb_compiler_api *(*nb_compiler_get_api_fn)(uint32_t version);
const nb_compiler_api *nb_compiler_get_api(uint32_t version);
}
#endif
