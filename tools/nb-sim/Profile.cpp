#include "tools/nb-sim/Profile.h"

#include "lib/Experiment/Formatted.h"
#include "lib/Parallel/ThreadTeam.h"
#include "runtime/kernels/KernelFile.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <map>
#include <string_view>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <system_error>
#include <ucontext.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace nanobragg {
namespace {

/// The samples at an instruction.
struct Slot {
  std::atomic<std::uintptr_t> address;
  std::atomic<std::uint64_t> samples;
};
/// Kernels have a few thousand instructions, and all else that computes is in few loops.
constexpr std::size_t slotCount = 1 << 16, mostSteps = 64;
std::array<Slot, slotCount> slots;
std::atomic<std::uint64_t> lost; ///< samples that found no slot
static_assert(std::atomic<std::uintptr_t>::is_always_lock_free);

std::uintptr_t nextInstruction(void *context) {
  const auto &machine = static_cast<ucontext_t *>(context)->uc_mcontext;
#if defined(__x86_64__)
  return std::uintptr_t(machine.gregs[REG_RIP]);
#elif defined(__aarch64__)
  return std::uintptr_t(machine.pc);
#else
#error "say where this processor keeps the address of the next instruction"
#endif
}

void takeSample(int, siginfo_t *, void *context) {
  const std::uintptr_t address = nextInstruction(context);
  // Fibonacci hashing: the upper bits of the product.
  const std::size_t first = (address * 0x9e3779b97f4a7c15u) >> 48;
  for (std::size_t step = 0; step != mostSteps; ++step) {
    Slot &slot = slots[(first + step) % slotCount];
    std::uintptr_t found = 0;
    if (slot.address.compare_exchange_strong(found, address) || found == address) {
      slot.samples.fetch_add(1);
      return;
    }
  }
  lost.fetch_add(1);
}

/// An event of Linux that can interrupt a thread.
struct Event {
  const char *name;
  std::uint32_t type;
  std::uint64_t config;
};
constexpr Event cycles = {"cycles of the processor", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES};
constexpr Event threadClock = {"Linux's clock of a thread", PERF_TYPE_SOFTWARE,
                               PERF_COUNT_SW_CPU_CLOCK};
constexpr int perSecond = 1000;

/// Has the calling thread interrupted by the event until the process ends. Returns 0, or an error
/// number.
int interruptBy(const Event &event) {
  perf_event_attr wanted{};
  wanted.size = sizeof(wanted);
  wanted.type = event.type;
  wanted.config = event.config;
  wanted.freq = 1;
  wanted.sample_freq = perSecond;
  wanted.disabled = 1;
  wanted.exclude_kernel = 1;
  wanted.exclude_hv = 1;
  const int counter = int(::syscall(SYS_perf_event_open, &wanted, 0, -1, -1, PERF_FLAG_FD_CLOEXEC));
  if (counter < 0)
    return errno;
  const f_owner_ex thisThread = {F_OWNER_TID, ::gettid()};
  if (::fcntl(counter, F_SETFL, O_ASYNC) == 0 && ::fcntl(counter, F_SETSIG, SIGPROF) == 0 &&
      ::fcntl(counter, F_SETOWN_EX, &thisThread) == 0 &&
      ::ioctl(counter, PERF_EVENT_IOC_ENABLE, 0) == 0)
    return 0;
  const int problem = errno;
  ::close(counter);
  return problem;
}

template <const Event &event>
void interruptThread() {
  interruptBy(event); // a thread that cannot be watched computes all the same
}

const char *whyNoCycles(int problem) {
  switch (problem) {
  case EACCES:
  case EPERM:
    return "its cycles may not be counted; see kernel.perf_event_paranoid";
  case ENOENT:
  case ENODEV:
  case EOPNOTSUPP:
    return "this machine has no counter of its cycles";
  default:
    return std::strerror(problem);
  }
}

void setTimer(suseconds_t microseconds) {
  const itimerval every = {{0, microseconds}, {0, microseconds}};
  if (::setitimer(ITIMER_PROF, &every, nullptr) != 0)
    throw std::system_error(errno, std::generic_category(), "--profile: no timer can be set");
}

void handle(void (*handler)(int, siginfo_t *, void *)) {
  struct sigaction action{};
  action.sa_flags = SA_RESTART | (handler ? SA_SIGINFO : 0);
  if (handler)
    action.sa_sigaction = handler;
  else
    action.sa_handler = SIG_IGN; // a signal that is on its way would end the process
  ::sigaction(SIGPROF, &action, nullptr);
}

/// Chooses what interrupts, and begins. Returns a line that says which it is.
std::string beginSampling() {
  const int problem = interruptBy(cycles);
  if (problem == 0) {
    ThreadTeam::atStart(interruptThread<cycles>);
    return std::string("sampled by ") + cycles.name + "\n";
  }
  const std::string why = std::string(" (") + whyNoCycles(problem) + ")\n";
  if (interruptBy(threadClock) == 0) {
    ThreadTeam::atStart(interruptThread<threadClock>);
    return std::string("sampled by ") + threadClock.name + why;
  }
  setTimer(1000); // the least that operating systems do is four times as long
  return "sampled by a timer" + why;
}

/// The samples of one kernel, by instructions: addresses count from where it is loaded.
struct KernelSamples {
  std::vector<std::uint64_t> addresses, samples;
};

/// By where kernels are loaded; `elsewhere` gets the number of all other samples.
std::map<const void *, KernelSamples> collect(std::uint64_t &elsewhere) {
  std::map<const void *, KernelSamples> kernels;
  elsewhere = lost;
  for (const Slot &slot : slots) {
    const auto *address = reinterpret_cast<const char *>(slot.address.load());
    const auto *kernel = static_cast<const char *>(address ? kernelAt(address) : nullptr);
    if (!kernel) {
      elsewhere += slot.samples;
      continue;
    }
    kernels[kernel].addresses.push_back(std::uint64_t(address - kernel));
    kernels[kernel].samples.push_back(slot.samples);
  }
  return kernels;
}

/// A line of a program without what is ahead of its op and behind the column.
std::string shortened(std::string_view line) {
  constexpr std::size_t columns = 80;
  line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
  return line.size() <= columns ? std::string(line)
                                : std::string(line.substr(0, columns - 3)) + "...";
}

std::vector<std::string_view> linesOf(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    lines.push_back(text.substr(0, text.find('\n')));
    text.remove_prefix(std::min(lines.back().size() + 1, text.size()));
  }
  return lines;
}

/// Samples by lines of programs: kernels of one program, as of an image and its derivative, share
/// them.
using Lines = std::map<std::pair<std::uint32_t, std::string>, std::uint64_t>;

void add(Lines &lines, const CompilerLibrary::ProgramLines &program,
         const std::vector<std::uint64_t> &samples) {
  const std::vector<std::string_view> text = linesOf(program.text);
  for (std::size_t i = 0; i != samples.size(); ++i) {
    const std::uint32_t line = program.lines[i];
    const std::string op = line > 0 && line <= text.size() ? shortened(text[line - 1])
                           : text.empty()                  ? "a kernel without debug information"
                                                           : "code of several lines";
    lines[{line, op}] += samples[i];
  }
}

} // namespace

Profile::Profile(KernelProvider &kernels) : kernels(kernels) {
  kernels.keepLines();
  handle(takeSample);
  sampledBy = beginSampling();
}

Profile::~Profile() { handle(nullptr); }

std::string Profile::table() {
  handle(nullptr);
  std::uint64_t elsewhere = 0, inKernels = 0, onLines = 0;
  Lines lines;
  for (const auto &[kernel, found] : collect(elsewhere))
    add(lines, kernels.compiler()->programLines(imageOfKernel(kernel), found.addresses),
        found.samples);
  std::vector<std::pair<std::uint64_t, const Lines::key_type *>> rows;
  for (const auto &[place, samples] : lines) {
    rows.push_back({samples, &place});
    inKernels += samples;
    onLines += place.first ? samples : 0;
  }
  std::ranges::sort(rows, [](const auto &a, const auto &b) {
    return a.first != b.first ? a.first > b.first : *a.second < *b.second;
  });
  const double all = double(std::max<std::uint64_t>(inKernels, 1));
  std::string table =
      formatted("\nprofile: %llu samples in kernels, %.1f%% of them on lines of the program, and "
                "%llu elsewhere\n",
                static_cast<unsigned long long>(inKernels), 100 * double(onLines) / all,
                static_cast<unsigned long long>(elsewhere));
  table += sampledBy;
  if (!rows.empty())
    table += "share   line  op\n";
  for (const auto &[samples, place] : rows)
    table += formatted("%5.1f%%  %4u  ", 100 * double(samples) / all, place->first) +
             place->second + "\n";
  return table;
}

} // namespace nanobragg
