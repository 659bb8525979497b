#include "tools/nb-sim/FrameDeal.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace nanobragg {

FrameDeal::FrameDeal(std::int64_t frames, const std::function<bool(std::int64_t)> &isDone,
                     const std::function<double(std::int64_t)> &cost,
                     const std::optional<Shard> &shard, Ranks *ranks)
    : ranks(ranks) {
  std::string bytes;
  if (!ranks || ranks->rank() == 0) {
    for (std::int64_t i = 0; i < frames; ++i) {
      if (shard && i % shard->count != shard->index)
        ++elsewhere;
      else if (!isDone(i))
        open.push_back(i);
    }
    if (ranks)
      std::ranges::sort(open, {}, [&](std::int64_t i) { return std::pair(-cost(i), i); });
    bytes.assign(reinterpret_cast<const char *>(open.data()), open.size() * sizeof open[0]);
  }
  if (ranks) {
    ranks->broadcast(bytes);
    open.resize(bytes.size() / sizeof open[0]);
    std::memcpy(open.data(), bytes.data(), bytes.size());
  }
  finished = frames - elsewhere - std::int64_t(open.size());
}

std::optional<std::int64_t> FrameDeal::next() {
  const std::size_t place = ranks ? std::size_t(ranks->next()) : taken++;
  if (place >= open.size())
    return std::nullopt;
  return open[place];
}

} // namespace nanobragg
