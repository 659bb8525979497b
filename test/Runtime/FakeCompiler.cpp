// A compiler library without a compiler, for tests of nb-sim itself. Whatever is asked for, it
// hands out one kernel: pixel = 1 + slow + fast, each row taking (phi_steps - 1) milliseconds; or 0
// with NB_FAKE_BLACK in the environment.
#include "lib/Program/CompileRequest.h"
#include "nanobragg/CompilerABI.h"

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <string>
#include <thread>

struct nb_kernel {};

namespace {

constexpr nb_kernel_parameter parameters[] = {
    {"fast_pixels", NB_PARAMETER_INDEX, "1"},
    {"slow_pixels", NB_PARAMETER_INDEX, "1"},
    {"phi_steps", NB_PARAMETER_INDEX, "1"},
};

constexpr nb_kernel_output outputs[] = {{"image", NB_OUTPUT_IMAGE, "photons"}};

std::int64_t index(const void *const *arguments, int which) {
  return *static_cast<const std::int64_t *>(arguments[which]);
}

void runTile(const void *const *arguments, const void *, const nb_tile *tile, void *const *outputs,
             void *, void *) {
  const std::int64_t fastPixels = index(arguments, 0), slowPixels = index(arguments, 1);
  const bool black = std::getenv("NB_FAKE_BLACK");
  for (std::int64_t slow = tile->slow_begin; slow != tile->slow_end; ++slow) {
    std::this_thread::sleep_for(std::chrono::milliseconds(index(arguments, 2) - 1));
    float *row = static_cast<float *>(outputs[0]) + (tile->panel * slowPixels + slow) * fastPixels;
    for (std::int64_t fast = 0; fast != fastPixels; ++fast)
      row[fast] = black ? 0 : float(1 + slow + fast);
  }
}

constexpr nb_kernel_descriptor descriptor = {NB_KERNEL_ABI_VERSION,
                                             sizeof(nb_kernel_descriptor),
                                             0,
                                             NB_IMAGE_F32,
                                             "fake",
                                             "",
                                             "fake",
                                             "f64",
                                             std::size(parameters),
                                             parameters,
                                             1,
                                             outputs,
                                             [](const void *const *) -> std::int64_t { return 0; },
                                             [](const void *const *, void *) {},
                                             runTile};

constexpr nb_compiler_api api = {
    NB_COMPILER_API_VERSION,
    sizeof(nb_compile_request),
    [](const nb_compile_request *, nb_kernel **kernel, char **) {
      *kernel = new nb_kernel;
      return 0;
    },
    [](const nb_kernel *) { return &descriptor; },
    [](nb_kernel *kernel) { delete kernel; },
    [](const nb_compile_request *request, const char *stage, char **text, char **) {
      *text = strdup((std::string(stage) + ": " + request->variant.toString() + "\n").c_str());
      return 0;
    },
    [](char *text) { std::free(text); },
};

} // namespace

extern "C" __attribute__((visibility("default"))) const nb_compiler_api *
nb_compiler_get_api(uint32_t version) {
  return version == NB_COMPILER_API_VERSION ? &api : nullptr;
}
