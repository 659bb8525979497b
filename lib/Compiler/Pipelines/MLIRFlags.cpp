#include "lib/Compiler/Pipelines/MLIRFlags.h"

#include "dialect/PassStatistics.h"
#include "lib/Compiler/Pipelines/RegisterPasses.h"
#include "lib/Quantities/ClosestWord.h"

#include "mlir/Debug/Counter.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Pass/PassInstrumentation.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Debug.h"
#include "llvm/Support/Format.h"

#include <algorithm>
#include <memory>
#include <mutex>
#include <sys/mman.h>
#include <unistd.h>

using namespace mlir;
using namespace mlir::nb;

namespace {
/// The objects behind the flags, made when there are any.
struct Followed {
  DefaultTimingManager timing; ///< prints its table when the process ends
  TimingScope total;           ///< runs while there is a pass manager or a phase
  unsigned users = 0;
  bool used = false; ///< something has been timed
  tracing::DebugCounter counter;

  Followed() {
    llvm::errs(); // which is needed to the end
    applyDefaultTimingManagerCLOptions(timing);
  }
  ~Followed() {
    timing.setEnabled(timing.isEnabled() && used); // an empty table has nan in it
    printPassStatistics();
  }

  void begin() {
    used = true;
    if (users++ == 0)
      total = timing.getRootScope();
  }
  void end() {
    if (--users == 0)
      total.stop();
  }

  /// Null without flags.
  static std::unique_ptr<Followed> &get() {
    static std::unique_ptr<Followed> followed;
    return followed;
  }
};

struct TracePasses : PassInstrumentation {
  void runBeforePass(Pass *pass, Operation *op) override {
    if (pass->getArgument().empty()) // passes that hold others have none
      return;
    const auto symbol = op->getAttrOfType<StringAttr>(SymbolTable::getSymbolAttrName());
    llvm::timeTraceProfilerBegin(pass->getArgument(),
                                 symbol ? symbol.getValue() : op->getName().getStringRef());
  }
  void runAfterPass(Pass *pass, Operation *) override { end(pass); }
  void runAfterPassFailed(Pass *pass, Operation *) override { end(pass); }

private:
  static void end(Pass *pass) {
    if (!pass->getArgument().empty())
      llvm::timeTraceProfilerEnd();
  }
};

void registerFlags() {
  registerPassesOnce(); // --mlir-print-ir-after names them
  registerAsmPrinterCLOptions();
  registerMLIRContextCLOptions();
  registerPassManagerCLOptions();
  registerDefaultTimingManagerCLOptions();
  tracing::DebugCounter::registerCLOptions();
}

llvm::Error unknownFlag(const std::string &word) {
  std::vector<std::string> flags;
  for (const auto &option : llvm::cl::getRegisteredOptions())
    if (option.first.starts_with("mlir-"))
      flags.push_back("--" + option.first.str());
  const std::vector<std::string_view> views(flags.begin(), flags.end());
  const std::string name = StringRef(word).split('=').first.str();
  return llvm::createStringError("unknown flag of MLIR '" + name + "'; the closest is '" +
                                 std::string(nanobragg::closestWord(name, views)) +
                                 "' (nb-opt --help lists all)");
}

constexpr const char *program = "nb";

/// Parses the flags. LLVM complains of some to a stream, of others to standard error: returns its
/// first line as a sentence; empty: none.
std::string parse(ArrayRef<const char *> arguments) {
  std::string complaint;
  llvm::raw_string_ostream stream(complaint);
  const int memory = ::memfd_create("complaint", MFD_CLOEXEC), before = ::dup(STDERR_FILENO);
  ::dup2(memory, STDERR_FILENO);
  const bool parsed =
      llvm::cl::ParseCommandLineOptions(int(arguments.size()), arguments.data(), "", &stream);
  ::dup2(before, STDERR_FILENO);
  ::close(before);
  char text[1000];
  const ssize_t length = ::pread(memory, text, sizeof text, 0);
  ::close(memory);
  if (parsed)
    return "";
  stream << StringRef(text, size_t(std::max<ssize_t>(length, 0)));
  StringRef line = StringRef(complaint).split('\n').first;
  line.consume_front((StringRef(program) + ": ").str());
  line.consume_front("for the ");
  return line.trim().str();
}

bool statisticsWanted = false;
} // namespace

/// LLVM_DEBUG and LDBG print where this code is compiled without NDEBUG, whatever LLVM was.
llvm::Error nb::setDebugTypes(StringRef types) {
#ifdef NDEBUG
  return llvm::createStringError(
      "--debug-only=" + types.str() +
      ": this build prints no debug lines; configure one with -DCMAKE_BUILD_TYPE=Debug, or see "
      "what passes decide in remarks (nb-opt --remarks-filter='.*')");
#else
  static const std::string kept = types.str();
  static const SmallVector<std::string> names =
      llvm::map_to_vector(llvm::split(kept, ','), [](StringRef name) { return name.str(); });
  SmallVector<const char *> pointers;
  for (const std::string &name : names)
    pointers.push_back(name.c_str());
  llvm::DebugFlag = true;
  llvm::setCurrentDebugTypes(pointers.data(), unsigned(pointers.size()));
  return llvm::Error::success();
#endif
}

llvm::Error nb::checkDebugCounter(StringRef word) {
  if (!word.ltrim('-').starts_with("mlir-debug-counter="))
    return llvm::Error::success();
  for (StringRef part : llvm::split(word.split('=').second, ',')) {
    const auto [name, number] = part.split('=');
    int64_t value = 0;
    if ((!name.ends_with("-skip") && !name.ends_with("-count")) || number.getAsInteger(0, value))
      return llvm::createStringError("--mlir-debug-counter: '" + part.str() +
                                     "' is not NAME-skip=NUMBER or NAME-count=NUMBER");
  }
  return llvm::Error::success();
}

llvm::Error nb::setMLIRFlags(ArrayRef<std::string> words) {
  if (words.empty() || Followed::get())
    return llvm::Error::success();
  static std::once_flag registered;
  std::call_once(registered, registerFlags);
  SmallVector<const char *> arguments = {program};
  for (const std::string &word : words) {
    StringRef name = StringRef(word).split('=').first;
    name.consume_front("--");
    if (takePassStatistics(word))
      continue;
    if (auto error = checkDebugCounter(word))
      return error;
    if (llvm::cl::getRegisteredOptions().count(name)) {
      arguments.push_back(word.c_str());
      continue;
    }
    if (name != "debug-only")
      return unknownFlag(word);
    if (auto error = setDebugTypes(StringRef(word).split('=').second))
      return error;
  }
  if (const std::string complaint = parse(arguments); !complaint.empty())
    return llvm::createStringError(complaint);
  Followed::get() = std::make_unique<Followed>();
  return llvm::Error::success();
}

bool nb::takePassStatistics(StringRef word) {
  if (word.ltrim('-') != "mlir-pass-statistics")
    return false;
  statisticsWanted = true;
  return !LLVM_FORCE_ENABLE_STATS;
}

void nb::printPassStatistics() {
  if (!statisticsWanted)
    return;
  std::vector<CountedStatistic> counted = passStatistics();
  const auto *display = static_cast<llvm::cl::opt<PassDisplayMode> *>(
      llvm::cl::getRegisteredOptions().find("mlir-pass-statistics-display")->second);
  if (display->getValue() == PassDisplayMode::List)
    llvm::stable_sort(counted, [](auto &a, auto &b) { return a.pass < b.pass; });
  const std::string line = "===" + std::string(73, '-') + "===\n";
  llvm::errs() << line << std::string(25, ' ') << "... Pass statistics report ...\n" << line;
  std::vector<StringRef> passes;
  for (const CountedStatistic &one : counted)
    if (!llvm::is_contained(passes, one.pass))
      passes.push_back(one.pass);
  for (StringRef pass : passes) {
    llvm::errs() << pass << "\n";
    for (const CountedStatistic &one : counted)
      if (one.pass == pass)
        llvm::errs() << "  (S) " << llvm::right_justify(std::to_string(one.value), 5) << " "
                     << one.name << " - " << one.description << "\n";
  }
  if (!LLVM_FORCE_ENABLE_STATS)
    llvm::errs() << "(MLIR's own passes count nothing: this LLVM was built without statistics)\n";
}

MLIRReport::MLIRReport(std::string text) : title(std::move(text)) {
  if (Followed *const followed = Followed::get().get()) {
    followed->timing.clear();
    clearPassStatistics();
  }
}

MLIRReport::~MLIRReport() {
  Followed *const followed = Followed::get().get();
  if (!followed || (!followed->timing.isEnabled() && !statisticsWanted))
    return;
  llvm::errs() << title << ":\n";
  followed->timing.print();
  printPassStatistics();
}

void nb::addPassSpans(PassManager &passes) {
  if (llvm::timeTraceProfilerEnabled())
    passes.addInstrumentation(std::make_unique<TracePasses>());
}

FlaggedPassManager::FlaggedPassManager(MLIRContext *context) : PassManager(context) {
  addPassSpans(*this);
  Followed *const followed = Followed::get().get();
  if (!followed)
    return;
  followed->begin();
  (void)applyPassManagerCLOptions(*this); // it has said why it cannot
  enableTiming(followed->total);
  if (tracing::DebugCounter::isActivated() && !context->hasActionHandler())
    context->registerActionHandler(
        [followed](function_ref<void()> transform, const tracing::Action &action) {
          followed->counter(transform, action);
        });
}

FlaggedPassManager::~FlaggedPassManager() {
  if (Followed::get())
    Followed::get()->end();
}

Phase::Phase(StringRef name) : span(name) {
  if (Followed *const followed = Followed::get().get()) {
    followed->begin();
    row = followed->total.nest(name.str());
  }
}

Phase::~Phase() {
  row.stop();
  if (Followed::get())
    Followed::get()->end();
}
