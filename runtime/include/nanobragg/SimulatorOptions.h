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
  /// As nb-opt's --pass-pipeline takes it. It runs in the place of the passes up to fusion; from
  /// where it ends, those passes follow that are missing to a kernel. Empty: the compiler's own.
  std::string pipeline{};
  std::string schedule{}; ///< a file of nb-try --tune with a pipeline, in the place of one
  std::string plugins{};  ///< comma-separated shared objects with passes or dialects
  /// The precision that `pipeline` is for, where a schedule says so: it is not taken for a
  /// program in another one. Unset: any.
  std::optional<Precision> precision{};
  /// The program that `pipeline` is for, where a schedule says so. Null: any.
  std::shared_ptr<const KernelSpecification> program{};
  std::string patterns{}; ///< files of rewrites, PDLL (.pdll) or PDL (.mlir), with commas between
  /// Gets a line that says which passes ran, once for each program that is compiled.
  std::function<void(const std::string &)> tell{};

  bool any() const {
    return !pipeline.empty() || !schedule.empty() || !plugins.empty() || !patterns.empty();
  }
};

/// Options that the flags of nb-sim fill in and programs set themselves.
/// runtime/simulator/Placement.h says how they are used.
struct SimulatorOptions {
  /// Unset: compiled kernels, unless the environment disables them (Engine.h), which is looked at
  /// when the simulator is made and not again.
  std::optional<Engine> engine{};
  /// Interpret where no kernel can be compiled; otherwise that is an error.
  bool fallback = false;
  int threads = 0; ///< 0: as many as the machine offers
  /// The precision of kernels. Crystals of more than 128 cells along an axis are computed in f64
  /// where Mixed is asked for, since that does not keep its bound there (docs/precision.md); a
  /// kernel that is given is what it is.
  Precision precision = Precision::F64;
  /// As nb-sim's --cull; unset: exact where that pays, and off on GPUs.
  std::optional<CullSetting> cull{};
  /// As nb-sim's --specialize: long images have kernels for their counts.
  bool specialize = true;
  /// With "auto" the processor does what a GPU cannot do.
  DeviceChoice device{};
  /// The simulator is run once: "auto" leaves a GPU alone whose start takes longer than that.
  bool once = false;
  /// The kernel serves experiments with other numbers, too: it has the precision that is asked for,
  /// leaves out samples only where that is, and has no counts compiled in.
  bool anyNumbers = false;
  std::string kernelFile{}; ///< made by nb-compile, for the image; nothing is compiled then
  /// A kernel that the program supplies, for one image or derivative; anything else is refused
  /// then.
  std::shared_ptr<const nb_kernel_descriptor> kernel{};
  OwnPasses passes{};
  /// Without passes of one's own, images on the processor are made by the pipeline that nb-try
  /// --tune has kept for them, if any.
  bool keptSchedule = true;
  /// The pixels that are asked for, in the order of their numbers, each as often as one likes;
  /// empty: all of the detector. Image, derivatives and losses are then of shape [1][1][number of
  /// them], at a cost proportional to their number. A pixel that is masked or outside the region is
  /// 0.
  std::vector<PixelIndex> pixels{};
  std::string dumpIR{}; ///< directory for the IR after every pass; empty: none
  /// Where kernels come from; null: one for the process, with the kernel cache.
  KernelProvider *kernels = nullptr;
};

} // namespace nanobragg
#endif
