#include "lib/Inputs/DialsPixels.h"

#include "lib/Files/FileError.h"
#include "lib/Formats/DialsMask.h"

#include <algorithm>

namespace nanobragg {
namespace {

/// One frame of equal size for each panel, all of whose pixels count.
MaskImage openMask(const std::vector<io::DialsPanel> &panels) {
  MaskImage mask;
  for (const io::DialsPanel &p : panels) {
    mask.fastPixels = std::max(mask.fastPixels, p.pixels[0]);
    mask.slowPixels = std::max(mask.slowPixels, p.pixels[1]);
  }
  mask.slowPixels *= std::int64_t(panels.size());
  mask.pixels.assign(std::size_t(mask.fastPixels * mask.slowPixels), 1);
  return mask;
}

} // namespace

void takeMask(const std::vector<io::DialsPanel> &panels, const std::string &file,
              LoadedInputs &loaded) {
  if (loaded.inputs.mask ||
      (file.empty() &&
       std::ranges::all_of(panels, [](const io::DialsPanel &p) { return p.masked.empty(); })))
    return;
  MaskImage mask = openMask(panels);
  const std::int64_t slow = mask.slowPixels / std::int64_t(panels.size());
  const auto row = [&](std::size_t panel, std::int64_t s) {
    return mask.pixels.begin() + (std::int64_t(panel) * slow + s) * mask.fastPixels;
  };
  for (std::size_t i = 0; i < panels.size(); ++i)
    for (const auto &[f0, s0, f1, s1] : panels[i].masked) {
      const std::int64_t from = std::max<std::int64_t>(f0, 0),
                         to = std::max(from, std::min(f1, panels[i].pixels[0]));
      for (std::int64_t s = std::max<std::int64_t>(s0, 0); s < std::min(s1, panels[i].pixels[1]);
           ++s)
        std::fill(row(i, s) + from, row(i, s) + to, 0);
    }
  if (!file.empty()) {
    const std::vector<io::DialsMaskPanel> given = io::readDialsMask(file);
    if (given.size() != panels.size())
      throw io::FileError(file, "masks " + std::to_string(given.size()) +
                                    " panels, and there are " + std::to_string(panels.size()) +
                                    "; make the mask anew from these images");
    for (std::size_t i = 0; i < panels.size(); ++i) {
      const io::DialsMaskPanel &m = given[i];
      if (m.fast != panels[i].pixels[0] || m.slow != panels[i].pixels[1])
        throw io::FileError(file, "masks " + std::to_string(m.fast) + " x " +
                                      std::to_string(m.slow) + " pixels of panel " +
                                      std::to_string(i) + ", which has " +
                                      std::to_string(panels[i].pixels[0]) + " x " +
                                      std::to_string(panels[i].pixels[1]) +
                                      "; make the mask anew from these images");
      for (std::int64_t s = 0; s < m.slow; ++s)
        for (std::int64_t f = 0; f < m.fast; ++f)
          if (!m.pixels[std::size_t(s * m.fast + f)])
            row(i, s)[f] = 0;
    }
  }
  loaded.inputs.mask = std::move(mask);
}

void takeGain(const std::vector<io::DialsPanel> &panels, LoadedInputs &loaded) {
  const double first = panels.front().gain;
  if (std::ranges::all_of(panels, [&](const io::DialsPanel &p) { return p.gain == first; })) {
    if (first != 1 && first > 0)
      loaded.options.gain = first;
    return;
  }
  GainMapImage map;
  std::int64_t slow = 0;
  for (const io::DialsPanel &p : panels) {
    map.fastPixels = std::max(map.fastPixels, p.pixels[0]);
    slow = std::max(slow, p.pixels[1]);
  }
  map.slowPixels = slow * std::int64_t(panels.size());
  for (const io::DialsPanel &p : panels)
    map.gains.insert(map.gains.end(), std::size_t(slow * map.fastPixels), p.gain > 0 ? p.gain : 1);
  loaded.inputs.gainMap = std::move(map);
}

} // namespace nanobragg
