#include "runtime/kernels/KernelFit.h"

#include "lib/Process/Refusal.h"
#include "lib/Target/CpuFeatures.h"
#include "runtime/kernels/CacheEntry.h"
#include "runtime/kernels/KernelFile.h"
#include "runtime/kernels/KernelText.h"

#include <fstream>
#include <iterator>
#include <stdexcept>
#include <vector>

namespace nanobragg {
namespace {

#if defined(__x86_64__)
constexpr std::string_view architecture = "x86_64";
bool processorHas(std::string_view feature) {
#define NB_ASK(name)                                                                               \
  if (feature == name)                                                                             \
    return __builtin_cpu_supports(name);
  NB_X86_FEATURES(NB_ASK)
#undef NB_ASK
  return false; // a later compiler may need what this program has never heard of
}
#elif defined(__aarch64__)
constexpr std::string_view architecture = "aarch64";
bool processorHas(std::string_view) { return false; }
#else
#error "kernels are made for x86-64 and AArch64"
#endif

std::string_view nextWord(std::string_view &text) {
  const std::string_view word = text.substr(0, text.find(' '));
  text.remove_prefix(std::min(text.size(), word.size() + 1));
  return word;
}

std::vector<char> readFile(const std::filesystem::path &file) {
  std::ifstream stream(file, std::ios::binary);
  std::vector<char> bytes;
  if (stream && !std::filesystem::is_directory(file) && !std::filesystem::is_character_file(file))
    bytes.assign(std::istreambuf_iterator<char>(stream), {});
  if (bytes.empty() || stream.bad())
    throw std::runtime_error("cannot read the kernel file " + file.string());
  return bytes;
}

/// Says why the dynamic loader will not take the file, where it would say it in its own words.
void checkLoadable(const KernelFileText &text) {
  const KernelText &best = text.versions.front();
  if (best.abi != std::to_string(NB_KERNEL_ABI_VERSION))
    throw std::runtime_error("it speaks version " + best.abi +
                             " of the kernel ABI and this program version " +
                             std::to_string(NB_KERNEL_ABI_VERSION) + "; compile it again");
  if (best.target.substr(0, best.target.find('-')) != architecture)
    throw std::runtime_error("it is for " + best.target + " and this processor is " +
                             std::string(architecture));
}

/// The shared object in a kernel file, of which not a bit has changed since it was written.
std::span<const char> soundImage(std::span<const char> file) {
  try {
    if (!isObjectFile(file))
      return decodeEntry(file).image;
  } catch (const std::runtime_error &error) {
    throw Refusal(std::string(error.what()) + "; copy it or compile it again");
  }
  throw Refusal(
      "it is an object to be linked into a program; make a file to load with nb-compile --emit=so");
}

} // namespace

std::string missingFeatures(std::string_view features) {
  std::string missing;
  while (!features.empty()) {
    const std::string_view feature = nextWord(features);
    if (!feature.empty() && !processorHas(feature))
      missing += (missing.empty() ? "" : " ") + std::string(feature);
  }
  return missing;
}

const nb_kernel_descriptor &selectVersion(const nb_kernel_descriptor &first) {
  checkDescriptor(first);
  const nb_kernel_descriptor *least = &first;
  for (const nb_kernel_descriptor *version = &first; version; version = version->alternative) {
    if (missingFeatures(version->features ? version->features : "").empty())
      return *version;
    least = version;
  }
  throw std::runtime_error("it is for " + std::string(least->target) + "; this processor lacks " +
                           missingFeatures(least->features));
}

KernelHandle openKernelFile(const std::filesystem::path &file) {
  const std::vector<char> bytes = readFile(file);
  const std::string problem = "cannot use the kernel file " + file.string() + ": ";
  try {
    const std::span<const char> image = soundImage(bytes);
    checkLoadable(readKernelText(image));
    const KernelHandle first = loadKernel(image);
    return KernelHandle(first, &selectVersion(*first));
  } catch (const Refusal &error) {
    throw Refusal(problem + error.what());
  } catch (const std::runtime_error &error) {
    throw std::runtime_error(problem + error.what());
  }
}

std::vector<std::string> otherResultsOf(const std::filesystem::path &file) {
  const std::vector<char> bytes = readFile(file);
  const KernelFileText text = readKernelText(soundImage(bytes));
  std::vector<std::string> names;
  for (const KernelTextParameter &output : text.versions.front().outputs)
    names.push_back(output.name);
  names.erase(names.begin());
  return names;
}

void checkFits(const nb_kernel_descriptor &kernel, KernelSpecification wanted,
               std::optional<Precision> precision, const std::string &who) {
  std::string differences;
  const auto differ = [&](const std::string &has, const std::string &needs) {
    differences +=
        (differences.empty() ? " " : "; ") + ("it has " + has) + " and " + needs + " is needed";
  };
  KernelSpecification found;
  try {
    found = KernelSpecification::fromString(kernel.variant);
  } catch (const std::invalid_argument &error) {
    throw std::runtime_error(who + " does not fit: " + error.what());
  }
  // Fixed parameters concern numbers: runKernel compares them.
  found.fixed.clear();
  wanted.fixed.clear();
  // A kernel that leaves out less than may be left out fits.
  if (found.cull.keeps(wanted.cull))
    wanted.cull = found.cull;
  const std::string hasText = found.toString(), needsText = wanted.toString();
  std::string_view has = hasText, needs = needsText;
  const bool known = !has.empty();
  while (!has.empty() && !needs.empty())
    if (const auto a = nextWord(has), b = nextWord(needs); a != b)
      differ(std::string(a), std::string(b));
  if (known && (!has.empty() || !needs.empty()))
    differ("'" + std::string(has) + "' in its variant", "'" + std::string(needs) + "'");
  if (precision && toString(*precision) != kernel.precision)
    differ("precision=" + std::string(kernel.precision), "precision=" + toString(*precision));
  if (!differences.empty())
    throw std::runtime_error(who + " does not fit:" + differences);
}

} // namespace nanobragg
