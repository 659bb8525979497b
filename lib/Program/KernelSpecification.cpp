#include "lib/Program/KernelSpecification.h"

#include "nanobragg/KernelABI.h"

#include <sstream>
#include <stdexcept>

namespace nanobragg {

constexpr std::string_view cullMark = "cull=", derivativeMark = "derivative=",
                           fixedMark = NB_KERNEL_FIXED;

static void appendWord(std::string &text, const std::string &word) {
  text += (text.empty() ? "" : " ") + word;
}

std::string KernelSpecification::toString() const {
  std::string text = variant ? variant->toString() : "";
  if (!cull.isOff())
    appendWord(text, std::string(cullMark) + cull.toString());
  if (derivative.mode != Derivative::Mode::Value)
    appendWord(text, std::string(derivativeMark) + derivative.toString());
  for (const FixedCount &count : fixed)
    appendWord(text, std::string(fixedMark) + count.toString());
  return text;
}

static CullSetting cullOf(const std::string &text) {
  const auto setting = CullSetting::fromString(text);
  if (!setting || setting->isOff())
    throw std::invalid_argument("'cull' cannot be '" + text +
                                "', it is exact or a number between 0 and 1");
  return *setting;
}

KernelSpecification KernelSpecification::fromString(std::string_view text) {
  KernelSpecification specification;
  std::istringstream words{std::string(text)};
  std::string variant;
  for (std::string word; words >> word;) {
    if (word.starts_with(cullMark))
      specification.cull = cullOf(word.substr(cullMark.size()));
    else if (word.starts_with(derivativeMark))
      specification.derivative = Derivative::fromString(word.substr(derivativeMark.size()));
    else if (word.starts_with(fixedMark))
      specification.fixed.push_back(FixedCount::fromString(word.substr(fixedMark.size())));
    else
      appendWord(variant, word);
  }
  if (!variant.empty())
    specification.variant = ProgramVariant::fromString(variant);
  return specification;
}

void requireKernelAlone(const ProgramVariant &variant) {
  if (variant.pointSpread != PointSpread::None)
    throw std::invalid_argument("a kernel computes each pixel by itself and spreads no light: "
                                "leave out -psf, or let nb-sim or a Simulator run the experiment");
}

} // namespace nanobragg
