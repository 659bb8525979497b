#include "lib/Interpreter/Tiles.h"

#include "lib/Interpreter/Run.h"

using namespace mlir;
using namespace mlir::nb;

void PixelRange::pixelsOf(int64_t tile, TilePixels &pixels) const {
  pixels.panel = tile / tilesPerPanel();
  pixels.slow.clear();
  pixels.fast.clear();
  int64_t begin = tile % tilesPerPanel() * tileLanes;
  int64_t end = std::min(begin + tileLanes, perPanel());
  for (int64_t i = begin; i < end; ++i) {
    int64_t s = slowMin + i / width(), f = fastMin + i % width();
    if (mask && mask->get(indexOf(pixels.panel, s, f)) == 0)
      continue;
    pixels.slow.push_back(s);
    pixels.fast.push_back(f);
  }
}

void PixelRange::write(const TilePixels &pixels, Tensor &image, const double *values,
                       bool varying) const {
  for (size_t lane = 0; lane < pixels.fast.size(); ++lane)
    image.set(indexOf(pixels.panel, pixels.slow[lane], pixels.fast[lane]),
              values[varying ? lane : 0]);
}

std::optional<std::string> PixelRange::whyNotRendered(const Pixel &pixel) const {
  std::string name = "pixel slow " + std::to_string(pixel.slow) + ", fast " +
                     std::to_string(pixel.fast) +
                     (panels > 1 ? " of panel " + std::to_string(pixel.panel) : "");
  if (pixel.panel < 0 || pixel.panel >= panels || pixel.slow < 0 || pixel.slow >= slow ||
      pixel.fast < 0 || pixel.fast >= fast)
    return name + " is outside the image of " + std::to_string(slow) + " slow x " +
           std::to_string(fast) + " fast pixels";
  if (pixel.slow < slowMin || pixel.slow > slowMax || pixel.fast < fastMin || pixel.fast > fastMax)
    return name + " is outside the region of interest";
  if (mask && mask->get(indexOf(pixel.panel, pixel.slow, pixel.fast)) == 0)
    return name + " is masked";
  return std::nullopt;
}

TileOutcomes::TileOutcomes(int64_t tiles, const InterpreterOptions &options)
    : options(options), tiles(tiles), firstFailed(tiles) {
  if (options.probes)
    probes.resize(tiles);
}

bool TileOutcomes::stopBefore(int64_t tile) const {
  return tile > firstFailed.load() || (options.cancelled && options.cancelled());
}

std::vector<ProbeStatistics> *TileOutcomes::probesOf(int64_t tile, const Frame &root) {
  if (!root.probes)
    return nullptr;
  // The same probes with nothing recorded yet.
  std::vector<ProbeStatistics> &own = probes[tile];
  for (const ProbeStatistics &probe : *root.probes) {
    ProbeStatistics empty;
    empty.name = probe.name;
    empty.components.resize(probe.components.size());
    empty.isLookup = probe.isLookup;
    own.push_back(std::move(empty));
  }
  return &own;
}

void TileOutcomes::finish(int64_t tile, const Frame &frame) {
  if (frame.failed()) {
    std::lock_guard lock(mutex);
    if (tile < firstFailed) {
      firstFailed = tile;
      failedAt = frame.failedAt;
      failure = frame.failure;
    }
  }
  int64_t now = ++done;
  std::unique_lock lock(reporting, std::try_to_lock);
  if (options.progress && lock && now > reported && now < tiles) {
    reported = now;
    options.progress(double(now) / double(tiles));
  }
}

void TileOutcomes::conclude(Frame &root) {
  if (failedAt)
    root.fail(failedAt, failure);
  for (const auto &ofTile : probes)
    for (auto [total, part] : llvm::zip(*root.probes, ofTile)) {
      for (auto [to, from] : llvm::zip_equal(total.components, part.components))
        to.merge(from);
      total.lookup.merge(part.lookup);
    }
  if (options.progress && !failedAt && !(options.cancelled && options.cancelled()))
    options.progress(1);
}
