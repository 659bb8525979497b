// A compiler library without a compiler whose kernels are files, for tests of nb-sim with a cache.
// Every build appends a line to the file NB_TEST_BUILD_LOG, once the NB_TEST_BUILD_SECONDS that it
// takes are over.
#include "lib/Program/CompileRequest.h"
#include "nanobragg/CompilerABI.h"
#include "test/Runtime/BuildKernelFile.h"

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <fstream>
#include <thread>

struct nb_kernel {};

namespace {

int build(const nb_compile_request *request, const char *, void **bytes, size_t *size,
          char **error) {
  if (const char *seconds = std::getenv("NB_TEST_BUILD_SECONDS"))
    std::this_thread::sleep_for(std::chrono::duration<double>(std::atof(seconds)));
  std::vector<char> image;
  try {
    image = nanobragg::test::buildKernelFile(request->variant.toString());
  } catch (const std::exception &problem) { // nb-sim has a C++ library of its own
    *error = strdup(problem.what());
    return 1;
  }
  *bytes = std::malloc(image.size());
  if (!*bytes) {
    *error = strdup("out of memory");
    return 1;
  }
  *size = image.size();
  std::memcpy(*bytes, image.data(), image.size());
  if (const char *log = std::getenv("NB_TEST_BUILD_LOG"))
    std::ofstream(log, std::ios::app) << request->variant.toString() << std::endl;
  return 0;
}

const nb_compiler_api &api() {
  static const nb_compiler_api table = [] {
    nb_compiler_api t = {};
    t.version = NB_COMPILER_API_VERSION;
    t.request_size = sizeof(nb_compile_request);
    t.compile = [](const nb_compile_request *, nb_kernel **, char **error) {
      *error = strdup("this compiler makes files only");
      return 1;
    };
    t.free_text = [](char *text) { std::free(text); };
    t.build = build;
    t.free_bytes = [](void *bytes) { std::free(bytes); };
    return t;
  }();
  return table;
}

} // namespace

extern "C" __attribute__((visibility("default"))) const nb_compiler_api *
nb_compiler_get_api(uint32_t version) {
  return version == NB_COMPILER_API_VERSION ? &api() : nullptr;
}
