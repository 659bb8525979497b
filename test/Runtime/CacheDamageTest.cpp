#include "runtime/kernels/CacheEntry.h"
#include "test/Runtime/CacheTest.h"

#include <cstring>
#include <random>

using namespace nanobragg;
using namespace nanobragg::test;
using testing::HasSubstr;
using testing::ThrowsMessage;

namespace {

class CacheDamageTest : public CacheTest {
protected:
  CacheDamageTest() {
    expectRightKernel("x");
    entry = entryOf("x");
    good = read(entry);
  }

  /// The damaged entry is noticed, and a good one takes its place.
  void expectRepaired(const std::string &damaged) {
    write(entry, damaged);
    builds = 0;
    expectRightKernel("x");
    EXPECT_EQ(builds, 1);
    EXPECT_EQ(read(entry), good);
  }

  void expectRefused(const std::string &damaged, const char *why) {
    EXPECT_THAT([&] { decodeEntry(damaged); }, ThrowsMessage<std::runtime_error>(HasSubstr(why)));
    expectRepaired(damaged);
  }

  std::string patched(std::size_t fromEnd, const void *bytes, std::size_t size) const {
    std::string copy = good;
    std::memcpy(copy.data() + copy.size() - fromEnd, bytes, size);
    return copy;
  }

  std::filesystem::path entry;
  std::string good;
};

TEST_F(CacheDamageTest, Truncated) {
  expectRefused("", "too short");
  expectRefused(good.substr(0, 40), "too short");
  expectRefused(good.substr(0, good.size() / 2), "lacks the end of a kernel file");
  expectRefused(good.substr(0, good.size() - 1), "lacks the end of a kernel file");
  expectRefused(good.substr(1), "not as long as it says");
}

TEST_F(CacheDamageTest, LongerThanItSays) {
  expectRefused(good + good, "not as long as it says");
  expectRepaired(good + "x");
}

TEST_F(CacheDamageTest, FlippedBitInEachPart) {
  for (std::size_t at : {std::size_t(1), good.size() / 3, good.size() - 100, good.size() - 20}) {
    std::string damaged = good;
    damaged[at] ^= 4;
    expectRefused(damaged, "checksum");
  }
}

TEST_F(CacheDamageTest, AnotherVersionOfTheFormat) {
  const std::uint32_t version = 2;
  expectRefused(patched(48, &version, sizeof(version)), "another version");
}

TEST_F(CacheDamageTest, SizesThatOverflow) {
  for (std::uint64_t size : {~std::uint64_t(0), std::uint64_t(1) << 63, std::uint64_t(1) << 40}) {
    expectRefused(patched(64, &size, sizeof(size)), "not as long as it says");
    expectRefused(patched(56, &size, sizeof(size)), "not as long as it says");
  }
}

TEST_F(CacheDamageTest, SoundEntryWithoutASharedObject) {
  const std::string specification = cache()->specificationOf(requestNamed("x"));
  const std::string text = "no shared object";
  expectRefused(encodeEntry({text, specification}), "no shared object");
}

TEST_F(CacheDamageTest, ImpossiblyLongFileIsNotRead) {
  std::filesystem::resize_file(entry, std::uintmax_t(1) << 40);
  builds = 0;
  expectRightKernel("x");
  EXPECT_EQ(builds, 1);
  EXPECT_EQ(read(entry), good);
}

TEST_F(CacheDamageTest, ThousandRandomMutations) {
  std::mt19937 random(2026);
  const auto below = [&](std::size_t n) {
    return std::uniform_int_distribution<std::size_t>(0, n - 1)(random);
  };
  const KernelHandle reference = provider().get(requestNamed("x"));
  for (int i = 0; i != 1000; ++i) {
    std::string damaged = good;
    switch (below(5)) {
    case 0: // one bit
      damaged[below(damaged.size())] ^= char(1 << below(8));
      break;
    case 1: // a few bytes
      for (std::size_t n = 1 + below(16); n; --n)
        damaged[below(damaged.size())] = char(below(256));
      break;
    case 2: // the end is missing
      damaged.resize(below(damaged.size()));
      break;
    case 3: { // a hole of zeros, as a power failure leaves it
      const std::size_t begin = below(damaged.size());
      const std::size_t size = std::min<std::size_t>(1 + below(4096), damaged.size() - begin);
      std::fill_n(damaged.begin() + std::ptrdiff_t(begin), size, '\0');
      break;
    }
    case 4: // something is inserted
      damaged.insert(below(damaged.size()), 1 + below(64), char(below(256)));
      break;
    }
    write(entry, damaged);
    builds = 0;
    ASSERT_STREQ(provider().get(requestNamed("x"))->variant, variantText("x").c_str());
    ASSERT_EQ(builds, damaged == good ? 0 : 1) << "mutation " << i;
    ASSERT_EQ(read(entry), good);
  }
  EXPECT_THAT(warnings, testing::IsEmpty());
}

} // namespace
