#include "tools/nb-bench/Baseline.h"

#include "runtime/kernels/CompilerLibrary.h"
#include "runtime/kernels/KernelFile.h"
#include "tools/nb-bench/Axes.h"
#include "tools/nb-bench/InstructionCount.h"

#include <nlohmann/json.hpp>

#include <cmath>
#include <cstdio>
#include <fstream>
#include <optional>
#include <stdexcept>

namespace nanobragg {
namespace {

constexpr const char *precisions[] = {"f64", "mixed"};

bool runsHere(const std::string &target) {
#ifdef __x86_64__
  __builtin_cpu_init();
  return target == "x86-64-v4" ? __builtin_cpu_supports("x86-64-v4")
                               : __builtin_cpu_supports("x86-64-v3");
#else
  return false;
#endif
}

/// To what the file keeps of it.
double rounded(double count) { return std::round(count * 1000) / 1000; }

} // namespace

InstructionCounts countGuarded(const std::vector<std::string> &targets, const BenchInputs &inputs,
                               const CompilerLibrary &compiler) {
  InstructionCounts counts;
  for (const std::string &target : targets) {
    if (!runsHere(target)) {
      std::printf("not counted: %s, which this processor cannot run\n", target.c_str());
      continue;
    }
    const KernelMaker make = [&](KernelRequest request) {
      request.target = KernelTarget::fromString(target);
      const auto file = compiler.build(request);
      if (!file)
        throw std::runtime_error("the compiler library makes no files");
      return loadKernel(*file);
    };
    const auto note = [](const std::string &group, const std::string &name,
                         std::optional<double> count, InstructionCounts &counts) {
      if (!count)
        throw std::runtime_error("instructions cannot be counted here: no traps arrive when the "
                                 "processor's trap flag is set");
      counts[group][name] = rounded(*count);
      std::printf("%-19s %-70s %8.3f\n", group.c_str(), name.c_str(), *count);
      std::fflush(stdout);
    };
    for (const Workload &workload : guardedTable()) {
      // Other numbers of sub-pixels, sources and phi steps run the same loops.
      const bool derived =
          workload.oversample == 1 && workload.sources == 1 && workload.phiSteps == 1;
      for (const std::string precision : precisions) {
        const std::string name = workload.name() + " " + precision;
        note(target, name, instructionsPerSample(workload, inputs, precision, make), counts);
        if (derived)
          note(target + " gradient", name,
               instructionsPerSample(workload, inputs, precision, make, /*gradient=*/true), counts);
      }
    }
  }
  return counts;
}

void writeBaseline(const InstructionCounts &counts, const std::filesystem::path &file) {
  // A machine that lacks a target leaves its counts alone.
  nlohmann::ordered_json all = nlohmann::ordered_json::object();
  if (std::ifstream old(file); old)
    all = nlohmann::ordered_json::parse(old);
  for (const auto &[target, rows] : counts)
    all[target] = rows;
  std::ofstream out(file);
  out << all.dump(2) << "\n";
  if (!out.flush())
    throw std::runtime_error("cannot write " + file.string());
}

bool checkBaseline(const InstructionCounts &counts, const std::filesystem::path &file,
                   double tolerance) {
  std::ifstream stream(file);
  if (!stream)
    throw std::runtime_error("cannot read " + file.string());
  const auto baseline = nlohmann::json::parse(stream).get<InstructionCounts>();
  bool good = true;
  for (const auto &[target, rows] : counts) {
    const auto known = baseline.find(target);
    if (known == baseline.end() || known->second.size() != rows.size()) {
      std::printf("%s: the baseline has other workloads\n", target.c_str());
      good = false;
      continue;
    }
    for (const auto &[name, count] : rows) {
      const auto old = known->second.find(name);
      if (old == known->second.end()) {
        std::printf("%s, %s: not in the baseline\n", target.c_str(), name.c_str());
        good = false;
        continue;
      }
      const double change = count / old->second - 1;
      if (std::abs(change) <= tolerance)
        continue;
      std::printf("%s, %s: %.3f instructions per sample, %+.1f%% of the baseline's %.3f\n",
                  target.c_str(), name.c_str(), count, change * 100, old->second);
      good = good && change < 0;
    }
  }
  return good;
}

} // namespace nanobragg
