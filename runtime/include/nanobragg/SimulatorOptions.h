// How an experiment is run.
#ifndef NANOBRAGG_SIMULATOROPTIONS_H
#define NANOBRAGG_SIMULATOROPTIONS_H

#include "nanobragg/CullSetting.h"
#include "nanobragg/DeviceChoice.h"
#include "nanobragg/Engine.h"
#include "nanobragg/KernelABI.h"
#include "nanobragg/Precision.h"
#include "nanobragg/Run.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace nanobragg {

class KernelProvider;
struct KernelSpecification;

/// The user's own passes. nb-compile, nb-sim, nb-gradcheck, nb-bench and the compiler library share
/// this structure.
struct OwnPasses {
  /// In the syntax of nb-opt's --pass-pipeline. It replaces the passes up to fusion; those
  /// that a kernel still needs follow it. Empty: the compiler's own.
  std::string pipeline{};
  std::string schedule{}; ///< a file of nb-try --tune, instead of `pipeline`
  std::string plugins{};  ///< comma-separated shared objects with passes or dialects
  /// The precision that `pipeline` is for, if a schedule states it. Programs of another precision
  /// do not use the pipeline. Unset: any.
  std::optional<Precision> precision{};
  /// The program that `pipeline` is for, if a schedule states it. Null: any.
  std::shared_ptr<const KernelSpecification> program{};
  std::string patterns{}; ///< comma-separated files of rewrites, PDLL (.pdll) or PDL (.mlir)
  /// Called once for each compiled program, with a line that names the passes.
  std::function<void(const std::string &)> tell{};

  bool any() const {
    return !pipeline.empty() || !schedule.empty() || !plugins.empty() || !patterns.empty();
  }
};

/// Options that nb-sim sets by its flags, and programs directly.
/// runtime/simulator/Placement.h describes their use.
struct SimulatorOptions {
  /// Unset: compiled kernels, unless the environment disables them (Engine.h) at the time when the
  /// simulator is made.
  std::optional<Engine> engine{};
  /// Interpret if no kernel can be compiled. If false, that is an error.
  bool fallback = false;
  int threads = 0; ///< 0: as many as the machine offers
  /// The precision of kernels. With Mixed, crystals of more than 128 cells along an axis are
  /// computed in f64, since Mixed would exceed its error bound (docs/precision.md). A kernel that
  /// the program supplies keeps its own precision.
  Precision precision = Precision::F64;
  /// As nb-sim's --cull. Unset: exact if that is faster, and off on GPUs.
  std::optional<CullSetting> cull{};
  /// As nb-sim's --specialize: long images have kernels for their counts.
  bool specialize = true;
  /// With "auto" the processor computes what a GPU cannot.
  DeviceChoice device{};
  /// The simulator runs once: "auto" avoids a GPU that takes longer to start than to run.
  bool once = false;
  /// The kernel must serve experiments with other numbers, too: it has the requested precision,
  /// skips samples only on request, and has no counts compiled in.
  bool anyNumbers = false;
  std::string kernelFile{}; ///< made by nb-compile, for the image; then nothing is compiled
  /// A kernel that the program supplies, for one image or derivative. Anything else is then
  /// refused.
  std::shared_ptr<const nb_kernel_descriptor> kernel{};
  OwnPasses passes{};
  /// If `passes` is empty, images on the processor use the pipeline that nb-try --tune stored for
  /// them, if any.
  bool keptSchedule = true;
  /// A list of pixels, in which one may occur several times. Images and derivatives then have the
  /// shape [1][1][length of the list] and its order, at a cost proportional to the length. A pixel
  /// that is masked or outside the region is 0. Empty: the whole detector.
  std::vector<PixelIndex> pixels{};
  std::string dumpIR{}; ///< directory for the IR after every pass; empty: none
  /// Where kernels come from; null: one for the process, with the kernel cache.
  KernelProvider *kernels = nullptr;
};

} // namespace nanobragg
#endif
