// Reflection lists that are kept.
#include "runtime/kernels/HklCache.h"

#include "test/Runtime/CacheTest.h"

#include <csignal>
#include <fstream>
#include <iterator>
#include <sys/resource.h>
#include <sys/stat.h>

using namespace nanobragg;
using namespace nanobragg::test;

namespace {

class HklCacheTest : public CacheTest {
protected:
  HklCacheTest() {
    while (content.size() < std::size_t(1) << 20)
      content += "1 2 3 4.5\n";
    file.grid = {-1, 1, 2, 2, 3, 4, {1, 2, 3, 4, 5, 6}};
    file.reflections = 5;
    file.duplicates = 2;
    file.moreColumns = 7;
  }
  HklCache lists() { return {options.directory, options.mostBytes}; }
  std::filesystem::path entry() const {
    for (const auto &item : std::filesystem::directory_iterator(options.directory))
      if (item.path().extension() == ".hkl")
        return item.path();
    return {};
  }
  void expectNothingAndDeleted() {
    EXPECT_FALSE(lists().find(content, 0));
    EXPECT_EQ(entry(), "") << "what is damaged is deleted";
  }

  std::string content;
  io::HklFile file;
};

TEST_F(HklCacheTest, FindsWhatWasKept) {
  EXPECT_FALSE(lists().find(content, 0));
  lists().keep(content, 0, file);
  const auto found = lists().find(content, 0);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->grid.values, file.grid.values);
  EXPECT_EQ(found->grid.hMin, -1);
  EXPECT_EQ(found->grid.lMax, 4);
  EXPECT_EQ(found->reflections, 5u);
  EXPECT_EQ(found->duplicates, 2u);
  EXPECT_EQ(found->moreColumns, 7u);
}

TEST_F(HklCacheTest, KnowsAListByItsContent) {
  lists().keep(content, 0, file);
  EXPECT_FALSE(lists().find(content, 1)) << "another number for what is not listed";
  std::string other = content;
  other[other.size() / 2] ^= 1;
  EXPECT_FALSE(lists().find(other, 0));
  other = content + "\n";
  EXPECT_FALSE(lists().find(other, 0));
  EXPECT_TRUE(lists().find(content, 0));
}

TEST_F(HklCacheTest, ShortListsAreNotKept) {
  lists().keep("1 2 3 4.5\n", 0, file);
  EXPECT_FALSE(lists().find("1 2 3 4.5\n", 0));
}

TEST_F(HklCacheTest, AWriteThatFailsIsSaid) {
  EXPECT_EQ(lists().keep(content, 0, file), "");
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{16, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  const std::string problem = lists().keep(content + "\n", 0, file);
  ::setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  EXPECT_THAT(problem, testing::StartsWith("the kernel cache " + options.directory.string() +
                                           ": cannot write: File too large"));
  EXPECT_FALSE(lists().find(content + "\n", 0));
  EXPECT_TRUE(lists().find(content, 0));
}

TEST_F(HklCacheTest, NothingDamagedIsUsed) {
  lists().keep(content, 0, file);
  std::ifstream in(entry(), std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(in), {}};
  const auto rewrite = [&](const std::string &changed) {
    lists().keep(content, 0, file);
    std::ofstream(entry(), std::ios::binary) << changed;
  };
  for (std::size_t i = 0; i != bytes.size(); ++i) {
    std::string changed = bytes;
    changed[i] = char(changed[i] ^ 16);
    rewrite(changed);
    SCOPED_TRACE("byte " + std::to_string(i));
    expectNothingAndDeleted();
  }
  for (std::size_t size : {std::size_t(0), std::size_t(40), bytes.size() - 8, bytes.size() - 1}) {
    rewrite(bytes.substr(0, size));
    SCOPED_TRACE("cut to " + std::to_string(size));
    expectNothingAndDeleted();
  }
  rewrite(bytes + "x");
  expectNothingAndDeleted();
}

TEST_F(HklCacheTest, NothingOfOthersIsUsed) {
  lists().keep(content, 0, file);
  ASSERT_EQ(::chmod(entry().c_str(), 0666), 0);
  expectNothingAndDeleted();
  lists().keep(content, 0, file);
  std::filesystem::permissions(options.directory, std::filesystem::perms::all);
  EXPECT_FALSE(lists().find(content, 0)) << "the folder is open to all";
}

TEST_F(HklCacheTest, ListsAndKernelsShareTheRoom) {
  expectRightKernel("x");
  lists().keep(content, 0, file);
  EXPECT_EQ(KernelCache(options).list().size(), 1u) << "kernels only";
  EXPECT_EQ(KernelCache(options).clear(), 2u);
  EXPECT_FALSE(lists().find(content, 0));
}

} // namespace
