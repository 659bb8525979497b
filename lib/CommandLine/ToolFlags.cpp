#include "lib/CommandLine/Flag.h"

#include "lib/CommandLine/Numbers.h"
#include "lib/Files/TextScanner.h"
#include "lib/Parallel/MostThreads.h"
#include "lib/Program/StageNames.h"
#include "nanobragg/DeviceChoice.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace nanobragg {
namespace {

/// The values of --device; numbers of GPUs stand in its help.
std::string deviceValues() {
  std::string values = DeviceChoice::words();
  for (std::size_t at = 0; (at = values.find(", ", at)) != values.npos;) {
    const std::size_t end = std::min(values.find(", ", at + 2), values.size());
    if (values.substr(at, end - at).ends_with(":N")) // the help says it
      values.erase(at, end - at);
    else
      values.replace(at, 2, "|");
  }
  return values;
}

/// SLOW,FAST or PANEL,SLOW,FAST.
PixelIndex pixelOf(const Values &v) {
  std::array<std::int64_t, 3> pixel = {};
  std::size_t begin = 0, count = 0;
  const std::string &text = v.text();
  for (; begin <= text.size() && count != 3; ++count) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const auto number = parseNumber(std::string_view(text).substr(begin, end - begin));
    if (!number || *number < 0 || *number > 1e6 || *number != std::floor(*number))
      v.refuse("expected SLOW,FAST or PANEL,SLOW,FAST, counted from 0, such as 120,34");
    pixel[count] = std::int64_t(*number);
    begin = end + 1;
  }
  if (count < 2 || begin <= text.size())
    v.refuse("expected SLOW,FAST or PANEL,SLOW,FAST, counted from 0, such as 120,34");
  if (count == 2)
    return {0, pixel[0], pixel[1]};
  return {pixel[0], pixel[1], pixel[2]};
}

bool interprets(const CommandLine &line) {
  return line.tool.simulator.engine == Engine::Interpreter || line.tool.instruments.any();
}
bool culls(const CommandLine &line) { return line.tool.simulator.cull != CullSetting::off(); }

constexpr Idle interpretsInF64{[](const CommandLine &line) {
                                 return interprets(line) &&
                                        line.tool.simulator.precision != Precision::F64;
                               },
                               "the interpreter computes in f64"};
constexpr Idle interpretsAll{
    [](const CommandLine &line) { return interprets(line) && culls(line); },
    "the interpreter computes all samples"};
constexpr Idle interpretsNoCounts{[](const CommandLine &line) { return interprets(line); },
                                  "the interpreter runs one program for all numbers"};
/// Averages in closed form are computed in mixed instead.
constexpr Idle computesAll{[](const CommandLine &line) {
                             return culls(line) &&
                                    line.tool.simulator.precision == Precision::F32 &&
                                    line.options.averaging != Averaging::Closed &&
                                    !line.files.spectrum;
                           },
                           "f32 computes all samples"};

constexpr std::string_view lossForm =
    "expected sum, chi2:IMAGE[,sigma=S][,mask=FILE], poisson:IMAGE[,background=B][,mask=FILE] or "
    "gauss:IMAGE[,readout=R][,background=B][,mask=FILE]";

/// One of the words behind the image of a loss.
void setPart(LossOptions &loss, const std::string &part, const Values &v) {
  using Kind = LossOptions::Kind;
  const std::size_t equals = std::min(part.find('='), part.size());
  const std::string name = part.substr(0, equals);
  const std::string value = equals < part.size() ? part.substr(equals + 1) : "";
  if (name == "sigma" && loss.kind == Kind::ChiSquare) {
    loss.sigma = value;
  } else if (name == "mask") {
    loss.mask = value;
  } else if (name == "background" && loss.kind != Kind::ChiSquare) {
    loss.background = value;
  } else if (name == "readout" && loss.kind == Kind::Gauss) {
    const auto number = parseNumber(value);
    if (!number || !(*number >= 0))
      v.refuse("readout=" + value + " is not a number of 0 or more");
    loss.readOut = number;
  } else {
    v.refuse("'" + part + "' is not understood; " + std::string(lossForm));
  }
  if (value.empty())
    v.refuse("something is missing in '" + v.text() + "'; " + std::string(lossForm));
}

LossOptions lossOf(const Values &v) {
  using Kind = LossOptions::Kind;
  static constexpr std::pair<std::string_view, Kind> kinds[] = {
      {"chi2:", Kind::ChiSquare}, {"poisson:", Kind::Poisson}, {"gauss:", Kind::Gauss}};
  LossOptions loss;
  const std::string &text = v.text();
  if (text == "sum")
    return loss;
  const auto kind =
      std::ranges::find_if(kinds, [&](const auto &k) { return text.starts_with(k.first); });
  if (kind == std::end(kinds))
    v.refuse("'" + text + "' is not a loss; " + std::string(lossForm));
  loss.kind = kind->second;
  std::size_t begin = kind->first.size();
  for (bool first = true; begin <= text.size(); first = false) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string part = text.substr(begin, end - begin);
    begin = end + 1;
    if (first)
      loss.data = part;
    else
      setPart(loss, part, v);
  }
  if (loss.data->empty())
    v.refuse("something is missing in '" + text + "'; " + std::string(lossForm));
  return loss;
}

} // namespace

FlagGroup toolFlags() {
  static const std::string deviceWords = deviceValues();
  static const std::string untilHelp =
      "with --emit=mlir: the program before this stage of the pipeline, one of " +
      stageNamesText(", ");
  return groupOf(
      "Computation, compiler and derivatives",
      {
          {.spellings = {"--help", "-help", "-h"},
           .values = "[WORD]",
           .fallback = "all flags",
           .help = "this text, or the flags whose names or descriptions contain the word",
           .apply =
               [](CommandLine &line, const Values &v) {
                 line.tool.help = true;
                 if (v.size() > 0)
                   line.tool.helpWord = v.text();
               }},
          {.spellings = {"--version", "-version"},
           .help = "the version of the program",
           .apply = stores<&CommandLine::tool, &ToolOptions::version>},
          {.spellings = {"--list-flags"},
           .help = "this text as a Markdown page",
           .apply = stores<&CommandLine::tool, &ToolOptions::listFlags>},
          {.spellings = {"--doctor"},
           .help = "print what is installed and which devices there are, and test them for about a "
                   "second; the exit status is 1 if something does not work. Takes no other "
                   "flags",
           .apply = stores<&CommandLine::tool, &ToolOptions::doctor>},
          {.spellings = {"--check"},
           .help = "print images, samples, files, warnings and the expected time of this command "
                   "line, without making the images",
           .apply = stores<&CommandLine::tool, &ToolOptions::check>},
          {.spellings = {"--list-parameters"},
           .help = "print the parameters of the kernel for this command line, with their units",
           .apply = stores<&CommandLine::tool, &ToolOptions::listParameters>},
          {.spellings = {"--compat", "-compat"},
           .values = "c|right|noisify",
           .fallback = "right",
           .help = "c: reproduce the C program, including its errors; right: correct physics; "
                   "noisify: -floatfile contains photons, and the noise image is identical to what "
                   "the program noisify makes of it",
           // Decided before the other flags, see parseCommandLine.
           .apply = [](CommandLine &, const Values &) {}},
          {.spellings = {"--threads"},
           .values = "N",
           .unit = "threads",
           .fallback = "OMP_NUM_THREADS, else one per core",
           .help = "threads to render with; 0: the default",
           .range = Range::between(0, mostThreads),
           .apply = [](CommandLine &line,
                       const Values &v) { line.tool.simulator.threads = int(v.integer()); }},
          {.spellings = {"--precision"},
           .values = "f64|mixed|f32",
           .fallback = "f64",
           .help =
               "precision of the kernel's arithmetic: f64, all of it; mixed, f64 for geometry and "
               "phases and f32 for amplitudes; f32, everything inside the image. The interpreter "
               "computes in f64. So do mixed kernels of tophats, and of crystals of more than 128 "
               "cells along an axis (Gaussian crystals: 500)",
           .apply =
               [](CommandLine &line, const Values &v) {
                 line.tool.simulator.precision = Precision(v.choice(precisionNames));
               },
           .idle = {&interpretsInF64}},
          {.spellings = {"--cull"},
           .values = "exact|off|TOLERANCE",
           .fallback = "exact where it is faster",
           .help = "samples to skip: exact, those that are zero in floating point, with a bitwise "
                   "identical image; TOLERANCE, those below TOLERANCE times the peak of their "
                   "reflection; off, none. By default nothing is skipped for small or square "
                   "crystals and on GPUs",
           .apply =
               [](CommandLine &line, const Values &v) {
                 const auto setting = CullSetting::fromString(v.text());
                 if (!setting)
                   v.refuse("must be exact, off or a number between 0 and 1, such as 1e-12");
                 line.tool.simulator.cull = setting;
               },
           .idle = {&interpretsAll, &computesAll}},
          {.spellings = {"--specialize"},
           .values = "auto|off",
           .fallback = "auto",
           .help = "auto: for images of ten million samples or more, compile a kernel for this "
                   "number of cells of a square crystal, without sums of one term; it takes a "
                   "third less time in f64. off: one kernel for all numbers. Images differ by "
                   "less than 1e-12 of the brightest pixel",
           .apply =
               [](CommandLine &line, const Values &v) {
                 static constexpr std::string_view words[] = {"auto", "off"};
                 line.tool.simulator.specialize = v.choice(words) == 0;
               },
           .idle = {&interpretsNoCounts}},
          {.spellings = {"--device"},
           .values = deviceWords,
           .fallback = "auto",
           .help =
               "device to render on: an NVIDIA GPU (cuda; cuda:1 for the second), an AMD GPU "
               "(hip), an OpenCL device (opencl; GPUs are numbered before others), all GPUs like "
               "the first, which share an image (all; cuda:all, hip:all, opencl:all), the "
               "processor (cpu), or the processor with the program of a GPU (gpu-on-cpu, to check "
               "it; gpu-on-cpu:64 with warps of 64 threads instead of 32); auto selects an NVIDIA "
               "or AMD GPU if there is one and the processor would take more than 0.2 s",
           .apply =
               [](CommandLine &line, const Values &v) {
                 const auto choice = DeviceChoice::fromString(v.text());
                 if (!choice)
                   v.refuse(DeviceChoice::refusal(v.text()));
                 line.tool.simulator.device = *choice;
               }},
          {.spellings = {"--png"},
           .values = "FILE",
           .help = "picture of the image with a logarithmic scale; several panels are shown as in "
                   "space",
           .apply = stores<&CommandLine::outputs, &OutputOptions::pngFile>,
           .idle = {&idle::noImage}},
          {.spellings = {"--png-rings"},
           .help = "draw resolution rings and a scale bar on --png",
           .apply = stores<&CommandLine::outputs, &OutputOptions::pngRings>,
           .with = "--png"},
          {.spellings = {"--panels"},
           .values = "FILE",
           .fallback = "one panel",
           .help = "JSON list of panels: {\"offset_mm\": [X,Y,Z], \"fast\": [X,Y,Z], \"slow\": "
                   "[X,Y,Z]}, and \"pixels\": [FAST,SLOW] if their sizes differ",
           .apply = stores<&CommandLine::files, &InputFiles::panels>},
          {.spellings = {"--pixels"},
           .values = "FILE",
           .fallback = "all",
           .help = "compute only these pixels: lines of panel fast slow, or panel fast0 fast1 "
                   "slow0 slow1 for a box with fast0 <= fast < fast1, counted from 0. -floatfile "
                   "contains one number per pixel: .npy, .txt with the pixel before it, or 32-bit "
                   "floats; no image is written",
           .apply = stores<&CommandLine::files, &InputFiles::pixels>},
          {.spellings = {"--quiet"},
           .help = "print nothing but errors",
           .apply = stores<&CommandLine::tool, &ToolOptions::quiet>},
          {.spellings = {"--timing"},
           .values = "FILE",
           .help = "JSON of compile and run seconds, samples, ns per sample",
           .apply = stores<&CommandLine::tool, &ToolOptions::timingFile>},
          {.spellings = {"--trace-events"},
           .values = "FILE",
           .help = "write a timeline of this process: passes of the compiler, kernel cache, tiles "
                   "of each thread, files, commands of a GPU (each is then waited for), as JSON "
                   "for ui.perfetto.dev or chrome://tracing",
           .apply = stores<&CommandLine::tool, &ToolOptions::traceFile>},
          {.spellings = {"--profile"},
           .help = "print the lines of the program (--emit=nb) in which the kernel spends its time",
           .apply = stores<&CommandLine::tool, &ToolOptions::profile>},
          {.spellings = {"--emit"},
           .values = "nb|mlir|llvm|asm|stats",
           .help = "print the program instead of running it, with --grad or --jacobian that of the "
                   "derivative: nb, before all passes; mlir, after fusion or at --until-before or "
                   "--until-after; llvm, as LLVM IR; asm, as machine instructions; stats, the "
                   "instructions of its loops by kind, and the least cycles of a sample",
           .apply =
               [](CommandLine &line, const Values &v) {
                 static constexpr std::string_view forms[] = {"nb", "mlir", "llvm", "asm", "stats"};
                 static constexpr Emit emits[] = {Emit::Nb, Emit::Mlir, Emit::Llvm, Emit::Asm,
                                                  Emit::Stats};
                 line.tool.emit = emits[v.choice(forms)];
               }},
          {.spellings = {"--until-before"},
           .values = "STAGE",
           .fallback = "the first stage after fusion",
           .help = untilHelp,
           .apply = [](CommandLine &line,
                       const Values &v) { line.tool.until = {Until::Side::Before, v.text()}; }},
          {.spellings = {"--until-after"},
           .values = "STAGE",
           .fallback = "fuse",
           .help = "with --emit=mlir: the program after this stage of the pipeline",
           .apply = [](CommandLine &line,
                       const Values &v) { line.tool.until = {Until::Side::After, v.text()}; }},
          {.spellings = {"--pipeline"},
           .values = "TEXT",
           .fallback = "the passes up to fusion",
           .help = "run these passes instead of those up to fusion, in the syntax of nb-opt: "
                   "'builtin.module(func.func(nb-fuse))'. They may go further. The passes that a "
                   "kernel still needs are added, and a line lists all passes that ran. "
                   "nb-differentiate marks where derivatives are taken",
           .apply = stores<&CommandLine::tool, &ToolOptions::simulator, &SimulatorOptions::passes,
                           &OwnPasses::pipeline>},
          {.spellings = {"--schedule"},
           .values = "FILE",
           .fallback = "that of nb-try --tune, if there is one",
           .help = "use the pipeline of this file, which nb-try --tune -o wrote for this program "
                   "and processor; none: use the compiler's own passes",
           .apply =
               [](CommandLine &line, const Values &v) {
                 line.tool.simulator.keptSchedule = false;
                 if (v.text() != "none")
                   line.tool.simulator.passes.schedule = v.text();
               }},
          {.spellings = {"--print-pipeline"},
           .help = "print the passes of this command's kernel with all options instead of running "
                   "it; with --grad or --jacobian those of the derivative. Given as --pipeline to "
                   "nb-sim, nb-compile, nb-try or nb-opt, the text makes the same kernel",
           .apply = [](CommandLine &line, const Values &) { line.tool.emit = Emit::Pipeline; }},
          {.spellings = {"--plugin"},
           .values = "FILES",
           .help =
               "load passes and dialects for --pipeline from these shared objects, comma-separated",
           .apply = stores<&CommandLine::tool, &ToolOptions::simulator, &SimulatorOptions::passes,
                           &OwnPasses::plugins>},
          {.spellings = {"--patterns"},
           .values = "FILES",
           .help = "comma-separated files of rewrites that are applied before all passes: PDLL "
                   "(.pdll), PDL or a schedule of the transform dialect (.mlir); "
                   "nb-apply-patterns{files=FILE} in --pipeline applies them elsewhere",
           .apply = stores<&CommandLine::tool, &ToolOptions::simulator, &SimulatorOptions::passes,
                           &OwnPasses::patterns>},
          {.spellings = {"--dump-ir"},
           .values = "DIR",
           .help = "write the IR after every pass, with the command to run it again",
           .apply = stores<&CommandLine::tool, &ToolOptions::simulator, &SimulatorOptions::dumpIR>},
          {.spellings = {"--mlir-*"},
           .values = "[VALUE]",
           .help = mlirFlagsHelp,
           // Tools take these words from their command lines first (runTool).
           .apply =
               [](CommandLine &, const Values &v) {
                 v.refuse("flags of MLIR work on the command lines of nb-sim, nb-compile, nb-try, "
                          "nb-explore, nb-reduce, nb-run and nb-opt only");
               }},
          {.spellings = {"--no-fuse"},
           .help = "run the reference interpreter, not the fused kernel",
           .apply = [](CommandLine &line,
                       const Values &) { line.tool.simulator.engine = Engine::Interpreter; }},
          {.spellings = {"--probe"},
           .values = "PATTERN",
           .help = "interpret, and print statistics of the values of these names (F_*,hkl) or ops "
                   "(nb.lattice_factor)",
           .apply = stores<&CommandLine::tool, &ToolOptions::instruments, &Instruments::probe>},
          {.spellings = {"--json"},
           .help = "print the output of --probe or --grad as JSON",
           .apply = stores<&CommandLine::tool, &ToolOptions::instruments, &Instruments::json>,
           .with = "--probe --grad"},
          {.spellings = {"--trace-pixel"},
           .values = "SLOW,FAST",
           .unit = "pixels",
           .help = "print every named value of one pixel as lines TRACE KEY VALUE; PANEL,SLOW,FAST "
                   "with several panels",
           .apply = [](CommandLine &line, const Values &v) { line.tool.tracePixel = pixelOf(v); }},
          {.spellings = {"--check-finite"},
           .help = "interpret, and stop at the first NaN or infinity with its op and pixel",
           .apply =
               stores<&CommandLine::tool, &ToolOptions::instruments, &Instruments::checkFinite>},
          {.spellings = {"--compare-engines"},
           .help = "render with the kernel and with the interpreter, print the difference of the "
                   "images, and name the pass and the value that cause it; the exit status is 3 "
                   "beyond the tolerance. No file is written",
           .apply = stores<&CommandLine::tool, &ToolOptions::compareEngines>},
          {.spellings = {"--compare-stages"},
           .help = "as --compare-engines, and interpret the program after each pass even when the "
                   "engines agree",
           .apply =
               [](CommandLine &line, const Values &) {
                 line.tool.compareEngines = line.tool.comparison.everyStage = true;
               }},
          {.spellings = {"--compare-tolerance"},
           .values = "RELATIVE OF_MAXIMUM",
           .fallback = "1e-9 1e-12 in f64, 1e-5 1e-7 in mixed, 1e-3 1e-4 in f32",
           .help = "tolerance of comparisons: the first number times the pixel plus the second "
                   "times the brightest pixel",
           .range = Range::notNegative(),
           .apply =
               [](CommandLine &line, const Values &v) {
                 line.tool.comparison.relative = v.number(0);
                 line.tool.comparison.ofMaximum = v.number(1);
               },
           .with = "--compare-engines --compare-stages"},
          {.spellings = {"--grad"},
           .values = "PARAMETERS",
           .help = "print the loss and its gradient with respect to comma-separated parameters and "
                   "groups (--list-parameters), in SI units. No file is written",
           .apply = stores<&CommandLine::tool, &ToolOptions::gradient>},
          {.spellings = {"--loss"},
           .values = "LOSS",
           .fallback = "sum",
           .help =
               "loss of --grad: sum, all photons; chi2:IMAGE[,sigma=S][,mask=FILE], the sum of "
               "((photons - IMAGE) / S)^2; poisson:IMAGE[,background=B][,mask=FILE] and "
               "gauss:IMAGE[,readout=R][,background=B][,mask=FILE], the negative log-likelihood "
               "of IMAGE. S is a number (default 1), an image, or poisson: the square root of "
               "IMAGE, at least 1. B, a number or an image, is added to the simulated image. The "
               "variance of gauss is that of the photons plus R^2",
           .apply = [](CommandLine &line, const Values &v) { line.tool.loss = lossOf(v); },
           .with = "--grad"},
          {.spellings = {"--jacobian"},
           .values = "PARAMETERS",
           .help = "write the derivative of each pixel with respect to these scalar parameters as "
                   "NumPy arrays into the folder of --out",
           .apply = stores<&CommandLine::tool, &ToolOptions::jacobian>},
          {.spellings = {"--out"},
           .values = "DIR",
           .help = "folder for the files of --jacobian; created if it does not exist",
           .apply = stores<&CommandLine::tool, &ToolOptions::outDirectory>,
           .with = "--jacobian"},
          {.spellings = {"--kernel"},
           .values = "FILE",
           .fallback = "compiled or from the cache",
           .help = "run this kernel, a shared object that nb-compile made; one that does not fit "
                   "is refused",
           .apply =
               stores<&CommandLine::tool, &ToolOptions::simulator, &SimulatorOptions::kernelFile>},
          {.spellings = {"--fallback"},
           .help = "if no kernel can be compiled, use the interpreter, with a warning",
           .apply =
               stores<&CommandLine::tool, &ToolOptions::simulator, &SimulatorOptions::fallback>,
           .without = "--kernel --no-fuse"},
          {.spellings = {"--no-fallback"},
           .fallback = "on",
           .help = "fail if no kernel can be compiled; the last of the two flags applies",
           .apply = [](CommandLine &line, const Values &) { line.tool.simulator.fallback = false; },
           .without = "--kernel --no-fuse"},
      },
      {});
}

} // namespace nanobragg
