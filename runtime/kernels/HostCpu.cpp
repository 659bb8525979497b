#include "runtime/kernels/HostCpu.h"

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstring>

#if defined(__x86_64__)
#include <cpuid.h>
#else
#include <sys/auxv.h>
#include <sys/utsname.h>
#endif

namespace nanobragg {
namespace {

std::string hex(std::uint64_t value) {
  char text[20];
  std::snprintf(text, sizeof(text), "%llx", static_cast<unsigned long long>(value));
  return text;
}

#if defined(__x86_64__)

enum Register { Eax, Ebx, Ecx, Edx };
using Leaf = std::array<std::uint32_t, 4>;

Leaf cpuid(std::uint32_t leaf, std::uint32_t subleaf = 0) {
  Leaf r{};
  __cpuid_count(leaf, subleaf, r[Eax], r[Ebx], r[Ecx], r[Edx]);
  return r;
}

/// The register sets that the operating system saves: without them AVX and AVX-512 cannot be used.
std::uint64_t extendedControlRegister() {
  std::uint32_t low, high;
  __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return std::uint64_t(high) << 32 | low;
}

/// One register of a leaf that says which instructions there are.
struct Word {
  const char *name;
  std::uint32_t value;
};

struct Feature {
  const char *name;
  std::size_t word; ///< index into the words below
  int bit;
};

// The names are for a reader; the words, which hold many more bits, are what makes the text unique.
constexpr Feature features[] = {
    {"sse3", 0, 0},        {"ssse3", 0, 9},         {"fma", 0, 12},
    {"sse4.1", 0, 19},     {"sse4.2", 0, 20},       {"movbe", 0, 22},
    {"popcnt", 0, 23},     {"aes", 0, 25},          {"avx", 0, 28},
    {"f16c", 0, 29},       {"bmi", 2, 3},           {"avx2", 2, 5},
    {"bmi2", 2, 8},        {"avx512f", 2, 16},      {"avx512dq", 2, 17},
    {"avx512ifma", 2, 21}, {"avx512cd", 2, 28},     {"avx512bw", 2, 30},
    {"avx512vl", 2, 31},   {"avx512vbmi", 3, 1},    {"avx512vbmi2", 3, 6},
    {"gfni", 3, 8},        {"vaes", 3, 9},          {"vpclmulqdq", 3, 10},
    {"avx512vnni", 3, 11}, {"avx512bitalg", 3, 12}, {"avx512vpopcntdq", 3, 14},
    {"avx512fp16", 4, 23}, {"avxvnni", 5, 4},       {"avx512bf16", 5, 5},
    {"avxifma", 5, 23},    {"avx10", 6, 19},        {"lzcnt", 8, 5},
};

std::string describe() {
  const Leaf vendorLeaf = cpuid(0), one = cpuid(1);
  char vendor[13] = {};
  std::memcpy(vendor, &vendorLeaf[Ebx], 4);
  std::memcpy(vendor + 4, &vendorLeaf[Edx], 4);
  std::memcpy(vendor + 8, &vendorLeaf[Ecx], 4);
  const std::uint32_t last = vendorLeaf[Eax];
  const Leaf seven = last >= 7 ? cpuid(7) : Leaf{};
  const Leaf sevenOne = seven[Eax] >= 1 ? cpuid(7, 1) : Leaf{};
  const Leaf save = last >= 13 ? cpuid(13, 1) : Leaf{};
  const Leaf extended = cpuid(0x80000001);
  // Words that name the core (APIC id) or a performance counter are left out.
  const Word words[] = {
      {"1.ecx", one[Ecx]},
      {"1.edx", one[Edx]},
      {"7.ebx", seven[Ebx]},
      {"7.ecx", seven[Ecx]},
      {"7.edx", seven[Edx]},
      {"7.1.eax", sevenOne[Eax]},
      {"7.1.edx", sevenOne[Edx]},
      {"13.1.eax", save[Eax]},
      {"80000001.ecx", extended[Ecx]},
      {"80000001.edx", extended[Edx]},
  };
  constexpr std::uint32_t osSavesRegisters = 1u << 27;
  const std::uint64_t saved = one[Ecx] & osSavesRegisters ? extendedControlRegister() : 0;

  std::uint32_t family = one[Eax] >> 8 & 0xf, model = one[Eax] >> 4 & 0xf;
  if (family == 6 || family == 15)
    model += (one[Eax] >> 16 & 0xf) << 4;
  if (family == 15)
    family += one[Eax] >> 20 & 0xff;

  std::string text = std::string("host cpu: ") + vendor + " family " + std::to_string(family) +
                     " model " + std::to_string(model) + "\nhost features:";
  for (const Feature &feature : features)
    if (words[feature.word].value >> feature.bit & 1)
      text += std::string(" ") + feature.name;
  text += "\nhost cpuid:";
  for (const Word &word : words)
    text += std::string(" ") + word.name + "=" + hex(word.value);
  return text + " xcr0=" + hex(saved) + "\n";
}

#else

std::string describe() {
  utsname system{};
  uname(&system);
  return std::string("host cpu: ") + system.machine +
         "\nhost features: hwcap=" + hex(getauxval(AT_HWCAP)) +
         " hwcap2=" + hex(getauxval(AT_HWCAP2)) + "\n";
}

#endif

} // namespace

std::string describeHostCpu() {
  // cpuid is slow on a virtual machine, and the processor does not change.
  static const std::string text = describe();
  return text;
}

} // namespace nanobragg
