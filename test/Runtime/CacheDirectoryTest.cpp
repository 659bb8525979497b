#include "runtime/kernels/CacheDirectory.h"

#include "test/Runtime/CacheTest.h"

#include <csignal>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>

using namespace nanobragg;
using namespace nanobragg::test;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using namespace std::chrono_literals;

namespace {

constexpr uid_t somebody = 12345;

class CacheDirectoryTest : public CacheTest {
protected:
  /// The kernel is right although the cache is refused, nothing is put there, and one warning says
  /// why.
  void expectRefused(const std::string &why) {
    for (const char *variant : {"x", "y"})
      EXPECT_STREQ(provider(refused).get(requestNamed(variant))->variant,
                   variantText(variant).c_str());
    EXPECT_EQ(builds, 2);
    ASSERT_THAT(warnings, SizeIs(1));
    EXPECT_THAT(warnings[0], HasSubstr(why));
    EXPECT_THAT(warnings[0], HasSubstr(options.directory.string()));
    EXPECT_THAT(files(), IsEmpty());
  }

  void setLastUse(const std::string &variant, std::chrono::seconds fromNow) {
    timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    const timespec then = {now.tv_sec + fromNow.count(), now.tv_nsec};
    const timespec times[] = {then, then};
    ASSERT_EQ(utimensat(AT_FDCWD, entryOf(variant).c_str(), times, 0), 0);
  }

  bool has(const std::string &variant) { return std::filesystem::exists(entryOf(variant)); }

  std::shared_ptr<KernelCache> refused = cache(); ///< opened when it is first asked
};

TEST_F(CacheDirectoryTest, IsMadeForTheUserAlone) {
  options.directory /= "made/on/the/way";
  expectRightKernel("x");
  for (auto folder = options.directory; folder.filename() != "kernels";
       folder = folder.parent_path()) {
    struct stat status;
    ASSERT_EQ(stat(folder.c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 07777, 0700u) << folder;
  }
  options.directory = options.directory.parent_path().parent_path().parent_path().parent_path();
}

TEST_F(CacheDirectoryTest, OpenToOthersIsRefused) {
  std::filesystem::create_directory(options.directory);
  for (mode_t mode : {0777, 0770, 0755}) {
    ASSERT_EQ(chmod(options.directory.c_str(), mode), 0);
    warnings.clear();
    builds = 0;
    refused = cache();
    expectRefused("chmod 700");
  }
}

TEST_F(CacheDirectoryTest, ForeignOwnerIsRefused) {
  if (geteuid() != 0)
    GTEST_SKIP() << "only root can give a directory away";
  std::filesystem::create_directory(options.directory);
  ASSERT_EQ(chmod(options.directory.c_str(), 0700), 0);
  ASSERT_EQ(chown(options.directory.c_str(), somebody, gid_t(-1)), 0);
  expectRefused("belongs to another user");
}

TEST_F(CacheDirectoryTest, ForeignEntryIsReplaced) {
  if (geteuid() != 0)
    GTEST_SKIP() << "only root can give a file away";
  expectRightKernel("x");
  ASSERT_EQ(chown(entryOf("x").c_str(), somebody, gid_t(-1)), 0);
  expectRightKernel("x");
  EXPECT_EQ(builds, 2);
  struct stat status;
  ASSERT_EQ(stat(entryOf("x").c_str(), &status), 0);
  EXPECT_EQ(status.st_uid, geteuid());
}

TEST_F(CacheDirectoryTest, EntryThatOthersCanWriteIsReplaced) {
  expectRightKernel("x");
  ASSERT_EQ(chmod(entryOf("x").c_str(), 0666), 0);
  expectRightKernel("x");
  EXPECT_EQ(builds, 2);
}

TEST_F(CacheDirectoryTest, SymbolicLinkIsNoEntry) {
  expectRightKernel("x");
  const auto elsewhere = options.directory.parent_path() / "elsewhere.so";
  std::filesystem::rename(entryOf("x"), elsewhere);
  std::filesystem::create_symlink(elsewhere, entryOf("x"));
  expectRightKernel("x");
  EXPECT_EQ(builds, 2);
  EXPECT_FALSE(std::filesystem::is_symlink(entryOf("x")));
  EXPECT_TRUE(std::filesystem::exists(elsewhere));
}

TEST_F(CacheDirectoryTest, PipeIsNoEntryAndNoRunWaitsForIt) {
  expectRightKernel("x");
  std::filesystem::remove(entryOf("x"));
  ASSERT_EQ(mkfifo(entryOf("x").c_str(), 0600), 0);
  expectRightKernel("x");
  EXPECT_EQ(builds, 2);
}

TEST_F(CacheDirectoryTest, FolderInTheWayCostsOnlyTheCache) {
  std::filesystem::create_directories(options.directory);
  ASSERT_EQ(chmod(options.directory.c_str(), 0700), 0);
  std::filesystem::create_directory(entryOf("x"));
  EXPECT_STREQ(provider().get(requestNamed("x"))->variant, variantText("x").c_str());
  EXPECT_THAT(warnings, SizeIs(1));
  EXPECT_EQ(files(), std::vector<std::string>{entryOf("x").filename()}) << "no temporary is left";
}

TEST_F(CacheDirectoryTest, ReadOnlyFolderWarnsOnce) {
  if (geteuid() == 0)
    GTEST_SKIP() << "root writes to any folder; cache_test.py tests a read-only file system";
  std::filesystem::create_directory(options.directory);
  ASSERT_EQ(chmod(options.directory.c_str(), 0500), 0);
  expectRefused("cannot write");
}

TEST_F(CacheDirectoryTest, LeastRecentlyUsedGoFirst) {
  for (const char *variant : {"a", "b", "c"})
    expectRightKernel(variant);
  setLastUse("a", -30s);
  setLastUse("b", -20s);
  setLastUse("c", -10s);
  expectRightKernel("a"); // used again
  options.mostBytes = 3 * std::filesystem::file_size(entryOf("a")) + 100;
  expectRightKernel("d");
  EXPECT_FALSE(has("b"));
  EXPECT_TRUE(has("a") && has("c") && has("d"));
}

TEST_F(CacheDirectoryTest, WhatIsLargerThanTheBoundIsNotKept) {
  options.mostBytes = 1000;
  EXPECT_EQ(provider().get(requestNamed("x"))->variant, variantText("x"));
  EXPECT_THAT(files(), IsEmpty());
  EXPECT_THAT(warnings, ElementsAre(HasSubstr("enlarge NB_CACHE_SIZE")));
}

TEST_F(CacheDirectoryTest, ClockThatWasPutBackKeepsNothingForEver) {
  for (const char *variant : {"future", "old"})
    expectRightKernel(variant);
  setLastUse("future", std::chrono::hours(24 * 365));
  setLastUse("old", -20s);
  options.mostBytes = 2 * std::filesystem::file_size(entryOf("future")) + 100;
  expectRightKernel("x");
  EXPECT_TRUE(has("future") && has("x"));
  EXPECT_FALSE(has("old"));
  setLastUse("x", 10s); // written after "future" was set to the present
  expectRightKernel("y");
  EXPECT_FALSE(has("future"));
  EXPECT_TRUE(has("y"));
}

TEST_F(CacheDirectoryTest, RemainsOfKilledWritersAreSweptAndLiveOnesAreNot) {
  expectRightKernel("x");
  const auto dead = options.directory / ".new-1-1", alive = options.directory / ".new-1-2";
  write(dead, "half a ker");
  write(alive, "half a ker");
  const int fd = open(alive.c_str(), O_RDONLY);
  ASSERT_EQ(flock(fd, LOCK_EX), 0);
  expectRightKernel("y");
  EXPECT_FALSE(std::filesystem::exists(dead));
  EXPECT_TRUE(std::filesystem::exists(alive));
  close(fd);
  expectRightKernel("z");
  EXPECT_FALSE(std::filesystem::exists(alive));
}

TEST_F(CacheDirectoryTest, OtherFilesInTheFolderAreTheUsers) {
  expectRightKernel("x");
  const std::vector<std::string> others = {".new-york", "0123456789abcdef0123456789abcdef.so.bak",
                                           "libmine.so", "notes.txt"};
  for (const std::string &name : others)
    write(options.directory / name, "precious");
  options.mostBytes = 1;
  EXPECT_EQ(cache()->list().size(), 1u);
  EXPECT_EQ(cache()->clear(), 1u);
  EXPECT_EQ(files(), others);
}

TEST_F(CacheDirectoryTest, OthersWaitForTheLock) {
  const auto first = cache();
  auto held = first->lock("specification");
  ASSERT_TRUE(held);
  EXPECT_TRUE(cache()->lock("another")) << "another kernel is not in the way";
  std::thread releasing([&] {
    std::this_thread::sleep_for(50ms);
    held.reset();
  });
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_TRUE(cache()->lock("specification"));
  EXPECT_GE(std::chrono::steady_clock::now() - begin, 45ms);
  releasing.join();
}

TEST_F(CacheDirectoryTest, NoRunWaitsForEver) {
  const auto held = cache()->lock("specification");
  options.lockTimeout = 20ms;
  EXPECT_FALSE(cache()->lock("specification"));
}

TEST_F(CacheDirectoryTest, ADeadProcessHoldsNoLock) {
  const pid_t child = fork();
  if (child == 0) {
    const auto held = cache()->lock("specification");
    raise(SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status));
  options.lockTimeout = 1ms;
  EXPECT_TRUE(cache()->lock("specification"));
}

} // namespace
