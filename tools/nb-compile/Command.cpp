#include "tools/nb-compile/Command.h"

#include "lib/CommandLine/Flag.h"
#include "lib/Program/StageNames.h"
#include "lib/Target/GpuVendor.h"

#include <algorithm>
#include <filesystem>
#include <iterator>

namespace nanobragg {
namespace {

using C = CompileCommand;
using Text = std::string;

void setDerivative(C &c, const Text &text) {
  if (text == "none") {
    c.mode = text;
    return;
  }
  const std::size_t colon = text.find(':');
  c.mode = colon == text.npos ? "vjp" : text.substr(0, colon);
  c.parameters = text.substr(colon == text.npos ? 0 : colon + 1);
}

constexpr CompileFlag flags[] = {
    {"--emit", "KIND",
     "so: a kernel file for nb-sim --kernel (default); obj: an object to link into a program; "
     "header: the C declaration of that object's function, with a list of parameters; nb, mlir, "
     "llvm, asm: the program as written, after fusion, as LLVM IR, as assembly; stats: "
     "instructions of its loops by kind, registers, spills, occupancy, and the least cycles of a "
     "sample; stats-json: the same as JSON; "
     "pipeline (or --print-pipeline): the passes of the kernel, as --pipeline takes them; "
     "ptx: the assembly of an NVIDIA GPU; cubin: its machine code, which ptxas of the CUDA toolkit "
     "makes (NB_PTXAS names it); hsaco: the code object of an AMD GPU; spirv: the SPIR-V of "
     "OpenCL's devices",
     keeps<&C::emit>,
     "so obj asm llvm mlir nb stats stats-json pipeline header ptx cubin hsaco spirv"},
    {"--target", "CPU",
     "native (default), x86-64-v2, x86-64-v3, x86-64-v4 or another LLVM name of an x86 processor, "
     "aarch64 or aarch64-CPU. Comma-separated targets make one file with a version for each; the "
     "best one for the processor is chosen when the file is loaded. Or chips of NVIDIA's "
     "GPUs: sm_80, sm_90, sm_100, ...; or of AMD's: gfx90a, gfx942 (waves of 64 threads), gfx1100, "
     "gfx1201 (of 32); or spirv64 for all devices of OpenCL. A file for several chips of NVIDIA's "
     "contains cubin for each, if ptxas is installed, and PTX for later chips. Chips can share a "
     "file if their warps have as many threads (32 for NVIDIA and OpenCL). With --emit=ptx, cubin "
     "and hsaco, each chip gets its own file",
     keeps<&C::target>,
     "native x86-64-v2 x86-64-v3 x86-64-v4 aarch64 sm_80 sm_90 sm_100 gfx90a gfx942 gfx1100 "
     "gfx1201 "
     "spirv64"},
    {"-o", "FILE",
     "the file to write; without it, text goes to standard output. A name that ends in / is a "
     "folder, as NB_KERNEL_PATH names them: the kernel file there gets the name by which nb-sim "
     "finds it",
     keeps<&C::output>},
    {"--specialize", "COUNTS",
     "make these comma-separated counts of the experiment constants of the kernel (oversample, "
     "phi_steps, mosaic_domains, sources, layers, panel_count, ncells). Such a kernel "
     "is refused for an experiment with other counts. off (default): none. With --emit=so and "
     "--target=native, the gain is printed",
     [](C &c, const Text &v) { c.specialize = v == "off" ? std::vector<Text>() : listOf(v); },
     "oversample phi_steps mosaic_domains sources layers panel_count ncells"},
    {"--grad", "[MODE:]PARAMETERS",
     "make the kernel of derivatives with respect to these comma-separated parameters and groups "
     "(nb-sim --list-parameters). MODE is vjp (default: the gradient of a loss, given the loss's "
     "derivative with respect to each pixel), jacobian (an image for each parameter), jvp (along a "
     "direction) or hvp (change of the gradient along a direction). Images are f64. none: no "
     "derivative, only "
     "the f64 image, from which a loss is computed",
     setDerivative},
    {"--symbol", "NAME",
     "name of the object's function; default: nb_kernel_get_descriptor. A program that links "
     "several kernels needs a name for each",
     keeps<&C::symbol>},
    {"--trace-events", "FILE", "as nb-sim's: a timeline of this process in Chrome's trace format",
     keeps<&C::trace>},
    {"-g", "",
     "with debug information: the lines of the nb program, which is written beside the file, "
     "kernel.mlir for kernel.so. The code is the same. For so, obj, ptx, cubin and hsaco",
     keeps<&C::lines>},
    {"--inspect", "FILE",
     "print the contents of a kernel file; needs neither the compiler nor the processor of the "
     "kernel",
     keeps<&C::inspect>},
    {"--completion", "", "print the completion of nb-sim and nb-compile for bash",
     keeps<&C::completion>},
};

const CompileFlag *find(std::string_view name) {
  const auto found = std::find_if(std::begin(flags), std::end(flags),
                                  [&](const CompileFlag &flag) { return flag.name == name; });
  return found == std::end(flags) ? nullptr : &*found;
}

bool isIdentifier(const std::string &text) {
  return !text.empty() && !(text[0] >= '0' && text[0] <= '9') &&
         std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                  c == '_';
         });
}

void check(const CompileCommand &c) {
  const bool gpu = std::ranges::any_of(
      c.targets(), [](const std::string &target) { return vendorOfChip(target); });
  if ((c.ofOneChip() && !gpu) || (gpu && c.emit == "asm"))
    throw UsageError("--emit=" + c.emit + " and --target=" + c.target +
                     " do not go together: ptx and cubin are for an NVIDIA chip such as "
                     "--target=sm_90, hsaco for one of AMD's such as --target=gfx942, spirv is for "
                     "--target=spirv64, asm for a CPU");
  const bool several = gpu && c.targets().size() > 1 && c.emit != "so" && c.emit != "obj";
  if (several && (!c.ofOneChip() || c.output.empty()))
    throw UsageError(
        "--emit=" + c.emit + " is for one chip: '" + c.target + "' are several, " +
        (c.ofOneChip() ? "for which -o FILE makes a file each" : "which so and obj can hold"));
  const std::string_view kinds = find("--emit")->words;
  if (c.emit.find(' ') != c.emit.npos ||
      (" " + std::string(kinds) + " ").find(" " + c.emit + " ") == std::string::npos)
    throw UsageError("--emit: '" + c.emit + "' is not one of its values; give one of " +
                     std::string(kinds));
  if (!c.symbol.empty() && c.emit != "obj" && c.emit != "header")
    throw UsageError("--symbol names the function of an object: ask for --emit=obj");
  if (!c.symbol.empty() && !isIdentifier(c.symbol))
    throw UsageError("--symbol: '" + c.symbol + "' is not a name in C");
  if (!c.specialize.empty() && (c.emit == "header" || !c.program.empty()))
    throw UsageError("--specialize compiles in counts of an experiment: give its flags, and ask "
                     "for something other than a header");
  if (!c.mode.empty() && !c.program.empty())
    throw UsageError("--grad takes the flags of an experiment; nb-opt --nb-differentiate "
                     "differentiates a program");
  if (!c.mode.empty() && c.emit == "header")
    throw UsageError(
        "--grad: there is no header of a derivative: ask for nb, mlir, llvm, asm, so or obj");
  if (c.lines && (!c.program.empty() || c.emit == "spirv" || (c.text() && c.emit != "ptx")))
    throw UsageError("-g is for so, obj, ptx, cubin and hsaco of an experiment's kernel");
  if (c.lines && (c.output.empty() || c.output.ends_with('/')))
    throw UsageError("-g writes the program beside the file: name it with -o FILE");
  if (!c.program.empty())
    parseProgramFlags(c);
  if (c.program.empty() && c.experiment.empty())
    throw UsageError("nothing to compile: give the flags of an experiment or a program FILE.mlir");
  if (c.output.ends_with('/') && (c.emit != "so" || !c.program.empty() || !c.specialize.empty()))
    throw UsageError("-o " + c.output +
                     " names a folder, where files are found by the variant of an experiment: only "
                     "--emit=so without --specialize can go there");
  if (!c.text() && c.output.empty())
    throw UsageError("--emit=" + c.emit + " writes a binary file: name it with -o FILE");
}

} // namespace

std::vector<std::string> CompileCommand::targets() const { return listOf(target); }

std::string CompileCommand::programFile() const {
  return std::filesystem::absolute(output).replace_extension(".mlir").string();
}

std::span<const CompileFlag> compileFlags() { return flags; }

CommandLine parseProgramFlags(const CompileCommand &command) {
  static constexpr std::string_view aboutPasses[] = {
      "--pipeline",     "--schedule",    "--plugin",  "--patterns", "--precision",
      "--until-before", "--until-after", "--dump-ir", "--quiet"};
  CommandLine line = parseCommandLine(command.experiment);
  for (const GivenFlag &flag : line.given)
    if (std::ranges::find(aboutPasses, flag.name) == std::end(aboutPasses))
      throw UsageError("'" + command.program + "' is a program already: leave out '" +
                       flag.spelling + "'");
  return line;
}

CompileCommand parseCommand(const std::vector<std::string> &words) {
  CompileCommand command;
  command.experiment = takeOwnFlags(compileFlags(), words, command);
  std::vector<std::string> &others = command.experiment;
  if (std::erase(others, "--print-pipeline"))
    command.emit = "pipeline";
  if (!others.empty() && others.front() == words.front() && isProgramFile(others.front())) {
    command.program = others.front();
    others.erase(others.begin());
  }
  if (!command.completion && command.inspect.empty())
    check(command);
  return command;
}

std::string compileUsage() {
  std::string text =
      "usage: nb-compile FLAGS OF nb-sim [--emit=KIND] [--target=CPU,...] -o FILE\n"
      "       nb-compile FILE.mlir [--pipeline=TEXT] [--emit=KIND] [--target=CPU,...] -o FILE\n"
      "       nb-compile --inspect FILE\n"
      "\n"
      "Compiles the kernel of an experiment, or a program, ahead of time. FLAGS describe an\n"
      "experiment (nb-sim --help lists them). The kernel depends only on choices, such as the "
      "shape\n"
      "of the crystal or whether there is a mask; numbers are given when it is run. Files that "
      "the\n"
      "flags name are read, since some choices depend on them. A program FILE.mlir may be at any\n"
      "stage of the passes; the compiler continues from there. Of nb-sim's flags it accepts\n"
      "--pipeline, --plugin, --patterns, --precision, --until-before, --until-after, "
      "--dump-ir.\n\n";
  constexpr std::size_t column = 20;
  text += describeOwnFlags(compileFlags(), column) + describeCommonFlags(column, true);
  return text + "\nExit status: 0 success, 1 failure, 2 a command line that cannot be used.\n";
}

namespace {

/// "c|right" or "so obj" as words; nothing when the value is free.
std::string choicesOf(std::string_view values) {
  std::string words(values);
  if (words.find('|') == words.npos)
    return "";
  std::replace(words.begin(), words.end(), '|', ' ');
  return words;
}

/// One branch of `case $previous in`.
std::string branch(std::string_view flag, std::string_view words) {
  return "    " + std::string(flag) + ") COMPREPLY=($(compgen -W '" + std::string(words) +
         "' -- \"$current\")); return ;;\n";
}

} // namespace

std::string bashCompletion() {
  std::string simFlags, branches, compileWords, compileBranches;
  for (const FlagGroup &group : flagGroups())
    for (const Flag &flag : group.flags)
      for (std::string_view spelling : flag.spellings) {
        if (spelling.ends_with('*'))
          continue;
        simFlags += (simFlags.empty() ? "" : " ") + std::string(spelling);
        if (const std::string choices =
                flag.values == "STAGE" ? stageNamesText(" ") : choicesOf(flag.values);
            !choices.empty())
          branches += branch(spelling, choices);
      }
  for (const CompileFlag &flag : compileFlags()) {
    compileWords += " " + std::string(flag.name);
    if (!flag.words.empty())
      compileBranches += branch(flag.name, flag.words);
  }
  // bash breaks words at '=', which leaves the flag two words back.
  const std::string start =
      "  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]}\n"
      "  if [[ $current == = ]]; then current=\n"
      "  elif [[ $previous == = ]]; then previous=${COMP_WORDS[COMP_CWORD-2]}; fi\n";
  const std::string finish = "  esac\n  [[ $current == -* ]] && COMPREPLY=($(compgen -W ";
  return "# Completion for bash, generated from the tables of flags.\n"
         "_nb_sim() {\n" +
         start + "  case $previous in\n" + branches + finish + "\"$_nb_sim_flags\"" +
         " -- \"$current\"))\n}\n"
         "_nb_compile() {\n" +
         start + "  case $previous in\n" + compileBranches + branches + finish +
         "\"$_nb_sim_flags" + compileWords + "\" -- \"$current\"))\n}\n" + "_nb_sim_flags='" +
         simFlags +
         "'\n"
         "complete -o default -F _nb_sim nb-sim\n"
         "complete -o default -F _nb_compile nb-compile\n";
}

} // namespace nanobragg
