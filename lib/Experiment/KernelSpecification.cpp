#include "lib/Experiment/KernelSpecification.h"

#include <stdexcept>

#include "nanobragg/KernelABI.h"

#include <sstream>

namespace nanobragg {

constexpr std::string_view derivativeMark = "derivative=", fixedMark = NB_KERNEL_FIXED;

std::vector<std::string> wordsOf(std::string_view text) {
  std::istringstream stream{std::string(text)};
  std::vector<std::string> words;
  for (std::string word; stream >> word;)
    words.push_back(word);
  return words;
}

static void append(std::string &text, const std::string &word) {
  text += (text.empty() ? "" : " ") + word;
}

std::string KernelSpecification::toString() const {
  std::string text = variant;
  if (!derivative.empty() && derivative != "none")
    append(text, std::string(derivativeMark) + derivative);
  for (const std::string &count : fixed)
    append(text, std::string(fixedMark) + count);
  return text;
}

KernelSpecification KernelSpecification::fromString(std::string_view text) {
  KernelSpecification specification;
  for (const std::string &word : wordsOf(text)) {
    if (word.starts_with(derivativeMark))
      specification.derivative = word.substr(derivativeMark.size());
    else if (word.starts_with(fixedMark))
      specification.fixed.push_back(word.substr(fixedMark.size()));
    else
      append(specification.variant, word);
  }
  return specification;
}

void requireKernelAlone(const ProgramVariant &variant) {
  if (variant.pointSpread != PointSpread::None)
    throw std::invalid_argument(
        "a kernel computes each pixel by itself and spreads no light: leave "
        "out -psf, or let nb-sim or a Simulator run the experiment");
}

} // namespace nanobragg
