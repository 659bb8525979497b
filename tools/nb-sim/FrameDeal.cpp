#include "tools/nb-sim/FrameDeal.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <stdexcept>
#include <string>
#include <unistd.h>
#include <utility>

namespace nanobragg {

FrameDeal::FrameDeal(std::int64_t frames, const std::function<bool(std::int64_t)> &isDone,
                     const std::function<double(std::int64_t)> &cost,
                     const SeriesOptions &series, Ranks *ranks)
    : dealer(series.shard ? series.deal : std::nullopt), ranks(ranks) {
  const std::optional<Shard> &shard = series.shard;
  std::string bytes;
  if (!ranks || ranks->rank() == 0) {
    for (std::int64_t i = 0; i < frames; ++i) {
      if (shard && !dealer && i % shard->count != shard->index)
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

std::optional<std::int64_t> FrameDeal::dealt() {
  while (!open.empty()) {
    std::string answer;
    char letter = '?';
    bool heard = ::write(*dealer, &letter, 1) == 1;
    while (heard && (heard = ::read(*dealer, &letter, 1) == 1) && letter != '\n')
      answer += letter;
    std::int64_t frame = 0;
    const auto [end, error] =
        std::from_chars(answer.data(), answer.data() + answer.size(), frame);
    if (!heard || error != std::errc() || end != answer.data() + answer.size() || frame < 0)
      throw std::runtime_error("--deal: no number of an image came from descriptor " +
                               std::to_string(*dealer) + "; is it an open socket?");
    if (frame > open.back())
      break;
    if (std::ranges::binary_search(open, frame)) // or it was there before
      return frame;
  }
  return std::nullopt;
}

std::optional<std::int64_t> FrameDeal::next() {
  if (dealer)
    return dealt();
  const std::size_t place = ranks ? std::size_t(ranks->next()) : taken++;
  if (place >= open.size())
    return std::nullopt;
  return open[place];
}

} // namespace nanobragg
