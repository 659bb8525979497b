#include "lib/Compiler/Compare/FirstDifference.h"

#include "dialect/NB.h"
#include "lib/Compiler/Pipelines/MLIRFlags.h"
#include "lib/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/FormatVariadic.h"

#include <cmath>

using namespace mlir;
using namespace mlir::nb;
using llvm::Expected;

namespace {
/// A copy of a program with probes on all values, and what they saw at one pixel.
struct Probed {
  OwningOpRef<ModuleOp> program;
  func::FuncOp function;
  std::vector<std::pair<ProbeOp, ProbeStatistics>> probes; ///< in program order
};

/// Which values of a program differ, and to which of them it matters.
class Influence {
public:
  enum class Status { Unknown, Same, Different };

  void set(Value value, Status status) { statuses[value] = status; }
  Status of(Value value) const { return statuses.lookup(value); }

  /// Does a difference of `value` reach the pixel, past values that differ themselves or have no
  /// namesake?
  bool reachesPixel(Value value) {
    auto [entry, isNew] = reaching.try_emplace(value, false);
    if (!isNew)
      return entry->second;
    bool reaches = llvm::any_of(value.getUsers(), [&](Operation *user) { return passes(user); });
    return reaching[value] = reaches;
  }

private:
  bool passes(Operation *user) {
    if (isa<ProbeOp>(user))
      return false;
    if (isa<func::ReturnOp>(user))
      return true;
    if (user->hasTrait<OpTrait::IsTerminator>())
      user = user->getParentOp();
    if (isa<ImageOp>(user))
      return true;
    return llvm::any_of(user->getResults(), [&](Value result) {
      return of(result) != Status::Same && reachesPixel(result);
    });
  }

  DenseMap<Value, Status> statuses;
  DenseMap<Value, bool> reaching;
};
} // namespace

static void restrictTo(Pixel pixel, func::FuncOp function) {
  OpBuilder b = OpBuilder::atBlockBegin(&function.getBody().front());
  SmallVector<Value> bounds;
  for (int64_t bound : {pixel.fast, pixel.fast, pixel.slow, pixel.slow})
    bounds.push_back(arith::ConstantIndexOp::create(b, function.getLoc(), bound));
  function.walk([&](ImageOp image) { image.getRoiMutable().assign(bounds); });
}

static Expected<Probed> probe(ModuleOp program, StringRef name, const RunArguments &arguments,
                              Pixel pixel) {
  Probed probed;
  probed.program = program.clone();
  probed.function = probed.program->lookupSymbol<func::FuncOp>(name);
  restrictTo(pixel, probed.function);
  FlaggedPassManager passes(program.getContext());
  InsertProbesOptions everything;
  everything.all = everything.outside = true;
  passes.addPass(createInsertProbes(everything));
  if (failed(passes.run(*probed.program)))
    return llvm::createStringError("cannot insert probes");
  ProbeRecord record;
  InterpreterOptions options;
  options.probes = &record;
  auto results = interpret(probed.function, arguments, options);
  if (!results)
    return results.takeError();
  size_t next = 0;
  probed.function.walk<WalkOrder::PreOrder>([&](ProbeOp op) {
    if (next < record.probes.size())
      probed.probes.emplace_back(op, std::move(record.probes[next++]));
  });
  return probed;
}

static bool isClose(double a, double b, double rtol) {
  return a == b || std::fabs(a - b) <= rtol * std::max(std::fabs(a), std::fabs(b));
}

static bool sameExtremes(const std::vector<Statistics> &a, const std::vector<Statistics> &b,
                         double rtol) {
  return a.size() == b.size() && llvm::all_of(llvm::zip(a, b), [&](auto pair) {
           const auto &[x, y] = pair;
           return (x.nan > 0) == (y.nan > 0) && (x.infinite > 0) == (y.infinite > 0) &&
                  isClose(x.min, y.min, rtol) && isClose(x.max, y.max, rtol);
         });
}

static double distance(const std::vector<Statistics> &a, const std::vector<Statistics> &b) {
  double sum = 0;
  for (const auto &[x, y] : llvm::zip(a, b))
    sum += std::fabs(x.min - y.min) + std::fabs(x.max - y.max);
  return std::isnan(sum) ? std::numeric_limits<double>::max() : sum;
}

/// The closest one of several values of a name.
static const ProbeStatistics &closest(const ProbeStatistics &to,
                                      ArrayRef<const ProbeStatistics *> namesakes) {
  return **std::min_element(namesakes.begin(), namesakes.end(), [&](auto *a, auto *b) {
    return distance(a->components, to.components) < distance(b->components, to.components);
  });
}

Expected<std::optional<NamedDifference>>
nb::firstDifference(ModuleOp before, ModuleOp after, StringRef function,
                    const RunArguments &arguments, Pixel pixel, double rtol, StringRef prefix) {
  auto first = probe(before, function, arguments, pixel);
  if (!first)
    return first.takeError();
  auto second = probe(after, function, arguments, pixel);
  if (!second)
    return second.takeError();
  llvm::StringMap<std::vector<const ProbeStatistics *>> namesakes;
  for (const auto &[op, statistics] : second->probes)
    namesakes[statistics.name].push_back(&statistics);

  using Status = Influence::Status;
  Influence influence;
  for (auto &[op, statistics] : first->probes) {
    auto found = namesakes.find(statistics.name);
    if (found == namesakes.end())
      continue;
    bool same = llvm::any_of(found->second, [&](const ProbeStatistics *other) {
      return sameExtremes(statistics.components, other->components, rtol);
    });
    influence.set(op.getValue(), same ? Status::Same : Status::Different);
  }
  for (auto &[op, statistics] : first->probes) {
    Value value = op.getValue();
    if (StringRef(statistics.name).starts_with(prefix) &&
        influence.of(value) == Status::Different && influence.reachesPixel(value))
      return NamedDifference{statistics.name, value.getDefiningOp()->getName().getStringRef().str(),
                             statistics.components,
                             closest(statistics, namesakes[statistics.name]).components};
  }
  return std::nullopt;
}

static std::string rangesOf(const std::vector<Statistics> &components) {
  std::string text;
  for (const Statistics &s : components) {
    text += text.empty() ? "" : ", ";
    if (s.finite == 0)
      text += s.nan ? "NaN" : "infinite";
    else if (s.min == s.max)
      text += llvm::formatv("{0:e12}", s.min);
    else
      text += llvm::formatv("{0:e12} to {1:e12}", s.min, s.max);
  }
  return components.size() == 1 ? text : "(" + text + ")";
}

std::string NamedDifference::toString() const {
  return "'" + name + "' (" + op + "): " + rangesOf(before) + " before, " + rangesOf(after) +
         " after";
}
