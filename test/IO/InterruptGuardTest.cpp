#include "lib/Files/InterruptGuard.h"

#include "test/IO/TemporaryDirectory.h"

#include <csignal>
#include <stdexcept>

namespace nanobragg::io {
namespace {

TEST(InterruptGuardDeathTest, FirstSignalEndsTheProcessAndTidiesUp) {
  TemporaryDirectory directory;
  EXPECT_EXIT(
      {
        InterruptGuard guard("a tool");
        OutputFile out(directory.path("a"));
        out.write("half");
        std::raise(SIGTERM);
      },
      testing::ExitedWithCode(128 + SIGTERM), "^a tool: interrupted; nothing is left half-written");
  EXPECT_EQ(directory.entryCount(), 0u);
}

TEST(InterruptGuard, WhatBelongsTogetherIsPutIntoPlaceTogether) {
  TemporaryDirectory directory;
  InterruptGuard guard("a tool");
  OutputFile a(directory.path("a")), b(directory.path("b"));
  {
    const UninterruptedSection section;
    a.commit();
    std::raise(SIGINT);
    b.commit();
  }
  EXPECT_EQ(directory.entryCount(), 2u);
}

TEST(InterruptGuard, RestoresThePreviousHandlers) {
  const auto mine = +[](int) {};
  const auto before = std::signal(SIGINT, mine);
  {
    InterruptGuard guard("a tool");
  }
  EXPECT_EQ(std::signal(SIGINT, before), mine);
}

TEST(InterruptGuard, NohupStaysInForce) {
  const auto before = std::signal(SIGHUP, SIG_IGN);
  InterruptGuard guard("a tool");
  std::raise(SIGHUP);
  std::signal(SIGHUP, before);
}

TEST(InterruptGuard, OnlyOneAtATime) {
  InterruptGuard guard("a tool");
  EXPECT_THROW(InterruptGuard second("a tool"), std::logic_error);
}

} // namespace
} // namespace nanobragg::io
