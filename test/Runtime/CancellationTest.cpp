#include "runtime/processor/Cancellation.h"

#include <gtest/gtest.h>

#include <csignal>
#include <stdexcept>
#include <unistd.h>

using namespace nanobragg;

namespace {

TEST(InterruptGuard, FirstSignalRequestsCancellation) {
  CancellationToken token;
  InterruptGuard guard(token);
  EXPECT_EQ(guard.signal(), 0);
  std::raise(SIGINT);
  EXPECT_TRUE(token.requested());
  EXPECT_EQ(guard.signal(), SIGINT);
}

TEST(InterruptGuardDeathTest, SecondSignalEndsTheProcess) {
  EXPECT_EXIT(
      {
        CancellationToken token;
        InterruptGuard guard(token, []() noexcept { (void)!write(STDERR_FILENO, "tidied", 6); });
        std::raise(SIGTERM);
        std::raise(SIGTERM);
      },
      testing::KilledBySignal(SIGTERM), "tidied");
}

TEST(InterruptGuard, RestoresThePreviousHandlers) {
  const auto mine = +[](int) {};
  const auto before = std::signal(SIGINT, mine);
  CancellationToken token;
  {
    InterruptGuard guard(token);
  }
  EXPECT_EQ(std::signal(SIGINT, before), mine);
}

TEST(InterruptGuard, NohupStaysInForce) {
  const auto before = std::signal(SIGHUP, SIG_IGN);
  CancellationToken token;
  InterruptGuard guard(token);
  std::raise(SIGHUP);
  EXPECT_FALSE(token.requested());
  std::signal(SIGHUP, before);
}

TEST(InterruptGuard, OnlyOneAtATime) {
  CancellationToken token;
  InterruptGuard guard(token);
  EXPECT_THROW(InterruptGuard second(token), std::logic_error);
}

} // namespace
