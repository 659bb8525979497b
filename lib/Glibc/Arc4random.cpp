// arc4random for what asks for it, LLVM and the C++ library's archive: glibc has it since 2.36, and
// the wheels for pip are to run with 2.35, which is Ubuntu 22.04's.
#include <cstdint>
#include <exception>
#include <unistd.h>

extern "C" std::uint32_t arc4random() noexcept {
  std::uint32_t number;
  if (::getentropy(&number, sizeof number) != 0)
    std::terminate();
  return number;
}
