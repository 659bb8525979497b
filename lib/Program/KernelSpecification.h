// The specification that a kernel was compiled for, as text.
#ifndef NANOBRAGG_PROGRAM_KERNELSPECIFICATION_H
#define NANOBRAGG_PROGRAM_KERNELSPECIFICATION_H

#include "lib/Experiment/ProgramVariant.h"
#include "lib/Program/Derivative.h"
#include "lib/Program/FixedCount.h"
#include "nanobragg/CullSetting.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace nanobragg {

/// nb_kernel_descriptor::variant in parts: "shape=square ... cull=1e-9 derivative=vjp(cell_a)
/// fixed:layers=1".
struct KernelSpecification {
  std::optional<ProgramVariant> variant{}; ///< none: of a program of its own
  Derivative derivative{};
  std::vector<FixedCount> fixed{};
  CullSetting cull{}; ///< which samples it leaves out

  std::string toString() const;
  /// Inverse of toString(). Throws std::invalid_argument naming what is wrong.
  static KernelSpecification fromString(std::string_view text);
};

/// A kernel computes each pixel by itself. Throws std::invalid_argument for a variant whose image
/// is more than one kernel can compute, for those who make one to be used without a Simulator.
void requireKernelAlone(const ProgramVariant &variant);

} // namespace nanobragg
#endif
