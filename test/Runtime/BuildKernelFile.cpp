#include "test/Runtime/BuildKernelFile.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string_view>

namespace nanobragg::test {

std::vector<char> buildKernelFile(const std::string &structure) {
  std::ifstream file(NB_TEST_KERNEL_FILE, std::ios::binary);
  std::vector<char> image{std::istreambuf_iterator<char>(file), {}};
  constexpr std::string_view marker = "@structure@";
  const auto at = std::search(image.begin(), image.end(), marker.begin(), marker.end());
  if (at == image.end() || structure.size() >= 2048)
    throw std::runtime_error("the test kernel cannot take this structure");
  std::fill_n(at, marker.size(), '\0');
  std::copy(structure.begin(), structure.end(), at);
  return image;
}

} // namespace nanobragg::test
