// The entry that libFuzzer calls: the only target that is linked in.
#include "test/fuzz/FuzzTarget.h"

#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  using namespace nanobragg::fuzz;
  static const Target target = targets().begin()->second;
  target({reinterpret_cast<const char *>(data), size});
  return 0;
}
