#include "tools/nb-try/Command.h"

#include "lib/CommandLine/OwnFlags.h"

namespace nanobragg {
namespace {

using C = TryCommand;
using Text = std::string;

constexpr OwnFlag<C> flags[] = {
    {"--pipeline", "TEXT",
     "try these passes, 'builtin.module(func.func(nb-fuse))'; may be given several times. They "
     "replace the compiler's passes up to fusion and may go further; the compiler adds the passes "
     "that a kernel still needs",
     keeps<&C::pipelines>},
    {"--leave-out", "PASS",
     "try the first --pipeline, or else the compiler's own, without this pass; each: without one "
     "pass after another, which shows the gain of each",
     keeps<&C::leaveOut>},
    {"--until-after", "STAGE",
     "try the compiler's own pipeline up to this stage: response, hoist, branches, fuse or another "
     "one of nb-sim --until-after",
     keeps<&C::untilAfter>},
    {"--bisect", "",
     "name the first pass after which the image is wrong, for the compiler's own pipeline too; "
     "without the flag this is done for each --pipeline whose image is wrong",
     keeps<&C::bisect>},
    {"--grad", "PARAMETERS",
     "comma-separated parameters whose gradient is checked; none: no gradient. Default: up "
     "to three usual ones",
     keeps<&C::words, &LabWords::gradient>},
    {"--target", "CPU", "as nb-compile's: native (default), gpu-on-cpu or an LLVM processor name",
     keeps<&C::words, &LabWords::target>},
    {"--rtol", "X", "allowed relative difference; default: 1e-9 in f64, 1e-5 mixed, 1e-3 f32",
     [](C &c, const Text &v) { c.words.rtol = numberOf("--rtol", v, {0, Range::noBound}); }},
    {"--atol-of-max", "X",
     "allowed difference in addition, as a fraction of the brightest pixel; default: 1e-12 in f64, "
     "1e-7 mixed, 1e-4 f32",
     [](C &c, const Text &v) {
       c.words.atolOfMax = numberOf("--atol-of-max", v, {0, Range::noBound});
     }},
    {"--check-samples", "N",
     "number of samples that the interpreter computes for the comparison, in rows in the middle of "
     "the image; default: 2e6",
     [](C &c, const Text &v) {
       c.words.checkSamples = numberOf("--check-samples", v, {1, Range::noBound});
     }},
    {"--repeat", "N",
     "runs of each kernel, in turn, of which the shortest is reported; default: 9. From 6 on the "
     "change against "
     "the default has a 95 % confidence interval; 0: no kernel is timed",
     [](C &c, const Text &v) {
       c.repeat = unsigned(numberOf("--repeat", v, {0, Range::noBound}));
     }},
    {"--count", "",
     "also count the instructions of a sample, in single steps of 25 microseconds each",
     keeps<&C::count>},
    {"--timeout", "SECONDS", "time limit of a pipeline; default: 120",
     [](C &c, const Text &v) {
       c.words.mostSeconds = numberOf("--timeout", v, {0.1, Range::noBound});
     }},
    {"--is", "QUESTION",
     "answer a question about the first pipeline by the exit status, 0 for yes: crash (it ends "
     "abnormally), fails (it makes no kernel, or none of the gradient), differs (image or "
     "gradient is wrong), slower:X (it takes more than X times the instructions of the compiler's "
     "own). Made for nb-reduce",
     keeps<&C::require>, "crash fails differs"},
    {"--tune", "",
     "search for the options and the order of passes, and for the knobs and alternatives of "
     "schedules (--patterns), that make the fastest right kernel of this program on this "
     "processor, beginning with --pipeline or the compiler's own. The result is kept in the cache "
     "of kernels (nb-cache list, export, import), where nb-sim and nb-compile find it for such "
     "images",
     keeps<&C::tune>},
    {"--least-gain", "FRACTION",
     "--tune keeps a change if its median is faster by this fraction, and if its whole interval is "
     "faster at all; default: 0.02",
     [](C &c, const Text &v) { c.leastGain = numberOf("--least-gain", v, {0, Range::noBound}); }},
    {"-o", "FILE",
     "also write the result of --tune to this file, for nb-sim --schedule. Without -o, no file is "
     "written, or schedule.txt if the cache cannot keep the result (a program FILE.mlir, plugins, "
     "another target, no cache)",
     keeps<&C::output>},
    {"--json", "", "print the result as JSON, one object for each line", keeps<&C::json>},
};

} // namespace

TryCommand parseTry(const std::vector<std::string> &words) {
  TryCommand command;
  command.words.experiment = takeOwnFlags<C>(flags, words, command);
  command.words.takeProgram();
  if (command.words.program.empty() && command.words.experiment.empty())
    throw UsageError(
        "nothing to try: give the flags of an experiment, as to nb-sim, or a program FILE.mlir");
  if (!command.output.empty() && !command.tune)
    throw UsageError("-o names what --tune writes: add it");
  if (command.tune && command.pipelines.size() > 1)
    throw UsageError("--tune begins with one --pipeline, and there are " +
                     std::to_string(command.pipelines.size()));
  const std::string &is = command.require;
  if (!is.empty() && is != "crash" && is != "fails" && is != "differs" &&
      !is.starts_with("slower:"))
    throw UsageError("--is: '" + is +
                     "' is not one of its values; give crash, fails, differs or slower:X");
  command.count = command.count || is.starts_with("slower:");
  return command;
}

std::string tryUsage() {
  return "usage: nb-try FLAGS OF nb-sim [--pipeline=TEXT]... [--leave-out=PASS]...\n"
         "       nb-try FILE.mlir [FLAGS OF nb-sim] [--pipeline=TEXT]...\n"
         "\n"
         "Compiles a kernel by each pipeline and by the compiler's own, and prints a table: "
         "whether\n"
         "it compiles, whether image and gradient agree with the interpreter, nanoseconds per "
         "sample\n"
         "(with --count, instructions too), size of the inner loop, spilled registers, time to\n"
         "compile, and bytes of code. Kernels are timed in turn, by one thread. FLAGS describe an\n"
         "experiment, as for nb-sim. Arguments of a program FILE.mlir take the numbers of that\n"
         "experiment by their names; without FLAGS, those of a small experiment.\n\n" +
         describeOwnFlags<C>(flags, 22) + describeCommonFlags(22, true) +
         "\nExit status: 0 all images and gradients are right, 3 one is wrong, 1 one does not "
         "compile, 2 a\ncommand line that cannot be used.\n";
}

} // namespace nanobragg
