// The request to the compiler.
//
// The runtime fills it in and the compiler library reads it: both are built together, and the
// library says so before anything is asked of it (nanobragg/CompilerABI.h). An option of the
// compiler is a field here and the place that reads it.
#ifndef NANOBRAGG_PROGRAM_COMPILEREQUEST_H
#define NANOBRAGG_PROGRAM_COMPILEREQUEST_H

#include "lib/Experiment/ProgramVariant.h"
#include "lib/Program/Derivative.h"
#include "lib/Program/FixedCount.h"
#include "lib/Target/KernelTarget.h"
#include "nanobragg/Engine.h"
#include "nanobragg/Precision.h"
#include "nanobragg/SimulatorOptions.h"

#include <string>
#include <vector>

namespace nanobragg {

/// Where in its pipeline a program is printed as MLIR.
struct Until {
  enum class Side { Before, After };
  Side side = Side::After;
  std::string stage{}; ///< empty: up to fusion

  bool any() const { return !stage.empty(); }
  /// As the flag: "until-before=STAGE".
  std::string toString() const {
    return (side == Side::Before ? "until-before=" : "until-after=") + stage;
  }
};

/// How a program is compiled.
struct CompileOptions {
  Precision precision = Precision::F64;
  KernelTarget target{};
  std::string dumpIR{}; ///< directory for the IR after every pass; empty: none
  Engine engine = Engine::Fused;
  Derivative derivative{};         ///< taken of a variant's program
  CullSetting cull{};              ///< which samples the kernel of a variant leaves out
  std::vector<FixedCount> fixed{}; ///< counts to compile in
  OwnPasses passes{};
  Until until{};
  /// Where debuggers find the text of a variant's program. The kernel of a processor then has debug
  /// information, which names this file. Empty: none.
  std::string programFile{};
  std::string symbol{}; ///< symbol that an object defines; empty: nb_kernel_get_descriptor
  /// A kernel file has a version for each of these too.
  std::vector<KernelTarget> otherTargets{};

  std::vector<KernelTarget> targets() const {
    std::vector<KernelTarget> all{target};
    all.insert(all.end(), otherTargets.begin(), otherTargets.end());
    return all;
  }
  /// All of them, with commas between.
  std::string targetText() const {
    std::string text = target.toString();
    for (const KernelTarget &other : otherTargets)
      text += "," + other.toString();
    return text;
  }
  bool derives() const { return derivative.mode != Derivative::Mode::Value; }
};

struct CompileRequest : CompileOptions {
  ProgramVariant variant{};
  std::string program{};     ///< an nb program as text, instead of the variant; or empty
  std::string programName{}; ///< its name in messages: its file
};

} // namespace nanobragg
#endif
