// Schedules that are kept.
#include "runtime/kernels/TunedSchedules.h"

#include "lib/Experiment/ProgramVariant.h"
#include "test/Runtime/CacheTest.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <fstream>
#include <utility>

using namespace nanobragg;
using namespace nanobragg::test;
using testing::HasSubstr;

namespace {

constexpr const char *shape = "slow_pixels=64 oversample=1";

ProgramVariant variantOf(CrystalShape crystal) {
  ProgramVariant variant;
  variant.shape = crystal;
  return variant;
}
const std::string square = variantOf(CrystalShape::Square).toString(),
                  round = variantOf(CrystalShape::Round).toString();

/// A schedule that was measured with `shape`, and is for all.
TunedSchedule of(std::string variant, std::string precision, std::string pipeline) {
  return {.variant = std::move(variant),
          .precision = std::move(precision),
          .pipeline = std::move(pipeline),
          .shape = shape,
          .everyShape = true,
          .change = 0.9};
}

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
  EXPECT_FALSE(schedules().find("shape=square", "f64", shape));
  schedules().keep(of("shape=square", "f64", "builtin.module(a)"));
  schedules().keep(of("shape=square", "mixed", "builtin.module(b)"));
  EXPECT_EQ(schedules().find("shape=square", "f64", shape), "builtin.module(a)");
  EXPECT_EQ(schedules().find("shape=square", "mixed", shape), "builtin.module(b)");
  EXPECT_FALSE(schedules().find("shape=round", "f64", shape));
  schedules().keep(of("shape=square", "f64", "builtin.module(c)"));
  EXPECT_EQ(schedules().find("shape=square", "f64", shape), "builtin.module(c)");
}

TEST_F(TunedSchedulesTest, AnotherProcessorOrCompilerHasItsOwn) {
  schedules().keep(of("shape=square", "f64", "builtin.module(a)"));
  const CacheOptions here = options;
  options.hostCpu += "avx1024\n";
  EXPECT_FALSE(schedules().find("shape=square", "f64", shape));
  options = here;
  options.compilerBuild += "x";
  EXPECT_FALSE(schedules().find("shape=square", "f64", shape));
  options = here;
  EXPECT_TRUE(schedules().find("shape=square", "f64", shape));
}

TEST_F(TunedSchedulesTest, ListsWhatIsKept) {
  EXPECT_TRUE(schedules().list().empty());
  schedules().keep(of("shape=square", "f64", "builtin.module(a)"));
  const CacheOptions here = options;
  options.hostCpu += "avx1024\n";
  schedules().keep(of("shape=round", "mixed", "builtin.module(b)"));
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

TEST_F(TunedSchedulesTest, IsForAllShapesOrForOne) {
  const char *other = "slow_pixels=64 oversample=3";
  TunedSchedule schedule = of("shape=square", "f64", "builtin.module(one)");
  schedule.everyShape = false;
  schedules().keep(schedule);
  EXPECT_EQ(schedules().find("shape=square", "f64", shape), "builtin.module(one)");
  EXPECT_FALSE(schedules().find("shape=square", "f64", other));
  schedules().keep(of("shape=square", "f64", "builtin.module(all)"));
  EXPECT_EQ(schedules().find("shape=square", "f64", shape), "builtin.module(one)")
      << "what was measured with this shape goes first";
  EXPECT_EQ(schedules().find("shape=square", "f64", other), "builtin.module(all)");
  schedules().forget("shape=square", "f64", other);
  EXPECT_EQ(schedules().list().size(), 2) << "neither was measured with the other shape";
  schedules().forget("shape=square", "f64", shape);
  EXPECT_TRUE(schedules().list().empty());
}

TEST_F(TunedSchedulesTest, TravelsAsAFileAndMerges) {
  schedules().keep(of(square, "f64", "builtin.module(a)"));
  const CacheOptions here = options;
  options.hostCpu += "avx1024\n";
  schedules().keep(of(round, "mixed", "builtin.module(b)"));
  options = here;
  const std::string file = schedulesToJson(schedules().list());
  options.directory = options.directory.parent_path() / "elsewhere";
  auto all = schedulesFromJson(file);
  ASSERT_EQ(all.size(), 2);
  for (const TunedSchedule &one : all)
    EXPECT_EQ(schedules().merge(one), TunedSchedules::Merge::Added);
  EXPECT_EQ(schedulesToJson(schedules().list()).size(), file.size());
  EXPECT_EQ(schedules().find(square, "f64", shape), "builtin.module(a)");
  EXPECT_FALSE(schedules().find(round, "mixed", shape)) << "of another processor";
  for (TunedSchedule &one : all) {
    EXPECT_EQ(schedules().merge(one), TunedSchedules::Merge::Left);
    one.change = 0.8;
    one.pipeline = "builtin.module(better)";
    EXPECT_EQ(schedules().merge(one), TunedSchedules::Merge::Replaced);
  }
  EXPECT_EQ(schedules().find(square, "f64", shape), "builtin.module(better)");
}

TEST_F(TunedSchedulesTest, FilesThatAreNoSchedules) {
  schedules().keep(of(square, "f64", "builtin.module(a)"));
  const auto file = nlohmann::json::parse(schedulesToJson(schedules().list()));
  const auto refusal = [](const std::string &text) -> std::string {
    try {
      schedulesFromJson(text);
    } catch (const std::runtime_error &error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(refusal(file.dump()), "");
  EXPECT_THAT(refusal("{"), HasSubstr("is not JSON"));
  EXPECT_THAT(refusal("[]"), HasSubstr("not a file of nb-cache export"));
  const auto with = [&](const char *key, nlohmann::json value) {
    auto changed = file;
    changed["schedules"][0][key] = std::move(value);
    return refusal(changed.dump());
  };
  EXPECT_THAT(with("variant", "shape=heptagon"), HasSubstr("schedule 1 is for a program that"));
  EXPECT_THAT(with("pipeline", "rm"), HasSubstr("has no pipeline"));
  EXPECT_THAT(with("change", -1), HasSubstr("above 0"));
  EXPECT_THAT(with("change", "fast"), HasSubstr("another type"));
  EXPECT_THAT(with("compiler", "a\nb"), HasSubstr("several lines"));
  auto later = file;
  later["version"] = 2;
  EXPECT_THAT(refusal(later.dump()), HasSubstr("version 2"));
}

TEST_F(TunedSchedulesTest, ForgetsOne) {
  schedules().forget("shape=square", "f64", shape);
  schedules().keep(of("shape=square", "f64", "builtin.module(a)"));
  schedules().keep(of("shape=round", "f64", "builtin.module(b)"));
  schedules().forget("shape=square", "f64", shape);
  EXPECT_FALSE(schedules().find("shape=square", "f64", shape));
  EXPECT_TRUE(schedules().find("shape=round", "f64", shape));
}

TEST_F(TunedSchedulesTest, NothingDamagedIsUsed) {
  schedules().keep(of("shape=square", "f64", "builtin.module(a)"));
  const std::string bytes = read(entry());
  for (std::size_t i = 0; i < bytes.size(); i += 7) {
    std::string damaged = bytes;
    damaged[i] ^= 4;
    schedules().keep(of("shape=square", "f64", "builtin.module(a)"));
    write(entry(), damaged);
    EXPECT_FALSE(schedules().find("shape=square", "f64", shape)) << "byte " << i;
    EXPECT_EQ(entry(), "") << "what is damaged is deleted";
  }
  schedules().keep(of("shape=square", "f64", "builtin.module(a)"));
  write(entry(), bytes.substr(0, bytes.size() / 2));
  EXPECT_FALSE(schedules().find("shape=square", "f64", shape));
}

TEST_F(TunedSchedulesTest, AFolderThatOthersCanWriteIsLeftAlone) {
  schedules().keep(of("shape=square", "f64", "builtin.module(a)"));
  std::filesystem::permissions(options.directory, std::filesystem::perms::all);
  EXPECT_FALSE(schedules().find("shape=square", "f64", shape));
  std::filesystem::permissions(options.directory, std::filesystem::perms::owner_all);
  EXPECT_TRUE(schedules().find("shape=square", "f64", shape));
}

TEST_F(TunedSchedulesTest, IsNoKernelInTheListAndGoesWithAll) {
  schedules().keep(of("shape=square", "f64", "builtin.module(a)"));
  EXPECT_TRUE(cache()->list().empty());
  EXPECT_EQ(cache()->clear(), 1u);
  EXPECT_FALSE(schedules().find("shape=square", "f64", shape));
}

} // namespace
