// The requests of the laboratory's tools to the compiler.
#ifndef NANOBRAGG_TOOLS_LABSETUP_H
#define NANOBRAGG_TOOLS_LABSETUP_H

#include "lib/Compiler/Lab/Trial.h"
#include "tools/shared/RunSetup.h"

#include <memory>
#include <string>
#include <vector>

namespace nanobragg {

/// The command line that nb-try and nb-explore share.
struct LabWords {
  std::string target = "native";
  std::string gradient;           ///< parameters; empty: the usual ones, "none"
  double rtol = 0, atolOfMax = 0; ///< 0: by the precision
  double checkSamples = 2e6;      ///< samples that the interpreter is asked to compute
  double mostSeconds = 120;
  std::string program;                 ///< an .mlir file
  std::vector<std::string> experiment; ///< flags of nb-sim; empty with a program: a small one

  /// Takes a program off the front of the experiment's words.
  void takeProgram();
};

/// A subject and how it is tried.
struct LabSetup {
  /// Reads files. Throws what reading them throws, std::runtime_error for a program that is none.
  explicit LabSetup(const LabWords &words);

  RunSetup setup;
  bool subjectFromFile;
  std::unique_ptr<mlir::nb::Subject> subject; ///< restricted to words.checkSamples
  mlir::nb::TrialOptions options;
  /// Prints the notes on the experiment. For a program from a file these are the notes on the
  /// flags: choices and averages of nb-sim's own program play no part in it.
  void tell() const;

  std::string kept; ///< the pipeline of nb-try --tune that nb-sim would take; empty: its own
};

} // namespace nanobragg
#endif
