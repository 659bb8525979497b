// The names of the stages of the compiler's pipelines, for those who have no compiler.
#ifndef NANOBRAGG_PROGRAM_STAGENAMES_H
#define NANOBRAGG_PROGRAM_STAGENAMES_H

#include <string>
#include <string_view>

namespace nanobragg {

/// In the order in which a kernel goes through them, which is that of mlir::nb::Stage. No pipeline
/// has all: some are of processors, some of GPUs or of the interpreter.
inline constexpr std::string_view stageNames[] = {"counts",   "simplify",      "probe",
                                                  "average",  "response",      "hoist",
                                                  "branches", "differentiate", "hoist-derivative",
                                                  "fuse",     "precision",     "peel",
                                                  "cull",     "lanes",         "loops",
                                                  "arith",    "outline",       "gpu",
                                                  "grid",     "host",          "llvm",
                                                  "nvvm",     "spirv",         "rocdl"};

/// All of them with `separator` between.
inline std::string stageNamesText(std::string_view separator) {
  std::string text;
  for (const std::string_view name : stageNames)
    text += (text.empty() ? "" : std::string(separator)) + std::string(name);
  return text;
}

} // namespace nanobragg
#endif
