//===- main.cpp - nb-bench: how fast, and how much faster -----------------===//
#include "Measurement.h"
#include "Starts.h"
#include "nanobragg/KernelRunner.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <getopt.h>
#include <sstream>
#include <stdexcept>

using namespace nanobragg;

namespace {

constexpr const char *helpText =
    R"(usage: nb-bench [options]

Times the loop over pixels of nb-sim, in this process, and with --reference that of a nanoBragg
program, in turn. The workload: 10 x 10 x 10 cells, 10 mosaic domains, structure factors on a grid
with nearest-neighbour lookup, 1024 x 1024 pixels. The reference's own start-up, measured with one
pixel and subtracted, does not count; nor do file output and compilation here.

  --reference=PROGRAM  a nanoBragg executable to compare with; OMP_NUM_THREADS is set for it
  --shapes=LIST        of square, round, gauss, tophat (default: all)
  --threads=LIST       numbers of threads, 0 for all cores (default: 1,0)
  --pixels=N           along each edge of the detector (default: 1024)
  --domains=N          mosaic domains (default: 10)
  --repeat=N           runs of each program, whose median counts (default: 5)
  --precision=NAME     f64, ... (default: f64)
  --hkl=FILE           structure factors (default: 445,445 made-up ones)
  --starts=LIST        instead: what a first image of these sizes costs, with an empty cache, in the
                       same process again, and in another process that finds the kernel cached
  --json               print JSON instead of a table
  -h, --help           this text
)";

struct Arguments {
  std::vector<std::string> shapes{"square", "round", "gauss", "tophat"};
  std::vector<int> threads{1, 0};
  std::vector<int> starts; ///< sizes; empty: the loop is timed
  Workload workload;
  Plan plan;
  std::string reference;
  bool json = false, help = false;
};

std::vector<std::string> split(const std::string &list) {
  std::vector<std::string> words;
  std::istringstream stream(list);
  for (std::string word; std::getline(stream, word, ',');)
    words.push_back(word);
  return words;
}

int wholeNumber(const std::string &text, const char *flag, int least) {
  char *end = nullptr;
  const long value = std::strtol(text.c_str(), &end, 10);
  if (text.empty() || *end || value < least || value > 1000000)
    throw std::invalid_argument(std::string(flag) + " needs a whole number of at least " +
                                std::to_string(least) + ", not '" + text + "'");
  return int(value);
}

std::vector<std::string> checkedShapes(const std::string &list) {
  const std::vector<std::string> known = Arguments().shapes, shapes = split(list);
  for (const std::string &shape : shapes)
    if (std::find(known.begin(), known.end(), shape) == known.end())
      throw std::invalid_argument("--shapes knows square, round, gauss and tophat, not '" + shape +
                                  "'");
  return shapes;
}

Arguments parse(int argc, char **argv) {
  const option options[] = {{"reference", required_argument, nullptr, 'r'},
                            {"shapes", required_argument, nullptr, 's'},
                            {"threads", required_argument, nullptr, 't'},
                            {"pixels", required_argument, nullptr, 'p'},
                            {"domains", required_argument, nullptr, 'd'},
                            {"repeat", required_argument, nullptr, 'n'},
                            {"precision", required_argument, nullptr, 'f'},
                            {"hkl", required_argument, nullptr, 'k'},
                            {"starts", required_argument, nullptr, 'S'},
                            {"json", no_argument, nullptr, 'j'},
                            {"help", no_argument, nullptr, 'h'},
                            {}};
  Arguments arguments;
  int flag;
  while ((flag = getopt_long(argc, argv, "h", options, nullptr)) != -1) {
    const std::string value = optarg ? optarg : "";
    switch (flag) {
    case 'r':
      arguments.reference = value;
      break;
    case 's':
      arguments.shapes = checkedShapes(value);
      break;
    case 'S':
      for (const std::string &word : split(value))
        arguments.starts.push_back(wholeNumber(word, "--starts", 1));
      break;
    case 't':
      arguments.threads.clear();
      for (const std::string &word : split(value))
        arguments.threads.push_back(wholeNumber(word, "--threads", 0));
      break;
    case 'p':
      arguments.workload.pixels = wholeNumber(value, "--pixels", 1);
      break;
    case 'd':
      arguments.workload.domains = wholeNumber(value, "--domains", 1);
      break;
    case 'n':
      arguments.plan.repeat = wholeNumber(value, "--repeat", 1);
      break;
    case 'f':
      arguments.plan.precision = value;
      break;
    case 'k':
      arguments.workload.hkl = std::filesystem::absolute(value);
      break;
    case 'j':
      arguments.json = true;
      break;
    case 'h':
      arguments.help = true;
      break;
    default:
      throw std::invalid_argument("nb-bench --help lists the options");
    }
  }
  if (optind < argc)
    throw std::invalid_argument(std::string("unexpected word '") + argv[optind] + "'");
  return arguments;
}

nlohmann::ordered_json toJson(const Start &start) {
  return {{"input_seconds", start.inputSeconds},
          {"kernel_seconds", start.kernelSeconds},
          {"run_seconds", start.runSeconds}};
}

void runStarts(const Arguments &arguments, const ScratchFolder &scratch) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  if (!arguments.json)
    std::printf("                empty cache             same process again      another process\n"
                "pixels threads  input kernel    run     input kernel    run     input kernel    "
                "run /ms\n");
  for (int pixels : arguments.starts)
    for (int requested : arguments.threads) {
      Workload workload = arguments.workload;
      workload.pixels = pixels;
      const int threads = resolveThreads(requested);
      const auto cache =
          scratch.path() / ("kernels-" + std::to_string(pixels) + "-" + std::to_string(requested));
      const Starts starts = measureStarts(workload, threads, arguments.plan.precision, cache);
      if (arguments.json) {
        rows.push_back({{"pixels", pixels},
                        {"threads", threads},
                        {"empty_cache", toJson(starts.cold)},
                        {"same_process", toJson(starts.again)},
                        {"another_process", toJson(starts.another)}});
        continue;
      }
      std::printf("%6d %7d", pixels, threads);
      for (const Start &s : {starts.cold, starts.again, starts.another})
        std::printf(" %6.1f %6.2f %6.1f    ", s.inputSeconds * 1e3, s.kernelSeconds * 1e3,
                    s.runSeconds * 1e3);
      std::printf("\n");
      std::fflush(stdout);
    }
  if (arguments.json)
    std::printf("%s\n", nlohmann::ordered_json{{"starts", rows}}.dump(2).c_str());
}

nlohmann::ordered_json toJson(const Measurement &m) {
  nlohmann::ordered_json json = {{"shape", m.shape},
                                 {"threads", m.threads},
                                 {"samples", m.samples},
                                 {"setup_seconds", m.setupSeconds},
                                 {"compile_seconds", m.compileSeconds},
                                 {"prepare_seconds", m.prepareSeconds},
                                 {"run_seconds", m.runSeconds},
                                 {"ns_per_sample", m.nsPerSample()}};
  if (m.ratio) {
    json["reference_startup_seconds"] = *m.referenceStartupSeconds;
    json["reference_run_seconds"] = *m.referenceRunSeconds;
    json["reference_ns_per_sample"] = *m.referenceRunSeconds / m.samples * 1e9;
    json["ratio"] = *m.ratio;
    json["worst_difference"] = *m.worstDifference;
  }
  return json;
}

void printRow(const Measurement &m) {
  std::printf("%-7s %7d %9.2f %10.2f %8.3f %9.1f %9.1f", m.shape.c_str(), m.threads,
              m.nsPerSample(), m.prepareSeconds * 1e3, m.runSeconds, m.setupSeconds * 1e3,
              m.compileSeconds * 1e3);
  if (m.ratio)
    std::printf(" %9.1f %7.1f %10.1e", *m.referenceRunSeconds / m.samples * 1e9, *m.ratio,
                *m.worstDifference);
  std::printf("\n");
  std::fflush(stdout);
}

void run(Arguments arguments) {
  ScratchFolder scratch;
  if (arguments.workload.hkl.empty()) {
    arguments.workload.hkl = scratch.path() / "bench.hkl";
    writeReflections(arguments.workload.hkl);
  }
  if (!arguments.starts.empty())
    return runStarts(arguments, scratch);
  if (!arguments.reference.empty())
    arguments.plan.reference.emplace(arguments.reference, scratch.path());

  KernelProvider kernels;
  kernels.compiler();
  const double loadSeconds = kernels.counters().compilerLoadSeconds;
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  if (!arguments.json) {
    std::printf("compiler library loaded in %.1f ms\n", loadSeconds * 1e3);
    std::printf("shape   threads ns/sample prepare/ms    run/s  setup/ms compile/ms%s\n",
                arguments.plan.reference ? "  C ns/s.   ratio difference" : "");
  }
  for (const std::string &shape : arguments.shapes)
    for (int threads : arguments.threads) {
      arguments.workload.shape = shape;
      const Measurement m =
          measure(arguments.workload, resolveThreads(threads), arguments.plan, kernels);
      if (arguments.json)
        rows.push_back(toJson(m));
      else
        printRow(m);
    }
  if (arguments.json) {
    const nlohmann::ordered_json all = {{"compiler_load_seconds", loadSeconds},
                                        {"precision", arguments.plan.precision},
                                        {"repeat", arguments.plan.repeat},
                                        {"rows", rows}};
    std::printf("%s\n", all.dump(2).c_str());
  }
}

} // namespace

int main(int argc, char **argv) {
  try {
    const Arguments arguments = parse(argc, argv);
    if (arguments.help)
      std::fputs(helpText, stdout);
    else
      run(arguments);
    return 0;
  } catch (const std::invalid_argument &error) {
    std::fprintf(stderr, "nb-bench: error: %s\n", error.what());
    return 2;
  } catch (const std::exception &error) {
    std::fprintf(stderr, "nb-bench: error: %s\n", error.what());
    return 1;
  }
}
