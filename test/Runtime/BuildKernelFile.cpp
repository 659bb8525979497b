#include "test/Runtime/BuildKernelFile.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string_view>

namespace nanobragg::test {

std::vector<char> buildKernelFile(const std::string &variant) {
  std::ifstream file(NB_TEST_KERNEL_FILE, std::ios::binary);
  std::vector<char> image{std::istreambuf_iterator<char>(file), {}};
  constexpr std::string_view marker = "@variant@";
  const auto at = std::search(image.begin(), image.end(), marker.begin(), marker.end());
  if (at == image.end() || variant.size() >= 2048)
    throw std::runtime_error("the test kernel cannot take this variant");
  std::fill_n(at, marker.size(), '\0');
  std::copy(variant.begin(), variant.end(), at);
  return image;
}

} // namespace nanobragg::test
