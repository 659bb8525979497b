#include "tools/nb-sim/Actions.h"

#include "lib/CommandLine/OutputNames.h"
#include "lib/Files/OutputFile.h"
#include "lib/Images/FloatImage.h"
#include "lib/Images/ImageStatistics.h"
#include "lib/Images/NpyFile.h"
#include "tools/nb-sim/NotFinite.h"

#include <charconv>
#include <optional>

namespace nanobragg {
namespace {

/// All digits that a float has.
std::string textOf(std::span<const PixelIndex> pixels, std::span<const float> values) {
  std::string text = "# panel fast slow photons\n";
  char line[120];
  for (std::size_t i = 0; i != values.size(); ++i) {
    char *end = line;
    for (const std::int64_t index : {pixels[i].panel, pixels[i].fast, pixels[i].slow}) {
      end = std::to_chars(end, line + sizeof line, index).ptr;
      *end++ = ' ';
    }
    end = std::to_chars(end, line + sizeof line, values[i]).ptr;
    *end++ = '\n';
    text.append(line, end);
  }
  return text;
}

void write(io::OutputFile &file, const CommandLine &line, std::span<const float> values) {
  const std::size_t shape[] = {values.size()};
  if (wantsNpy(line))
    io::writeNpy(file, shape, values);
  else if (wantsText(line))
    file.write(textOf(line.tool.simulator.pixels, values));
  else
    io::writeFloatImage(file, values);
  file.commit();
}

} // namespace

void makeList(const RunSetup &setup, KernelProvider &kernels, const ProcessStart &start) {
  const ToolOptions &tool = setup.line.tool;
  const std::string &path = setup.line.outputs.floatFile;
  io::OutputFile file(path);
  std::optional<io::OutputFile> timingFile;
  if (tool.timingFile)
    timingFile.emplace(*tool.timingFile);
  Simulator simulator(setup.complete.experiment, setup.simulatorOptions(kernels));
  if (!tool.instruments.any())
    simulator.prepare(PixelType::F32);
  setup.tellFallbacks(simulator, "renders");

  std::vector<float> values(simulator.pixels());
  const double beforeRun = start.sinceMain.seconds();
  const std::span<float> pixels = values;
  const RunResult result = simulator.render(pixels, {}, tool.instruments);
  if (!result.report.empty())
    std::fwrite(result.report.data(), 1, result.report.size(), stdout);
  if (!result.quadrature.empty() && !tool.quiet)
    std::printf("%s\n", result.quadrature.c_str());
  if (!result.shortfall.empty())
    std::fprintf(stderr, "WARNING: %s\n", result.shortfall.c_str());
  const auto statistics = io::computeStatistics(
      values, io::ImageRegion::whole(std::int64_t(values.size()), 1), simulator.rendered());
  warnOfNotFinite(setup.line, "listed pixels", std::size_t(statistics.notFinite));
  write(file, setup.line, values);

  Timing timing;
  timing.record(simulator, tool.simulator, result, start, beforeRun);
  timing.kernel = kernels.counters();
  timing.totalSeconds = start.sinceMain.seconds();
  if (timingFile) {
    timingFile->write(timing.toJson());
    timingFile->commit();
  }
  if (!tool.quiet)
    std::printf("max_I = %g  mean= %g of %zu listed pixels\nwrote %s\n", statistics.maximum,
                statistics.mean, values.size(), path.c_str());
}

} // namespace nanobragg
