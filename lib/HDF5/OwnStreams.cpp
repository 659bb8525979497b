// stderr and stdout of an HDF5 that is linked into the library (NB_STATIC_HDF5). The linker gives
// these to all who name stderr and stdout (--wrap), and the C library's to __real_stderr and
// __real_stdout.
#include <cstdio>

extern "C" {
extern FILE *__real_stderr;
extern FILE *__real_stdout;
FILE *__wrap_stderr;
FILE *__wrap_stdout;
}

namespace {

__attribute__((constructor)) void takeStreams() {
  __wrap_stderr = __real_stderr;
  __wrap_stdout = __real_stdout;
}

} // namespace
