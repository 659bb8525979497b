#include "lib/Files/MemoryLimit.h"

#include "lib/Files/FileContents.h"
#include "lib/Formats/HklFile.h"
#include "test/IO/TemporaryDirectory.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>

#include <limits>

namespace nanobragg::io {
namespace {

using testing::HasSubstr;

TEST(MemoryLimit, LeastOfAGroupAndThoseAboveIt) {
  TemporaryDirectory mount;
  std::filesystem::create_directories(mount.path("slice/job/step"));
  constexpr auto none = std::numeric_limits<std::uint64_t>::max();
  EXPECT_EQ(memoryLimitOfGroup(mount.path(""), "/slice/job/step"), none);
  mount.add("slice/job/step/memory.max", "max\n");
  mount.add("slice/memory.max", "4000000\n");
  EXPECT_EQ(memoryLimitOfGroup(mount.path(""), "/slice/job/step"), 4000000u);
  mount.add("slice/job/memory.limit_in_bytes", "1000\n");
  EXPECT_EQ(memoryLimitOfGroup(mount.path(""), "/slice/job/step"), 1000u);
  EXPECT_EQ(memoryLimitOfGroup(mount.path(""), "/slice"), 4000000u);
  EXPECT_EQ(memoryLimitOfGroup(mount.path(""), "/"), none);
}

TEST(MemoryLimit, ResourceLimitsCount) {
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
  GTEST_SKIP() << "AddressSanitizer needs more addresses than the limit leaves";
#endif
#endif
  const pid_t child = ::fork();
  if (child == 0) {
    const rlimit limit{3u << 30, 3u << 30};
    ::setrlimit(RLIMIT_AS, &limit);
    ::_exit(memoryLimit() <= 3u << 30 ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST(MemoryLimit, IndicesFarApartAreRefusedBeforeMemoryIsTaken) {
  TemporaryDirectory directory;
  const std::string file = directory.add("two.hkl", "0 0 0 10\n900 900 900 10\n");
  expectFileError([&] { readHkl(file, 0); }, "2 reflections");
  // As many nodes as are allowed whatever is listed.
  const std::string small = directory.add("small.hkl", "0 0 0 10\n99 99 99 10\n");
  EXPECT_EQ(readHkl(small, 0).grid.values.size(), 1000000u);
}

TEST(MemoryLimit, GzipBombsAreRefused) {
  TemporaryDirectory directory;
  const std::string path = directory.path("bomb.hkl.gz");
  gzFile bomb = ::gzopen(path.c_str(), "wb9");
  const std::string zeros(1 << 20, ' ');
  for (int i = 0; i != 400; ++i)
    ::gzwrite(bomb, zeros.data(), unsigned(zeros.size()));
  ::gzclose(bomb);
  ASSERT_LT(std::filesystem::file_size(path), 1u << 20);
  expectFileError([&] { readMaybeCompressed(path); }, "inflates to more than");
}

} // namespace
} // namespace nanobragg::io
