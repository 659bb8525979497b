#include "lib/Parallel/TaskQueue.h"

#include <atomic>
#include <gtest/gtest.h>
#include <stdexcept>

using nanobragg::TaskQueue;

TEST(TaskQueue, FinishesAllTasks) {
  std::atomic<int> done = 0;
  TaskQueue tasks(3);
  for (int i = 0; i != 100; ++i)
    tasks.add([&] { ++done; });
  tasks.finish();
  EXPECT_EQ(done, 100);
}

TEST(TaskQueue, RunsOneAfterTheOtherInOrder) {
  std::vector<int> order;
  TaskQueue tasks(1);
  for (int i = 0; i != 5; ++i)
    tasks.add([&, i] { order.push_back(i); });
  tasks.finish();
  EXPECT_EQ(order, (std::vector<int>{0, 1, 2, 3, 4}));
}

TEST(TaskQueue, ThrowsWhatATaskThrewOnce) {
  TaskQueue tasks(2);
  tasks.add([] { throw std::runtime_error("disk full"); });
  EXPECT_THROW(tasks.finish(), std::runtime_error);
  EXPECT_NO_THROW(tasks.finish());
}
