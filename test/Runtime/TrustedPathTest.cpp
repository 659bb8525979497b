#include "lib/Process/TrustedPath.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <unistd.h>

namespace {

using namespace nanobragg;
using testing::HasSubstr;
namespace fs = std::filesystem;

class TrustedPathTest : public testing::Test {
protected:
  TrustedPathTest() {
    std::string pattern = (fs::canonical(fs::temp_directory_path()) / "nb-trust-XXXXXX").string();
    root = ::mkdtemp(pattern.data());
    fs::create_directories(root / "lib");
    std::ofstream(root / "lib" / "code.so") << "code";
    ::chmod(file().c_str(), 0644);
    ::chmod((root / "lib").c_str(), 0755);
  }
  ~TrustedPathTest() override { fs::remove_all(root); }

  fs::path file() const { return root / "lib" / "code.so"; }

  fs::path root;
};

TEST_F(TrustedPathTest, OwnFileInOwnFolders) {
  EXPECT_EQ(trustPath(file()).path, file());
  EXPECT_EQ(trustPath(file()).problem, "");
}

TEST_F(TrustedPathTest, LinksAreFollowed) {
  fs::create_symlink("lib", root / "other");
  EXPECT_EQ(trustPath(root / "other" / "code.so").path, file());
}

TEST_F(TrustedPathTest, FolderThatOthersCanWrite) {
  for (const fs::path &folder : {root, root / "lib"}) {
    ::chmod(folder.c_str(), 0777);
    EXPECT_THAT(trustPath(file()).problem,
                HasSubstr("other users can write to " + folder.string()));
    EXPECT_EQ(trustPath(file()).path, "");
    ::chmod(folder.c_str(), 0755);
  }
}

TEST_F(TrustedPathTest, FileThatOthersCanWrite) {
  ::chmod(file().c_str(), 0666);
  EXPECT_THAT(trustPath(file()).problem, HasSubstr("code.so"));
}

TEST_F(TrustedPathTest, StickyFolderAboveWhatIsOwn) {
  ::chmod(root.c_str(), 01777);
  EXPECT_EQ(trustPath(file()).path, file());
  EXPECT_EQ(trustPath(root).path, "") << "anybody may put files into it";
}

TEST_F(TrustedPathTest, WhatBelongsToOthers) {
  if (::geteuid() != 0)
    GTEST_SKIP() << "only root can give files to another user";
  constexpr uid_t nobody = 65534;
  ASSERT_EQ(::chown((root / "lib").c_str(), nobody, gid_t(-1)), 0);
  EXPECT_THAT(trustPath(file()).problem, HasSubstr("lib belongs to another user"));
  EXPECT_EQ(trustPath(file(), nobody).path, file());
}

TEST_F(TrustedPathTest, GroupOfOthers) {
  if (::geteuid() != 0)
    GTEST_SKIP() << "only root can give files to another group";
  ASSERT_EQ(::chown((root / "lib").c_str(), uid_t(-1), 65534), 0);
  ::chmod((root / "lib").c_str(), 0775);
  EXPECT_THAT(trustPath(file()).problem, HasSubstr("other users can write"));
}

TEST_F(TrustedPathTest, MissingFile) {
  EXPECT_THAT(trustPath(root / "nothing").problem, HasSubstr("cannot be looked at"));
}

} // namespace
