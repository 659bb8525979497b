#include "test/fuzz/FuzzTarget.h"

#include "lib/Quantities/Printable.h"

#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sys/mman.h>
#include <unistd.h>

namespace nanobragg::fuzz {

std::map<std::string, Target> &targets() {
  static std::map<std::string, Target> all;
  return all;
}

void require(bool holds, const char *message) {
  if (holds)
    return;
  std::fprintf(stderr, "does not hold: %s\n", message);
  std::abort();
}

void requireSentence(const std::exception &refusal) {
  const char *text = refusal.what();
  const bool good =
      std::strlen(text) > 10 && std::strlen(text) < 2500 && printable(text, 2500) == text;
  if (!good)
    std::fprintf(stderr, "the refusal: %s\n", text);
  require(good, "a refusal is a line of printable text");
}

std::string fileWith(Bytes bytes) {
  static const int descriptor = ::memfd_create("input", MFD_CLOEXEC);
  const bool written = ::ftruncate(descriptor, 0) == 0 &&
                       ::pwrite(descriptor, bytes.data(), bytes.size(), 0) == ssize_t(bytes.size());
  require(written, "the input can be put into a file");
  return "/proc/self/fd/" + std::to_string(descriptor);
}

} // namespace nanobragg::fuzz
