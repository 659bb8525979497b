// The workloads that are measured.
#ifndef NANOBRAGG_NBBENCH_WORKLOAD_H
#define NANOBRAGG_NBBENCH_WORKLOAD_H

#include <filesystem>
#include <string>
#include <vector>

namespace nanobragg {

/// A folder of its own under the system's temporary directory, removed with its contents.
class ScratchFolder {
public:
  ScratchFolder();
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder &) = delete;
  const std::filesystem::path &path() const { return folder; }

private:
  std::filesystem::path folder;
};

/// Files that the workloads read.
struct BenchInputs {
  std::filesystem::path hkl, sources;
};

/// Writes both into `folder`, always the same; a list of reflections that the user has goes before
/// the made-up one.
BenchInputs writeInputs(const std::filesystem::path &folder, const std::filesystem::path &hkl);

/// The words of the crystal shapes that have a flag.
std::vector<std::string> shapesOfFlags();

struct Workload {
  std::string shape = "square";
  std::string factors = "nearest"; ///< constant, nearest or tricubic
  int cells = 10;                  ///< along each axis of the crystal
  int domains = 10;                ///< mosaic
  int oversample = 1;
  int sources = 1; ///< 1 or 9
  int phiSteps = 1;
  int pixels = 1024; ///< along each edge

  double samplesPerPixel() const;
  /// Makes the detector such that an image takes about this many samples.
  void fitSamples(double samples);

  /// All but the pixels, as "square N=10 nearest mosaic=10 oversample=1 sources=1 phi=1".
  std::string name() const;

  /// Flags that both programs take.
  std::vector<std::string> words(const BenchInputs &inputs) const;
  /// Parameters of the gradient that is timed and counted.
  std::string gradientParameters() const;
};

} // namespace nanobragg
#endif
