// A kernel file runs as code in the process that loads it: one in which a single bit has changed
// must be refused before that.
#include "lib/Process/Refusal.h"
#include "runtime/kernels/CacheEntry.h"
#include "runtime/kernels/CompilerLibrary.h"
#include "runtime/kernels/KernelFit.h"

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
    request.variant = {};
    request.target = KernelTarget::fromString("x86-64-v2");
    good = encodeEntry({CompilerLibrary::open()->build(request).value(), "a test"});
  }
  ~DamagedKernel() override { std::filesystem::remove(path); }

  /// The good file with another text in it, and the checksum that belongs to that.
  std::string with(std::string_view text, std::string_view instead) const {
    const CacheEntry entry = decodeEntry(good);
    std::string image(entry.image.begin(), entry.image.end());
    std::size_t places = 0;
    for (std::size_t at = 0; (at = image.find(text, at)) != image.npos; ++places)
      image.replace(at, instead.size(), instead);
    EXPECT_GT(places, 0u) << text;
    return encodeEntry({image, entry.specification});
  }

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

TEST_F(DamagedKernel, SoundFileOfAnotherAbiIsRefused) {
  const std::string version = std::to_string(NB_KERNEL_ABI_VERSION);
  write(with("\nabi " + version + "\n", "\nabi " + std::string(version.size(), '0') + "\n"));
  EXPECT_THAT([&] { openKernelFile(path); },
              ThrowsMessage<std::runtime_error>(HasSubstr("0 of the kernel ABI")));
}

TEST_F(DamagedKernel, SoundFileForAnotherProcessorIsRefused) {
  // Both descriptor and text name the instruction sets.
  write(with("sse4.2 popcnt", "sse4.2 popcn2"));
  EXPECT_THAT([&] { openKernelFile(path); },
              ThrowsMessage<std::runtime_error>(HasSubstr("this processor lacks popcn2")));
}

TEST_F(DamagedKernel, FileWithoutChecksumIsRefused) {
  write(std::string_view(good).substr(0, decodeEntry(good).image.size()));
  EXPECT_THAT([&] { openKernelFile(path); }, ThrowsMessage<Refusal>(HasSubstr("compile it again")));
}

} // namespace
