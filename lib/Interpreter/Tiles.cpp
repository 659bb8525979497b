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

static std::string sizesOf(ArrayRef<int64_t> sizes) {
  std::string text;
  for (int64_t size : sizes)
    text += (text.empty() ? "" : " x ") + std::to_string(size);
  return text;
}

std::optional<std::string> PixelRange::whyNotAnImage() const {
  std::array<int64_t, 3> sizes = {panels, slow, fast};
  if (panels < 0 || slow < 0 || fast < 0)
    return "an image of " + sizesOf(sizes) + " pixels cannot be made";
  if (mask && !mask->shape.empty() && !llvm::equal(mask->shape, sizes))
    return "the mask has " + sizesOf(mask->shape) + " pixels where the image has " + sizesOf(sizes);
  return std::nullopt;
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

TileOutcomes::TileOutcomes(int64_t tiles, Frame &root)
    : root(root), options(root.run->options), tiles(tiles), firstFailed(tiles) {}

bool TileOutcomes::stopBefore(int64_t tile) const {
  return tile > firstFailed.load() || (options.cancelled && options.cancelled());
}

std::vector<ProbeStatistics> TileOutcomes::emptyProbes() const {
  std::vector<ProbeStatistics> empty;
  if (root.probes)
    for (const ProbeStatistics &probe : *root.probes) {
      ProbeStatistics &copy = empty.emplace_back();
      copy.name = probe.name;
      copy.components.resize(probe.components.size());
      copy.isLookup = probe.isLookup;
    }
  return empty;
}

void TileOutcomes::add(std::vector<ProbeStatistics> probes) {
  for (auto [total, part] : llvm::zip(*root.probes, probes)) {
    for (auto [to, from] : llvm::zip_equal(total.components, part.components))
      to.merge(from);
    total.lookup.merge(part.lookup);
  }
}

void TileOutcomes::finish(int64_t tile, const Frame &frame, std::vector<ProbeStatistics> probes) {
  {
    std::lock_guard lock(mutex);
    if (frame.failed() && tile < firstFailed) {
      firstFailed = tile;
      failedAt = frame.failedAt;
      failure = frame.failure;
    }
    if (root.probes) {
      waiting[tile] = std::move(probes);
      for (auto next = waiting.find(nextToAdd); next != waiting.end();
           next = waiting.find(nextToAdd)) {
        add(std::move(next->second));
        waiting.erase(next);
        ++nextToAdd;
      }
    }
  }
  int64_t now = ++done;
  std::unique_lock lock(reporting, std::try_to_lock);
  if (options.progress && lock && now > reported && now < tiles) {
    reported = now;
    options.progress(double(now) / double(tiles));
  }
}

void TileOutcomes::conclude() {
  if (failedAt)
    return root.fail(failedAt, failure);
  if (options.progress && !(options.cancelled && options.cancelled()))
    options.progress(1);
}
