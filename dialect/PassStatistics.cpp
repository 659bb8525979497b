#include "dialect/PassStatistics.h"

#include <algorithm>
#include <mutex>
#include <utility>

using namespace mlir;
using namespace mlir::nb;

namespace {
struct Counted {
  std::mutex mutex;
  std::vector<CountedStatistic> statistics;

  static Counted &get() {
    static Counted &counted = *new Counted;
    return counted;
  }
};
} // namespace

PassStatistic &PassStatistic::operator+=(uint64_t more) {
  Counted &counted = Counted::get();
  const std::lock_guard lock(counted.mutex);
  const StringRef pass = owner->getArgument();
  const auto found = std::ranges::find_if(
      counted.statistics, [&](auto &one) { return one.pass == pass && one.name == name; });
  if (found != counted.statistics.end())
    found->value += more;
  else
    counted.statistics.push_back({pass.str(), name, description, more});
  return *this;
}

std::vector<CountedStatistic> nb::passStatistics() {
  Counted &counted = Counted::get();
  const std::lock_guard lock(counted.mutex);
  return counted.statistics;
}

void nb::clearPassStatistics() {
  Counted &counted = Counted::get();
  const std::lock_guard lock(counted.mutex);
  counted.statistics.clear();
}
