#include "tools/nb-sim/FrameDeal.h"

#include <algorithm>
#include <charconv>
#include <stdexcept>
#include <string>
#include <unistd.h>
#include <utility>

namespace nanobragg {
namespace {

/// Numbers of rank 0, on all.
void broadcast(std::vector<std::int64_t> &numbers, Ranks &ranks) {
  std::string bytes(reinterpret_cast<const char *>(numbers.data()),
                    numbers.size() * sizeof(std::int64_t));
  ranks.broadcast(bytes);
  numbers.resize(bytes.size() / sizeof(std::int64_t));
  bytes.copy(reinterpret_cast<char *>(numbers.data()), bytes.size()); // there may be none
}

/// Asks whoever has the other end of the socket for a number.
std::int64_t askDealer(int socket) {
  std::string answer;
  char letter = '?';
  bool heard = ::write(socket, &letter, 1) == 1;
  while (heard && (heard = ::read(socket, &letter, 1) == 1) && letter != '\n')
    answer += letter;
  std::int64_t number = 0;
  const auto [stop, error] = std::from_chars(answer.data(), answer.data() + answer.size(), number);
  if (!heard || error != std::errc() || stop != answer.data() + answer.size() || number < 0)
    throw std::runtime_error("--deal: no number came from descriptor " + std::to_string(socket) +
                             "; is it an open socket?");
  return number;
}

} // namespace

FrameDeal::FrameDeal(std::int64_t frames, const std::function<bool(std::int64_t)> &isDone,
                     const std::function<double(std::int64_t)> &cost, const SeriesOptions &series,
                     Ranks *ranks) {
  const std::optional<Shard> &shard = series.shard;
  const std::optional<int> dealer = shard ? series.deal : std::nullopt;
  if (!ranks || ranks->rank() == 0)
    for (std::int64_t i = 0; i < frames; ++i) {
      if (shard && !dealer && i % shard->count != shard->index) {
        ++elsewhere;
        continue;
      }
      const bool done = isDone(i);
      finished += done;
      if (dealer) // others may find others finished, and all have to mean the same by a block
        there.push_back(done);
      if (dealer || !done)
        order.push_back(i);
    }
  if (dealer) {
    makeBlocks(cost, shard->count);
    nextBlock = [socket = *dealer] { return askDealer(socket); };
  } else if (ranks) {
    if (ranks->rank() == 0)
      makeBlocks(cost, ranks->size());
    broadcast(order, *ranks);
    broadcast(ends, *ranks);
    finished = frames - std::int64_t(order.size());
    nextBlock = [ranks] { return ranks->next(); };
  } else {
    ends = {std::int64_t(order.size())};
    nextBlock = [given = std::int64_t(0)]() mutable { return given++; };
  }
}

void FrameDeal::makeBlocks(const std::function<double(std::int64_t)> &cost, std::int64_t workers) {
  constexpr double shares = 8; ///< blocks in each worker's part of what remains
  std::vector<double> costs;
  double remaining = 0;
  for (const std::int64_t frame : order)
    remaining += costs.emplace_back(cost(frame));
  std::size_t singles = 0; // from here on blocks have one frame
  for (std::size_t i = 0; i < order.size();) {
    const double want = remaining / (shares * double(workers));
    const std::size_t begin = i;
    double taken = 0;
    do
      taken += costs[i++];
    while (i < order.size() && taken + costs[i] <= want);
    remaining -= taken;
    ends.push_back(std::int64_t(i));
    if (i - begin > 1)
      singles = i;
  }
  std::sort(order.begin() + std::ptrdiff_t(singles), order.end(),
            [&](std::int64_t a, std::int64_t b) {
              return std::pair(-cost(a), a) < std::pair(-cost(b), b);
            });
}

std::optional<std::int64_t> FrameDeal::next() {
  while (true) {
    while (place < end) {
      const std::int64_t frame = order[place++];
      if (there.empty() || !there[std::size_t(frame)])
        return frame;
    }
    const std::size_t block = std::size_t(nextBlock());
    if (block >= ends.size())
      return std::nullopt;
    place = block == 0 ? 0 : std::size_t(ends[block - 1]);
    end = std::size_t(ends[block]);
  }
}

} // namespace nanobragg
