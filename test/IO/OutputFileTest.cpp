#include "lib/Files/OutputFile.h"

#include "lib/Files/TemporaryName.h"
#include "test/IO/TemporaryDirectory.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <thread>
#include <vector>

namespace nanobragg::io {
namespace {

struct OutputFileTest : testing::Test {
  TemporaryDirectory directory;
};

TEST_F(OutputFileTest, AppearsAtCommit) {
  OutputFile out(directory.path("a"));
  out.write("one ");
  out.write("two");
  EXPECT_FALSE(std::filesystem::exists(directory.path("a")));
  out.commit();
  EXPECT_EQ(directory.read("a"), "one two");
  EXPECT_EQ(directory.entryCount(), 1u);
}

TEST_F(OutputFileTest, WithoutCommitTheOldFileStays) {
  directory.add("a", "old");
  {
    OutputFile out(directory.path("a"));
    out.write("new");
  }
  EXPECT_EQ(directory.read("a"), "old");
  EXPECT_EQ(directory.entryCount(), 1u);
}

TEST_F(OutputFileTest, ReplacesAndKeepsTheMode) {
  directory.add("a", "old and longer");
  ::chmod(directory.path("a").c_str(), 0640);
  OutputFile out(directory.path("a"));
  out.write("new");
  out.commit();
  EXPECT_EQ(directory.read("a"), "new");
  struct stat status{};
  ASSERT_EQ(::stat(directory.path("a").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0640u);
}

TEST_F(OutputFileTest, WritesThroughALinkInsteadOfReplacingIt) {
  directory.add("real", "old");
  std::filesystem::create_symlink("real", directory.path("link"));
  OutputFile out(directory.path("link"));
  out.write("new");
  out.commit();
  EXPECT_TRUE(std::filesystem::is_symlink(directory.path("link")));
  EXPECT_EQ(directory.read("real"), "new");
}

TEST_F(OutputFileTest, LeavesDevicesInPlace) {
  OutputFile out("/dev/null");
  out.write("gone");
  out.commit();
  struct stat status{};
  ASSERT_EQ(::stat("/dev/null", &status), 0);
  EXPECT_TRUE(S_ISCHR(status.st_mode));
}

TEST_F(OutputFileTest, AFullDiskIsReported) {
  if (!std::filesystem::exists("/dev/full"))
    GTEST_SKIP() << "no /dev/full";
  OutputFile out("/dev/full");
  expectFileError([&] { out.write("x"); }, "/dev/full: cannot be written (No space left");
}

TEST_F(OutputFileTest, AFileSizeLimitIsReportedAndNothingStays) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{1000, 1000};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    bool reported = false;
    try {
      OutputFile out(directory.path("a"));
      const std::vector<float> values(1000);
      out.write(std::span<const float>(values));
      out.commit();
    } catch (const FileError &) {
      reported = true;
    }
    ::_exit(reported ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(directory.entryCount(), 0u);
}

TEST_F(OutputFileTest, RefusesWhatCannotBeOpened) {
  const auto open = [](const std::string &path) { return [path] { OutputFile out(path); }; };
  expectFileError(open(directory.path("none/a")), "create its directory first");
  expectFileError(open(directory.path("")), "Is a directory");
  expectFileError(open(""), "give the name of a file");
  directory.add("file", "");
  expectFileError(open(directory.path("file/a")), "create its directory first");
  EXPECT_EQ(directory.entryCount(), 1u);
}

TEST_F(OutputFileTest, RefusesAWriteProtectedTarget) {
  if (::geteuid() == 0)
    GTEST_SKIP() << "root may write everything";
  directory.add("a", "precious");
  ::chmod(directory.path("a").c_str(), 0444);
  expectFileError([&] { OutputFile out(directory.path("a")); }, "Permission denied");
}

TEST_F(OutputFileTest, RefusesTwoOutputsOfOneName) {
  {
    OutputFile first(directory.path("a"));
    expectFileError([&] { OutputFile second(directory.path("a")); }, "the name of two outputs");
  }
  OutputFile again(directory.path("a"));
  again.commit();
  EXPECT_EQ(directory.entryCount(), 1u);
}

TEST_F(OutputFileTest, FramesOfAClaimedSeriesAreRefused) {
  const auto refuse = [&](const char *name) {
    OutputFile::refuseFrameOfOther(directory.path(name));
  };
  {
    const OutputFile claim = OutputFile::claim(directory.path("a.cbf"), 3);
    for (const char *frame : {"a_0001.cbf", "a_panel2_01.cbf"})
      expectFileError([&] { refuse(frame); }, frame);
    for (const char *other : {"a.cbf", "a_1.img", "a_.cbf", "a0001.cbf", "b_0001.cbf"})
      refuse(other);
  }
  refuse("a_0001.cbf");
}

TEST_F(OutputFileTest, ClaimsOfOneFileExcludeEachOther) {
  const std::string path = directory.path("a.expt");
  {
    const OutputFile first = OutputFile::claim(path), other = OutputFile::claim(path + "2");
    expectFileError([&] { OutputFile::claim(path); }, "a.expt: is being written by another run");
    std::filesystem::create_symlink("a.expt", directory.path("link"));
    expectFileError([&] { OutputFile::claim(directory.path("link")); }, "another run");
    OutputFile out(path); // a claimed file can be written
    out.write("text");
    out.commit();
  }
  EXPECT_EQ(directory.read("a.expt"), "text");
  OutputFile::claim(path);
  OutputFile::claim("/dev/null"), OutputFile::claim("/dev/null");
  std::filesystem::remove(directory.path("link"));
  EXPECT_EQ(directory.entryCount(), 1u);
}

TEST_F(OutputFileTest, ClosedFilesTakeNoData) {
  OutputFile out(directory.path("a"));
  out.commit();
  expectFileError([&] { out.write("late"); }, "takes no more data");
  expectFileError([&] { out.commit(); }, "closed already");
}

TEST_F(OutputFileTest, MovesKeepOneOwner) {
  std::vector<OutputFile> files;
  for (const char *name : {"a", "b", "c"})
    files.emplace_back(directory.path(name));
  files[1].write("x");
  files[1].commit();
  files.clear();
  EXPECT_EQ(directory.read("b"), "x");
  EXPECT_EQ(directory.entryCount(), 1u);
}

TEST_F(OutputFileTest, RemoveTemporariesLeavesNothingBehind) {
  OutputFile a(directory.path("a")), b(directory.path("b"));
  a.write("x");
  EXPECT_EQ(directory.entryCount(), 2u);
  OutputFile::removeTemporaries();
  EXPECT_EQ(directory.entryCount(), 0u);
  expectFileError([&] { a.commit(); }, "cannot be put into place");
}

TEST_F(OutputFileTest, ALinkToAFileThatDoesNotExistYetIsFollowed) {
  std::filesystem::create_directory(directory.path("data"));
  std::filesystem::create_symlink("data/real", directory.path("link"));
  OutputFile out(directory.path("link"));
  out.write("new");
  out.commit();
  EXPECT_TRUE(std::filesystem::is_symlink(directory.path("link")));
  EXPECT_EQ(directory.read("data/real"), "new");
}

TEST_F(OutputFileTest, LinksInACircleAreRefused) {
  std::filesystem::create_symlink("b", directory.path("a"));
  std::filesystem::create_symlink("a", directory.path("b"));
  expectFileError([&] { OutputFile out(directory.path("a")); }, "symbolic links");
  EXPECT_TRUE(std::filesystem::is_symlink(directory.path("a")));
}

TEST_F(OutputFileTest, RegularFilesBelowDevAreReplacedLikeOthers) {
  if (::access("/dev/shm", W_OK) != 0)
    GTEST_SKIP() << "no /dev/shm that can be written";
  const std::string path = "/dev/shm/nb-output-" + std::to_string(::getpid());
  {
    std::ofstream(path) << "old and longer";
  }
  OutputFile out(path);
  out.write("new");
  std::string content;
  std::ifstream(path) >> content;
  EXPECT_EQ(content, "old") << "before commit() there is the old file";
  out.commit();
  EXPECT_EQ(std::filesystem::file_size(path), 3u);
  std::filesystem::remove(path);
  OutputFile created(path);
  created.commit();
  EXPECT_TRUE(std::filesystem::remove(path));
}

TEST_F(OutputFileTest, StandardOutputIsWrittenAtItsEnd) {
  directory.add("log", "first line\n");
  const pid_t child = ::fork();
  if (child == 0) {
    // As the shell does for >>log.
    const int log = ::open(directory.path("log").c_str(), O_WRONLY | O_APPEND);
    ::dup2(log, STDOUT_FILENO);
    OutputFile out("/dev/stdout");
    out.write("image");
    out.commit();
    ::_exit(0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(directory.read("log"), "first line\nimage");
  EXPECT_EQ(directory.entryCount(), 1u);
}

TEST_F(OutputFileTest, WhatAKilledProcessHasLeftIsSwept) {
  const pid_t child = ::fork();
  if (child == 0) {
    OutputFile out(directory.path("a"));
    out.write("half");
    ::raise(SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_EQ(directory.entryCount(), 1u);
  directory.add(".nb-notes.part", "of the user");
  OutputFile out(directory.path("b"));
  out.commit();
  EXPECT_EQ(directory.entryCount(), 2u) << "b and the notes";
}

TEST_F(OutputFileTest, WhatALivingProcessWritesIsNotSwept) {
  int ready[2], go[2];
  ASSERT_EQ(::pipe(ready) | ::pipe(go), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    char byte = 0;
    OutputFile out(directory.path("a"));
    (void)!::write(ready[1], &byte, 1);
    (void)!::read(go[0], &byte, 1);
    out.write("whole");
    out.commit();
    ::_exit(0);
  }
  char byte = 0;
  ASSERT_EQ(::read(ready[0], &byte, 1), 1);
  OutputFile(directory.path("b")).commit();
  ASSERT_EQ(::write(go[1], &byte, 1), 1);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(directory.read("a"), "whole");
  for (int end : {ready[0], ready[1], go[0], go[1]})
    ::close(end);
}

TEST_F(OutputFileTest, ASignalHandlerCanCleanUp) {
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
  GTEST_SKIP() << "ThreadSanitizer puts off signals in a child of a process with threads";
#endif
#endif
  const pid_t child = ::fork();
  if (child == 0) {
    ::signal(SIGTERM, [](int) {
      OutputFile::removeTemporaries();
      ::_exit(15);
    });
    OutputFile a(directory.path("a")), b(directory.path("b"));
    a.write("half");
    ::raise(SIGTERM);
    ::_exit(1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), 15);
  EXPECT_EQ(directory.entryCount(), 0u);
}

TEST_F(OutputFileTest, ATemporaryThatASweepIsRemovingIsNotUsed) {
  const std::string path = directory.add("a.part", "");
  const int swept = ::open(path.c_str(), O_RDONLY), written = ::open(path.c_str(), O_WRONLY);
  ASSERT_EQ(::flock(swept, LOCK_EX), 0);
  std::thread sweep([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    ::unlink(path.c_str());
    ::close(swept);
  });
  EXPECT_FALSE(holdTemporary(written));
  sweep.join();
  ::close(written);
}

} // namespace
} // namespace nanobragg::io
