#include "tools/nb-bench/Baseline.h"

#include "runtime/kernels/CompilerLibrary.h"
#include "tools/nb-bench/Axes.h"

#include <nlohmann/json.hpp>

#include <cmath>
#include <cstdio>
#include <fstream>
#include <optional>
#include <stdexcept>

namespace nanobragg {
namespace {

constexpr const char *precisions[] = {"f64", "mixed"};

bool canCount(const std::string &target) {
  if (vendorOfChip(target))
    return true; // from the code alone
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

nlohmann::ordered_json jsonOf(const std::map<std::string, Executed> &rows) {
  nlohmann::ordered_json all = nlohmann::ordered_json::object();
  for (const auto &[name, executed] : rows) {
    auto &row = all[name] = {{"instructions", executed.instructions}};
    if (executed.cycles) {
      row["cycles"] = *executed.cycles;
      row["part"] = executed.part;
    }
    if (executed.samplesPerSecond > 0) {
      row["bytes"] = executed.loadedBytes;
      row["gigasamples"] = rounded(executed.samplesPerSecond * 1e-9);
    }
    if (const auto &occupied = executed.occupied) {
      row["registers"] = occupied->registers;
      row["spills"] = occupied->spills;
      row["waves"] = occupied->waves;
    }
  }
  return all;
}

InstructionCounts countsFrom(std::ifstream &stream) {
  InstructionCounts counts;
  const auto all = nlohmann::json::parse(stream);
  for (const auto &[target, rows] : all.items())
    for (const auto &[name, row] : rows.items()) {
      Executed &executed = counts[target][name];
      executed.instructions = row.at("instructions");
      if (row.contains("cycles")) {
        executed.cycles = row.at("cycles");
        executed.part = row.at("part");
      }
      if (row.contains("waves"))
        executed.occupied = {row.at("registers"), row.at("spills"), row.at("waves")};
    }
  return counts;
}

/// Prints a change beyond the tolerance; false for a rise.
bool checkNumber(const std::string &what, double now, double before, double tolerance) {
  const double change = now / before - 1;
  if (std::abs(change) <= tolerance)
    return true;
  std::printf("%s per sample: %.3f, %+.1f%% of the baseline's %.3f\n", what.c_str(), now,
              change * 100, before);
  return change < 0;
}

} // namespace

InstructionCounts countGuarded(const std::vector<std::string> &targets, const BenchInputs &inputs,
                               const CompilerLibrary &compiler) {
  InstructionCounts counts;
  for (const std::string &target : targets) {
    if (!canCount(target)) {
      std::printf("not counted: %s, which this processor cannot run\n", target.c_str());
      continue;
    }
    const auto change = [&](KernelRequest &request) {
      request.target = KernelTarget::fromString(target);
    };
    const auto note = [](const std::string &group, const std::string &name,
                         std::optional<Executed> executed, InstructionCounts &counts) {
      if (!executed)
        throw std::runtime_error("instructions cannot be counted here: no traps arrive when the "
                                 "processor's trap flag is set");
      executed->instructions = rounded(executed->instructions);
      if (executed->cycles)
        *executed->cycles = rounded(*executed->cycles);
      counts[group][name] = *executed;
      std::printf("%-19s %-70s %8.3f %8.3f %s\n", group.c_str(), name.c_str(),
                  executed->instructions, executed->cycles.value_or(0), executed->part.c_str());
      std::fflush(stdout);
    };
    for (Workload workload : guardedTable()) {
      workload.pixels = 64; // few samples, for which nothing is compiled in
      // The code of a GPU does not depend on counts.
      if (vendorOfChip(target) && workload.domains == 1)
        continue;
      // Other numbers of sub-pixels, sources and phi steps run the same loops.
      const bool derived =
          workload.oversample == 1 && workload.sources == 1 && workload.phiSteps == 1;
      for (const std::string precision : precisions) {
        const std::string name = workload.name() + " " + precision;
        note(target, name, executedPerSample(workload, inputs, precision, compiler, change),
             counts);
        if (derived)
          note(target + " gradient", name,
               executedPerSample(workload, inputs, precision, compiler, change,
                                 /*gradient=*/true),
               counts);
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
    all[target] = jsonOf(rows);
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
  const InstructionCounts baseline = countsFrom(stream);
  bool good = true;
  for (const auto &[target, rows] : counts) {
    const auto known = baseline.find(target);
    if (known == baseline.end() || known->second.size() != rows.size()) {
      std::printf("%s: the baseline has other workloads\n", target.c_str());
      good = false;
      continue;
    }
    for (const auto &[name, executed] : rows) {
      const auto old = known->second.find(name);
      const std::string row = target + ", " + name;
      if (old == known->second.end() ||
          old->second.cycles.has_value() != executed.cycles.has_value()) {
        std::printf("%s: not in the baseline\n", row.c_str());
        good = false;
        continue;
      }
      good &= checkNumber(row + ": instructions", executed.instructions, old->second.instructions,
                          tolerance);
      if (executed.cycles)
        good &= checkNumber(row + ": cycles of " + executed.part, *executed.cycles,
                            *old->second.cycles, tolerance);
      if (const auto &now = executed.occupied, &before = old->second.occupied;
          now && before && (now->waves < before->waves || now->spills > before->spills)) {
        std::printf("%s: %d waves and %d spills, in the baseline %d and %d\n", row.c_str(),
                    now->waves, now->spills, before->waves, before->spills);
        good = false;
      }
    }
  }
  return good;
}

} // namespace nanobragg
