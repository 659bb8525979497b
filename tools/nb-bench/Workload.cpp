#include "tools/nb-bench/Workload.h"

#include "lib/Experiment/CrystalShape.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <system_error>

namespace nanobragg {

namespace fs = std::filesystem;

ScratchFolder::ScratchFolder() {
  std::string name = (fs::temp_directory_path() / "nb-bench-XXXXXX").string();
  if (!mkdtemp(name.data()))
    throw std::runtime_error("cannot create a folder in " + fs::temp_directory_path().string());
  folder = name;
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  fs::remove_all(folder, ignored);
}

static void writeText(const fs::path &path, const std::string &text) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE *)> file(std::fopen(path.c_str(), "w"),
                                                              std::fclose);
  if (!file || std::fwrite(text.data(), 1, text.size(), file.get()) != text.size() ||
      std::fflush(file.get()) != 0)
    throw std::runtime_error("cannot write " + path.string());
}

/// Structure factors for every reflection that the workloads' detector sees: the cell is
/// 50 x 60 x 70 A and the detector's corner is at 1.6 A.
static std::string reflections() {
  constexpr int h = 32, k = 38, l = 44;
  std::uint32_t random = 1;
  std::string text;
  char line[64];
  for (int i = -h; i <= h; ++i)
    for (int j = -k; j <= k; ++j)
      for (int m = -l; m <= l; ++m) {
        random = random * 1664525u + 1013904223u;
        text.append(line, std::size_t(std::snprintf(line, sizeof line, "%d %d %d %.2f\n", i, j, m,
                                                    (random >> 16) / 100.0)));
      }
  return text;
}

/// Nine points of a divergent beam: positions in m, weight, wavelength in m.
static std::string sourceTable() {
  std::ostringstream text;
  for (int i = -1; i <= 1; ++i)
    for (int j = -1; j <= 1; ++j)
      text << "-10 " << i * 0.005 << " " << j * 0.005 << " 1 1e-10\n";
  return text.str();
}

BenchInputs writeInputs(const fs::path &folder, const fs::path &hkl) {
  BenchInputs inputs{hkl, folder / "sources.txt"};
  writeText(inputs.sources, sourceTable());
  if (hkl.empty())
    writeText(inputs.hkl = folder / "bench.hkl", reflections());
  return inputs;
}

double Workload::samplesPerPixel() const {
  return double(domains) * oversample * oversample * sources * phiSteps;
}

void Workload::fitSamples(double samples) {
  pixels = std::clamp(int(std::lround(std::sqrt(samples / samplesPerPixel()))), 64, 4096);
}

std::string Workload::name() const {
  std::ostringstream text;
  text << shape << " N=" << cells << " " << factors << " mosaic=" << domains
       << " oversample=" << oversample << " sources=" << sources << " phi=" << phiSteps;
  return text.str();
}

std::vector<std::string> shapesOfFlags() {
  std::vector<std::string> words;
  for (const CrystalShapeRow &row : crystalShapes)
    if (row.flags)
      words.push_back(row.word);
  return words;
}

static std::string flagOf(const std::string &shape) {
  const auto row = std::ranges::find(crystalShapes, shape, &CrystalShapeRow::word);
  const std::string_view flags = row->flags;
  return std::string(flags.substr(0, flags.find(' ')));
}

std::string Workload::gradientParameters() const {
  return std::string("cell,misset,mosaic_spread,detector,") +
         (sources > 1 ? "source_wavelength" : "wavelength");
}

std::vector<std::string> Workload::words(const BenchInputs &inputs) const {
  std::ostringstream text;
  text << "-cell 50 60 70 90 90 90 -misset 10 20 30 -N " << cells << " -mosaic 0.5 -mosaic_domains "
       << domains << " -distance 100 -pixel " << 102.4 / pixels << " -detpixels " << pixels
       << " -oversample " << oversample << " " << flagOf(shape) << " -lambda 1";
  if (phiSteps > 1)
    text << " -osc 1 -phisteps " << phiSteps;
  text << (factors == "constant"   ? " -default_F 100"
           : factors == "tricubic" ? " -interpolate"
                                   : " -nointerpolate");
  std::istringstream stream(text.str());
  std::vector<std::string> words(std::istream_iterator<std::string>(stream), {});
  // Paths may contain blanks.
  if (factors != "constant")
    words.insert(words.end(), {"-hkl", inputs.hkl.string()});
  if (sources > 1)
    words.insert(words.end(), {"-sourcefile", inputs.sources.string()});
  return words;
}

} // namespace nanobragg
