// The command line of nb-compile as a structure.
#ifndef NANOBRAGG_NBCOMPILE_COMMAND_H
#define NANOBRAGG_NBCOMPILE_COMMAND_H

#include "lib/CommandLine/CommandLine.h"
#include "lib/CommandLine/OwnFlags.h"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace nanobragg {

struct CompileCommand {
  bool completion = false;
  bool lines = false;  ///< debug information, with the program beside the file
  std::string inspect; ///< describe this kernel file and do nothing else
  std::string emit = "so", target = "native", output, symbol;
  std::vector<std::string> specialize; ///< counts to compile in
  std::optional<std::string> trace;    ///< the file of --trace-events
  std::string mode, parameters;        ///< the derivative's, if there is one
  std::string program;                 ///< an .mlir file, instead of flags of an experiment
  std::vector<std::string> experiment; ///< everything else: flags of nb-sim

  /// Those in `target`.
  std::vector<std::string> targets() const;
  /// The file of the program that debug information refers to, beside the output.
  std::string programFile() const;
  /// Machine code, or SPIR-V, of one chip alone.
  bool isCodeOfChip() const { return emit == "cubin" || emit == "hsaco" || emit == "spirv"; }
  /// Can a file hold it for one chip alone?
  bool ofOneChip() const { return emit == "ptx" || isCodeOfChip(); }
  bool text() const { return emit != "so" && emit != "obj" && !isCodeOfChip(); }
};

using CompileFlag = OwnFlag<CompileCommand>;

std::span<const CompileFlag> compileFlags();

/// The flags beside a program FILE.mlir: those of nb-sim that are about its passes. Throws
/// UsageError.
CommandLine parseProgramFlags(const CompileCommand &command);

/// Throws UsageError.
CompileCommand parseCommand(const std::vector<std::string> &words);

std::string compileUsage();

/// A script that completes the flags of nb-sim and nb-compile, made from the tables that parse
/// them.
std::string bashCompletion();

} // namespace nanobragg
#endif
