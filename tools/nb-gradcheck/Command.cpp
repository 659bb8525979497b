#include "tools/nb-gradcheck/Command.h"

#include "lib/CommandLine/OwnFlags.h"
#include "lib/Quantities/ClosestWord.h"
#include "nanobragg/DeviceChoice.h"

namespace nanobragg {
namespace {

using C = GradCheckCommand;
using Text = std::string;

const Text deviceHelp =
    "device of the fused engine's kernels, as of nb-sim's --device: " + DeviceChoice::words() +
    "; default: cpu";

std::size_t choice(const Text &flag, const Text &text, std::initializer_list<std::string_view> of) {
  return choiceOf(flag, text, {of.begin(), of.size()});
}

const OwnFlag<C> flags[] = {
    {"--wrt", "PARAMETERS",
     "comma-separated parameters and groups (nb-sim --list-parameters); default: scalars",
     keeps<&C::parameters>},
    {"--mode", "forward|reverse",
     "forward: derivative images; reverse: the gradient of the loss (default)",
     [](C &c, const Text &v) {
       c.check.mode = choice("--mode", v, {"forward", "reverse"}) == 0 ? CheckMode::Forward
                                                                       : CheckMode::Reverse;
     }},
    {"--order", "1|2",
     "1: first derivatives (default); 2: the Hessian of the loss, column by column",
     [](C &c, const Text &v) { c.check.order = 1 + int(choice("--order", v, {"1", "2"})); }},
    {"--engine", "fused|interpreter|both",
     "what computes the derivatives: fused, a compiled kernel; interpreter, the reference "
     "interpreter; both, one after the other (default)",
     [](C &c, const Text &v) {
       const auto which = choice("--engine", v, {"fused", "interpreter", "both"});
       if (which < 2)
         c.engines = {which == 0 ? Engine::Fused : Engine::Interpreter};
     }},
    {"--device", "DEVICE", deviceHelp,
     [](C &c, const Text &v) {
       const auto device = DeviceChoice::fromString(v);
       if (!device)
         throw UsageError("--device: " + DeviceChoice::refusal(v));
       c.device = *device;
     }},
    {"--reference", "interpreter|fused",
     "what the differences are taken of: images of the interpreter (default), or of a fused kernel",
     [](C &c, const Text &v) {
       c.reference = choice("--reference", v, {"interpreter", "fused"}) == 0 ? Engine::Interpreter
                                                                             : Engine::Fused;
     }},
    {"--loss", "sum|random:SEED",
     "sum: the sum of the pixels (default); random: with random weights between -1 and 1",
     [](C &c, const Text &v) {
       constexpr std::string_view prefix = "random:";
       if (v.starts_with(prefix))
         c.check.randomLoss =
             std::uint64_t(countOf("--loss", v.substr(prefix.size()), 0, 9007199254740992.0));
       else
         choice("--loss", v, {"sum"});
     }},
    {"--rtol", "X", "allowed relative difference; default: 1e-6 in f64, 1e-5 mixed, 1e-2 f32",
     [](C &c, const Text &v) { c.rtol = numberOf("--rtol", v, Range::positive()); }},
    {"--atol", "X",
     "allowed difference in addition, as a fraction of the largest derivative; derivatives are "
     "multiplied by the size of their parameters for this; default: 1e-10 in f64, 1e-5 mixed, 1e-2 "
     "f32",
     [](C &c, const Text &v) { c.atol = numberOf("--atol", v, Range::notNegative()); }},
    {"--step", "X",
     "largest step of the differences, as a fraction of the parameter's size (for an angle, of a "
     "radian); default: chosen by how fast the image changes",
     [](C &c, const Text &v) { c.check.step = numberOf("--step", v, Range::positive()); }},
    {"--elements", "N",
     "how many numbers of a vector, table or grid are checked. If it has more, some of them and a "
     "random direction through all are; default: 6",
     [](C &c, const Text &v) { c.check.elements = std::size_t(countOf("--elements", v, 1, 1e6)); }},
    {"--seed", "N", "seed of these choices; default: 1",
     [](C &c, const Text &v) {
       c.check.seed = std::uint64_t(countOf("--seed", v, 0, 9007199254740992.0));
     }},
    {"--together", "", "check one random direction through all parameters, and nothing else",
     keeps<&C::check, &CheckOptions::together>},
    {"--json", "", "print the result as JSON", keeps<&C::json>},
    {"--threads", "N", "threads of both engines; default: one per core",
     [](C &c, const Text &v) { c.threads = int(countOf("--threads", v, 0, 4096)); }},
};

} // namespace

GradCheckCommand parseGradCheck(const std::vector<std::string> &words) {
  GradCheckCommand command;
  command.experiment = takeOwnFlags<C>(flags, words, command);
  if (command.experiment.empty())
    throw UsageError("nothing to check: give the flags of an experiment, as to nb-sim");
  return command;
}

std::string gradCheckUsage() {
  std::string text =
      "usage: nb-gradcheck FLAGS OF nb-sim [--wrt=PARAMETERS] [--mode=forward|reverse]\n"
      "                    [--order=1|2] [--engine=fused|interpreter|both] ...\n\n"
      "Compares the derivatives of an experiment's image with finite differences: central\n"
      "differences of the interpreter's image, extrapolated to a step of zero.\n\n";
  constexpr std::size_t column = 16;
  text += describeOwnFlags<C>(flags, column) + describeCommonFlags(column, true);
  return text + "\nExit status: 0 all derivatives agree, 1 one does not or the check failed, 2 a "
                "command line that\ncannot be used.\n";
}

} // namespace nanobragg
