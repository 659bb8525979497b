// What a kernel says that it was compiled for, as text.
#ifndef NANOBRAGG_EXPERIMENT_KERNELSPECIFICATION_H
#define NANOBRAGG_EXPERIMENT_KERNELSPECIFICATION_H

#include "lib/Experiment/ProgramVariant.h"

#include <string>
#include <string_view>
#include <vector>

namespace nanobragg {

/// nb_kernel_descriptor::variant in parts: "shape=square ... derivative=vjp(cell_a)
/// fixed:layers=1".
struct KernelSpecification {
  std::string variant;            ///< ProgramVariant::toString(); empty: of a program of its own
  std::string derivative;         ///< Derivative::toString(); empty: the image alone
  std::vector<std::string> fixed; ///< "NAME=VALUE" of the counts that were compiled in

  std::string toString() const;
  /// Inverse of toString().
  static KernelSpecification fromString(std::string_view text);
};

/// A kernel computes each pixel by itself. Throws std::invalid_argument for a variant whose image
/// is more than one kernel can compute, for those who make one to be used without a Simulator.
void requireKernelAlone(const ProgramVariant &variant);

/// The words of a text with blanks between.
std::vector<std::string> wordsOf(std::string_view text);

} // namespace nanobragg
#endif
