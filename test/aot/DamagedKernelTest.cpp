// A kernel file runs as code in the process that loads it: one in which a single bit has changed
// must be refused before that.
#include "runtime/kernels/CacheEntry.h"
#include "runtime/kernels/CompilerLibrary.h"
#include "runtime/kernels/KernelFit.h"
#include "runtime/kernels/Refusal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <random>
#include <unistd.h>

namespace {

using namespace nanobragg;
using testing::HasSubstr;
using testing::ThrowsMessage;

class DamagedKernel : public testing::Test {
protected:
  DamagedKernel() {
    KernelRequest request;
    request.variant = ProgramVariant{}.toString();
    good = encodeEntry({CompilerLibrary::open()->build(request).value(), "a test"});
  }
  ~DamagedKernel() override { std::filesystem::remove(path); }

  void write(std::string_view bytes) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
  }

  const std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("nb-damaged-" + std::to_string(::getpid()) + ".so");
  std::string good;
};

TEST_F(DamagedKernel, GoodFileIsLoaded) {
  write(good);
  EXPECT_EQ(openKernelFile(path)->abi_version, unsigned(NB_KERNEL_ABI_VERSION));
}

TEST_F(DamagedKernel, EachOf200FlippedBitsIsRefused) {
  const unsigned seed = std::random_device{}();
  std::mt19937_64 random(seed);
  for (int i = 0; i != 200; ++i) {
    const std::size_t bit = random() % (8 * good.size());
    std::string damaged = good;
    damaged[bit / 8] ^= char(1 << bit % 8);
    write(damaged);
    EXPECT_THROW(openKernelFile(path), Refusal) << "bit " << bit << ", seed " << seed;
  }
}

TEST_F(DamagedKernel, TruncatedFilesAreRefused) {
  for (std::size_t size : {good.size() - 1, good.size() - 64, good.size() / 2, std::size_t(4096)}) {
    write(std::string_view(good).substr(0, size));
    EXPECT_THAT([&] { openKernelFile(path); }, ThrowsMessage<Refusal>(HasSubstr("cut short")))
        << size;
  }
  write("\x7f"
        "ELF");
  EXPECT_THROW(openKernelFile(path), Refusal);
}

TEST_F(DamagedKernel, FileWithoutChecksumIsRefused) {
  write(std::string_view(good).substr(0, decodeEntry(good).image.size()));
  EXPECT_THAT([&] { openKernelFile(path); }, ThrowsMessage<Refusal>(HasSubstr("compile it again")));
}

} // namespace
