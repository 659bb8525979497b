#include "test/Runtime/CacheTest.h"

#include "runtime/kernels/CacheEntry.h"
#include "test/Runtime/BuildKernelFile.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace nanobragg::test {
namespace {

int *buildCount = nullptr;

int build(const nb_compile_request *request, const char *, void **bytes, size_t *size, char **) {
  ++*buildCount;
  const std::vector<char> image = buildKernelFile(request->variant.toString());
  *bytes = std::malloc(image.size());
  *size = image.size();
  std::memcpy(*bytes, image.data(), image.size());
  return 0;
}

const nb_compiler_api &api() {
  static const nb_compiler_api table = [] {
    nb_compiler_api t = {};
    t.version = NB_COMPILER_API_VERSION;
    t.request_size = sizeof(CompileRequest);
    t.build = build;
    t.free_bytes = [](void *bytes) { std::free(bytes); };
    return t;
  }();
  return table;
}

} // namespace

CacheTest::CacheTest() {
  std::string pattern = (std::filesystem::temp_directory_path() / "nb-cache-XXXXXX").string();
  if (!::mkdtemp(pattern.data()))
    throw std::runtime_error("no temporary directory");
  options.directory = std::filesystem::path(pattern) / "kernels";
  options.compilerBuild = "build-id 1234";
  options.hostCpu = "host cpu: one\n";
  options.warn = [this](const std::string &text) { warnings.push_back(text); };
  buildCount = &builds;
}

CacheTest::~CacheTest() { std::filesystem::remove_all(options.directory.parent_path()); }

std::shared_ptr<KernelCache> CacheTest::cache() { return std::make_shared<KernelCache>(options); }

KernelProvider CacheTest::provider(std::shared_ptr<KernelCache> cache) {
  return KernelProvider([] { return std::make_shared<const CompilerLibrary>(api()); },
                        std::move(cache));
}

void CacheTest::expectRightKernel(const std::string &variant) {
  EXPECT_EQ(provider().get(requestNamed(variant))->variant, variantText(variant));
  EXPECT_THAT(warnings, testing::IsEmpty());
}

std::filesystem::path CacheTest::entryOf(const std::string &variant) {
  return options.directory / (keyOf(cache()->specificationOf(requestNamed(variant))) + ".so");
}

std::string CacheTest::read(const std::filesystem::path &file) const {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

void CacheTest::write(const std::filesystem::path &file, const std::string &bytes) const {
  std::ofstream(file, std::ios::binary) << bytes;
}

std::vector<std::string> CacheTest::files() const {
  std::vector<std::string> names;
  for (const auto &item : std::filesystem::directory_iterator(options.directory))
    if (item.path().filename() != "lock")
      names.push_back(item.path().filename());
  std::sort(names.begin(), names.end());
  return names;
}

} // namespace nanobragg::test
