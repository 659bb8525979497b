// Schedules that are kept.
#include "runtime/kernels/TunedSchedules.h"

#include "test/Runtime/CacheTest.h"

#include <fstream>
#include <utility>

using namespace nanobragg;
using namespace nanobragg::test;

namespace {

class TunedSchedulesTest : public CacheTest {
protected:
  TunedSchedules schedules() { return TunedSchedules(options); }
  std::filesystem::path entry() const {
    for (const auto &item : std::filesystem::directory_iterator(options.directory))
      if (item.path().extension() == ".schedule")
        return item.path();
    return {};
  }
};

TEST_F(TunedSchedulesTest, FindsWhatWasKept) {
  EXPECT_FALSE(schedules().find("shape=square", "f64"));
  schedules().keep("shape=square", "f64", "builtin.module(a)");
  schedules().keep("shape=square", "mixed", "builtin.module(b)");
  EXPECT_EQ(schedules().find("shape=square", "f64"), "builtin.module(a)");
  EXPECT_EQ(schedules().find("shape=square", "mixed"), "builtin.module(b)");
  EXPECT_FALSE(schedules().find("shape=round", "f64"));
  schedules().keep("shape=square", "f64", "builtin.module(c)");
  EXPECT_EQ(schedules().find("shape=square", "f64"), "builtin.module(c)");
}

TEST_F(TunedSchedulesTest, AnotherProcessorOrCompilerHasItsOwn) {
  schedules().keep("shape=square", "f64", "builtin.module(a)");
  const CacheOptions here = options;
  options.hostCpu += "avx1024\n";
  EXPECT_FALSE(schedules().find("shape=square", "f64"));
  options = here;
  options.compilerBuild += "x";
  EXPECT_FALSE(schedules().find("shape=square", "f64"));
  options = here;
  EXPECT_TRUE(schedules().find("shape=square", "f64"));
}

TEST_F(TunedSchedulesTest, ListsWhatIsKept) {
  EXPECT_TRUE(schedules().list().empty());
  schedules().keep("shape=square", "f64", "builtin.module(a)");
  const CacheOptions here = options;
  options.hostCpu += "avx1024\n";
  schedules().keep("shape=round", "mixed", "builtin.module(b)");
  options = here;
  auto all = schedules().list();
  ASSERT_EQ(all.size(), 2);
  if (!all[0].here)
    std::swap(all[0], all[1]);
  EXPECT_EQ(all[0].variant, "shape=square");
  EXPECT_EQ(all[0].pipeline, "builtin.module(a)");
  EXPECT_TRUE(all[0].here);
  EXPECT_EQ(all[1].precision, "mixed");
  EXPECT_FALSE(all[1].here) << "of another processor";
  std::ofstream(entry(), std::ios::app) << "x";
  EXPECT_EQ(schedules().list().size(), 1) << "a damaged one is none";
}

TEST_F(TunedSchedulesTest, ForgetsOne) {
  schedules().forget("shape=square", "f64");
  schedules().keep("shape=square", "f64", "builtin.module(a)");
  schedules().keep("shape=round", "f64", "builtin.module(b)");
  schedules().forget("shape=square", "f64");
  EXPECT_FALSE(schedules().find("shape=square", "f64"));
  EXPECT_TRUE(schedules().find("shape=round", "f64"));
}

TEST_F(TunedSchedulesTest, NothingDamagedIsUsed) {
  schedules().keep("shape=square", "f64", "builtin.module(a)");
  const std::string bytes = read(entry());
  for (std::size_t i = 0; i < bytes.size(); i += 7) {
    std::string damaged = bytes;
    damaged[i] ^= 4;
    schedules().keep("shape=square", "f64", "builtin.module(a)");
    write(entry(), damaged);
    EXPECT_FALSE(schedules().find("shape=square", "f64")) << "byte " << i;
    EXPECT_EQ(entry(), "") << "what is damaged is deleted";
  }
  schedules().keep("shape=square", "f64", "builtin.module(a)");
  write(entry(), bytes.substr(0, bytes.size() / 2));
  EXPECT_FALSE(schedules().find("shape=square", "f64"));
}

TEST_F(TunedSchedulesTest, AFolderThatOthersCanWriteIsLeftAlone) {
  schedules().keep("shape=square", "f64", "builtin.module(a)");
  std::filesystem::permissions(options.directory, std::filesystem::perms::all);
  EXPECT_FALSE(schedules().find("shape=square", "f64"));
  std::filesystem::permissions(options.directory, std::filesystem::perms::owner_all);
  EXPECT_TRUE(schedules().find("shape=square", "f64"));
}

TEST_F(TunedSchedulesTest, IsNoKernelInTheListAndGoesWithAll) {
  schedules().keep("shape=square", "f64", "builtin.module(a)");
  EXPECT_TRUE(cache()->list().empty());
  EXPECT_EQ(cache()->clear(), 1u);
  EXPECT_FALSE(schedules().find("shape=square", "f64"));
}

} // namespace
