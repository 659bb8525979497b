#include "nanobragg/Cancellation.h"

#include <gtest/gtest.h>

#include <csignal>
#include <stdexcept>

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
        InterruptGuard guard(token);
        std::raise(SIGTERM);
        std::raise(SIGTERM);
      },
      testing::KilledBySignal(SIGTERM), "");
}

TEST(InterruptGuard, RestoresThePreviousHandlers) {
  const auto before = std::signal(SIGINT, SIG_IGN);
  CancellationToken token;
  { InterruptGuard guard(token); }
  EXPECT_EQ(std::signal(SIGINT, before), SIG_IGN);
}

TEST(InterruptGuard, OnlyOneAtATime) {
  CancellationToken token;
  InterruptGuard guard(token);
  EXPECT_THROW(InterruptGuard second(token), std::logic_error);
}

} // namespace
