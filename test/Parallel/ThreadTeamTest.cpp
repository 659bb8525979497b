#include "lib/Parallel/ThreadTeam.h"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace nanobragg {
namespace {

/// How often each of `count` calls was made.
std::vector<int> callsOf(ThreadTeam &team, std::int64_t count) {
  std::vector<std::atomic<int>> calls(static_cast<std::size_t>(count));
  team.forEach(count, [&](std::int64_t i, int thread) {
    EXPECT_GE(thread, 0);
    EXPECT_LT(thread, team.size());
    ++calls[std::size_t(i)];
  });
  return {calls.begin(), calls.end()};
}

TEST(ThreadTeamTest, MakesEachCallOnce) {
  for (const int threads : {1, 2, 7})
    for (const std::int64_t count : {0, 1, 2, 1000}) {
      ThreadTeam team(threads);
      EXPECT_EQ(team.size(), threads);
      EXPECT_EQ(callsOf(team, count), std::vector<int>(std::size_t(count), 1));
      EXPECT_EQ(callsOf(team, count), std::vector<int>(std::size_t(count), 1)) << "again";
    }
}

TEST(ThreadTeamTest, WorksAtTheSameTime) {
  ThreadTeam team(2);
  ASSERT_EQ(team.size(), 2);
  std::atomic<int> arrived{0};
  // Each call waits for the other one.
  team.forEach(2, [&](std::int64_t, int) {
    ++arrived;
    while (arrived != 2)
      std::this_thread::yield();
  });
  EXPECT_EQ(arrived, 2);
}

TEST(ThreadTeamTest, PassesTheFirstExceptionOn) {
  ThreadTeam team(3);
  std::atomic<int> calls{0};
  const auto run = [&] {
    team.forEach(100000, [&](std::int64_t i, int) {
      ++calls;
      if (i == 10)
        throw std::runtime_error("ten");
    });
  };
  EXPECT_THROW(run(), std::runtime_error);
  EXPECT_LT(calls, 100000);
  EXPECT_EQ(callsOf(team, 5), std::vector<int>(5, 1));
}

TEST(ThreadTeamTest, TeamsOfSeveralThreadsDoNotMeet) {
  std::vector<std::thread> owners;
  for (int i = 0; i != 4; ++i)
    owners.emplace_back([] {
      for (int again = 0; again != 200; ++again) {
        ThreadTeam team(3);
        EXPECT_EQ(callsOf(team, 20), std::vector<int>(20, 1));
      }
    });
  for (std::thread &owner : owners)
    owner.join();
}

TEST(ThreadTeamTest, AForkedChildHasHelpersOfItsOwn) {
  ThreadTeam(3).forEach(10, [](std::int64_t, int) {});
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(20); // rather than waiting for ever
    std::atomic<int> calls{0};
    ThreadTeam(3).forEach(10, [&](std::int64_t, int) { ++calls; });
    ::_exit(calls == 10 ? 0 : 1);
  }
  int status = 1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

} // namespace
} // namespace nanobragg
