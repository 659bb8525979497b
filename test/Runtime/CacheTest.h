// A cache directory of a test's own.
#ifndef NANOBRAGG_TEST_CACHETEST_H
#define NANOBRAGG_TEST_CACHETEST_H

#include "runtime/kernels/KernelProvider.h"
#include "test/Runtime/RequestNamed.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

namespace nanobragg::test {

class CacheTest : public testing::Test {
protected:
  CacheTest();
  ~CacheTest() override;

  /// A cache on the test's directory; its warnings go to `warnings`.
  std::shared_ptr<KernelCache> cache();
  /// Has this cache and a stand-in for the compiler that counts what it builds in `builds`.
  KernelProvider provider(std::shared_ptr<KernelCache> cache);
  KernelProvider provider() { return provider(cache()); }

  /// A process that asks for this variant gets its kernel, and no warning.
  void expectRightKernel(const std::string &variant);

  std::filesystem::path entryOf(const std::string &variant);
  std::string read(const std::filesystem::path &file) const;
  void write(const std::filesystem::path &file, const std::string &bytes) const;
  std::vector<std::string> files() const; ///< other than the lock

  CacheOptions options; ///< for cache()
  std::vector<std::string> warnings;
  int builds = 0;
};

} // namespace nanobragg::test
#endif
