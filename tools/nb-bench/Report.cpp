#include "tools/nb-bench/Report.h"

#include "lib/Experiment/Formatted.h"

#include <nlohmann/json.hpp>

namespace nanobragg {
namespace {

using Json = nlohmann::ordered_json;

std::string machineText(const BenchReport &report) {
  const Machine &m = report.machine;
  std::string text = formatted("%s%s, %d core%s, %.0f GiB, %s. LLVM %s; kernels for `%s`.",
                               m.virtualized ? "A virtual machine: " : "", m.processor.c_str(),
                               m.cores, m.cores == 1 ? "" : "s", m.memoryGiB, m.system.c_str(),
                               NB_LLVM_VERSION, report.target.c_str());
  return text;
}

std::string instructionsText(const Measurement &m) {
  return m.executed ? formatted("%.1f", m.executed->instructions) : "";
}

std::string cyclesText(const Measurement &m) {
  return m.executed && m.executed->cycles ? formatted("%.2f", *m.executed->cycles) : "";
}

std::string shareText(const Measurement &m) {
  return m.boundShare() ? formatted("%.0f %%", 100 * *m.boundShare()) : "";
}

Json toJson(const Measurement &m) {
  const Workload &w = m.workload;
  Json json = {{"shape", w.shape},
               {"cells", w.cells},
               {"factors", w.factors},
               {"mosaic_domains", w.domains},
               {"oversample", w.oversample},
               {"sources", w.sources},
               {"phi_steps", w.phiSteps},
               {"pixels", w.pixels},
               {"precision", m.precision},
               {"threads", m.threads},
               {"samples", m.samples},
               {"setup_seconds", m.setupSeconds},
               {"compile_seconds", m.compileSeconds},
               {"prepare_seconds", m.prepareSeconds},
               {"run_seconds", m.runSeconds},
               {"ns_per_sample", m.nsPerSample()}};
  if (m.deviceSeconds)
    json["device_seconds"] = *m.deviceSeconds;
  if (m.executed)
    json["instructions_per_sample"] = m.executed->instructions;
  if (m.executed && m.executed->cycles) {
    json["bound_cycles_per_sample"] = *m.executed->cycles;
    json["bound_part"] = m.executed->part;
  }
  if (m.clock)
    json["clock_ghz"] = *m.clock;
  if (m.boundShare())
    json["bound_share"] = *m.boundShare();
  if (m.gradientSeconds) {
    json["gradient_seconds"] = *m.gradientSeconds;
    json["gradient_ns_per_sample"] = m.gradientNsPerSample();
    json["gradient_cost"] = m.gradientCost();
  }
  if (m.reference) {
    json["reference_startup_seconds"] = m.reference->startupSeconds;
    json["reference_run_seconds"] = m.reference->runSeconds;
    json["reference_ns_per_sample"] = m.referenceNsPerSample();
    json["speedup"] = m.speedup();
    json["worst_difference"] = m.worstDifference;
  }
  return json;
}

Json toJson(const Start &start) {
  return {{"before_main_seconds", start.beforeMain},
          {"setup_seconds", start.setup},
          {"kernel_seconds", start.kernel},
          {"compile_seconds", start.compile},
          {"run_seconds", start.run}};
}

/// Shape and structure factors, and the counts that differ from those of the first row.
std::string experimentText(const Workload &w, const Workload &first) {
  std::string text = w.shape + ", " + w.factors;
  const auto add = [&](int count, int usual, const char *format) {
    if (count != usual)
      text += ", " + formatted(format, count);
  };
  add(w.cells, first.cells, "N = %d");
  add(w.domains, first.domains, "%d domains");
  add(w.oversample, first.oversample, "oversample %d");
  add(w.sources, first.sources, "%d sources");
  add(w.phiSteps, first.phiSteps, "%d phi steps");
  return text;
}

std::string rowBegin(const Measurement &m, const Workload &first) {
  return formatted("| %s | %s | %d |", experimentText(m.workload, first).c_str(),
                   m.precision.c_str(), m.threads);
}

std::string speedSection(const BenchReport &report) {
  const bool reference = !report.reference.empty();
  const Workload &first = report.rows.front().workload;
  std::string text =
      "\n## Time per sample\n\n"
      "A sample is one evaluation of the innermost body: for one pixel, sub-pixel, source, phi "
      "step and mosaic domain. Median of " +
      std::to_string(report.repeat) +
      " runs. Experiments are named by crystal shape and structure factors. " +
      formatted("Unless stated otherwise: N = %d, mosaic domains: %d, oversample: %d, sources: %d, "
                "phi steps: %d.\n",
                first.cells, first.domains, first.oversample, first.sources, first.phiSteps);
  if (reference)
    text += "\nThe C program is " + report.reference +
            ". Both programs ran in turn, with the same number of threads and the same flags. The "
            "start-up of the C program, measured with one pixel, is subtracted. The difference is "
            "that of the worst pixel, relative to the brightest. For round crystals it is large "
            "because of the one pixel that the direct beam hits exactly: there the C program's "
            "formula cancels to 0.\n";
  text += "\n| experiment | precision | threads | ns |";
  text += reference ? " C, ns | speedup | difference |\n" : "\n";
  text += "|---|---|--:|--:|";
  text += reference ? "--:|--:|--:|\n" : "\n";
  for (const Measurement &m : report.rows) {
    text += rowBegin(m, first) + formatted(" %.2f |", m.nsPerSample());
    if (m.reference)
      text += formatted(" %.1f | %.1f | %.0e |", m.referenceNsPerSample(), m.speedup(),
                        m.worstDifference);
    text += "\n";
  }
  text +=
      "\n## Instructions, compilation and gradients\n\n"
      "Instructions are the average number per sample on one thread, counted exactly. The bound "
      "is the least number of cycles for which the busiest part of the processor is occupied "
      "with these instructions, by LLVM's scheduling model; its share of the time is taken at "
      "the clock measured in the same run. Compile time is that of a kernel when it is first "
      "needed. A gradient is a kernel that computes nothing but the gradient (reverse mode) with "
      "respect to cell, orientation, mosaic spread, wavelength and all numbers of the detector.\n\n"
      "| experiment | precision | threads | instructions | bound, cycles | share of the time | "
      "compile, ms | gradient, ns | times the image |\n"
      "|---|---|--:|--:|--:|--:|--:|--:|--:|\n";
  for (const Measurement &m : report.rows) {
    if (!m.executed && !m.gradientSeconds && m.compileSeconds <= 0)
      continue;
    text +=
        rowBegin(m, first) +
        formatted(" %s | %s | %s | %s |", instructionsText(m).c_str(), cyclesText(m).c_str(),
                  shareText(m).c_str(),
                  m.compileSeconds > 0 ? formatted("%.0f", m.compileSeconds * 1e3).c_str() : "");
    text += m.gradientSeconds
                ? formatted(" %.2f | %.2f |\n", m.gradientNsPerSample(), m.gradientCost())
                : "  |  |\n";
  }
  return text;
}

std::string startsSection(const BenchReport &report) {
  std::string text =
      "\n## Start-up\n\n"
      "Times in milliseconds. Set-up is the time from `main` to the first tile. It includes "
      "reading 450,000 structure factors, setting defaults, getting the kernel, filling tables and "
      "starting threads. Run is the time of all tiles. Cold: nb-sim with an empty kernel cache; "
      "warm, same process: a second simulator; warm, another process: nb-sim with the kernel in "
      "the cache. The time before `main` is that of the operating system and the dynamic "
      "loader.\n\n"
      "| pixels | threads | start | before main | set-up | of which kernel | of which compiling | "
      "run |\n|--:|--:|---|--:|--:|--:|--:|--:|\n";
  for (const Starts &s : report.starts)
    for (const auto &[name, start] : {std::pair("cold", s.cold),
                                      {"warm, same process", s.again},
                                      {"warm, another process", s.another}})
      text += formatted(
          "| %d | %d | %s | %s | %.2f | %.2f | %.1f | %.1f |\n", s.pixels, s.threads, name,
          start.beforeMain > 0 ? formatted("%.1f", start.beforeMain * 1e3).c_str() : "",
          start.setup * 1e3, start.kernel * 1e3, start.compile * 1e3, start.run * 1e3);
  return text;
}

} // namespace

std::string BenchReport::toMarkdown() const {
  std::string text = "# CPU, " + machine.date + "\n\n" + machineText(*this) +
                     "\n\nThis command wrote the page:\n\n```sh\n" + command + "\n```\n\n" +
                     formatted("Loading the compiler took %.0f ms.\n", loadSeconds * 1e3);
  if (!rows.empty())
    text += speedSection(*this);
  if (!starts.empty())
    text += startsSection(*this);
  return text;
}

std::string BenchReport::toJson() const {
  Json table = Json::array(), startTable = Json::array();
  for (const Measurement &row : rows)
    table.push_back(nanobragg::toJson(row));
  for (const Starts &s : starts)
    startTable.push_back({{"pixels", s.pixels},
                          {"threads", s.threads},
                          {"cold", nanobragg::toJson(s.cold)},
                          {"same_process", nanobragg::toJson(s.again)},
                          {"another_process", nanobragg::toJson(s.another)}});
  const Json all = {{"date", machine.date},
                    {"processor", machine.processor},
                    {"virtual_machine", machine.virtualized},
                    {"cores", machine.cores},
                    {"memory_gib", machine.memoryGiB},
                    {"system", machine.system},
                    {"llvm", NB_LLVM_VERSION},
                    {"target", target},
                    {"command", command},
                    {"reference", reference},
                    {"repeat", repeat},
                    {"compiler_load_seconds", loadSeconds},
                    {"rows", table},
                    {"starts", startTable}};
  return all.dump(2) + "\n";
}

std::string tableHeading(bool reference) {
  return formatted("%-64s %-6s thr      ns  instr. bound, cycles  compile gradient, ns cost%s\n",
                   "workload", "prec.", reference ? "   C, ns speedup difference" : "");
}

std::string tableLine(const Measurement &m) {
  std::string line =
      formatted("%-64s %-6s %3d %7.2f %7s %7s %5s %5.0f ms", m.workload.name().c_str(),
                m.precision.c_str(), m.threads, m.nsPerSample(), instructionsText(m).c_str(),
                cyclesText(m).c_str(), shareText(m).c_str(), m.compileSeconds * 1e3);
  line += m.gradientSeconds
              ? formatted("     %7.2f %4.2f", m.gradientNsPerSample(), m.gradientCost())
              : formatted("%17s", "");
  if (m.reference)
    line +=
        formatted(" %7.1f %7.1f    %.1e", m.referenceNsPerSample(), m.speedup(), m.worstDifference);
  return line + "\n";
}

std::string startsHeading() {
  return "\n               cold                      same process     another process\n"
         "pixels thr  set-up  kernel     run    set-up     run    set-up  kernel     run /ms\n";
}

std::string startsLine(const Starts &s) {
  return formatted("%6d %3d %7.1f %7.1f %7.1f   %7.2f %7.1f   %7.2f %7.2f %7.1f\n", s.pixels,
                   s.threads, s.cold.setup * 1e3, s.cold.kernel * 1e3, s.cold.run * 1e3,
                   s.again.setup * 1e3, s.again.run * 1e3, s.another.setup * 1e3,
                   s.another.kernel * 1e3, s.another.run * 1e3);
}

} // namespace nanobragg
