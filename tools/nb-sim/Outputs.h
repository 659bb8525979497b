// The files of a run.
#ifndef NANOBRAGG_NBSIM_OUTPUTS_H
#define NANOBRAGG_NBSIM_OUTPUTS_H

#include "lib/CommandLine/CommandLine.h"
#include "lib/Choose/Defaults.h"
#include "lib/Images/ImageStatistics.h"
#include "lib/Files/OutputFile.h"
#include "tools/nb-sim/Noise.h"

#include <cstdio>
#include <list>
#include <string>
#include <vector>

namespace nanobragg {

/// Opens every file of the run at once, so that a missing directory is reported before anything is
/// computed; nothing appears under its name before publish().
class Outputs {
public:
  /// Throws io::FileError.
  Outputs(const CommandLine &line, const Detector &detector);

  /// Writes all images and the structure factor dump, and prints what the C program prints about
  /// them. Draws the noise image from complete.random.
  void write(const RenderedImage &rendered, const io::ImageStatistics &statistics,
             const CommandLine &line, CompleteExperiment &complete, std::FILE *console);

  /// Renames all of them into place.
  void publish();

  /// Where they are, in the order of writing.
  std::vector<std::string> absolutePaths() const;

private:
  io::OutputFile *open(const std::string &path);
  std::vector<io::OutputFile *> openPanels(const std::string &path, const Detector &detector);

  std::list<io::OutputFile> files; ///< a list: the pointers below stay valid
  io::OutputFile *floatFile = nullptr, *pgmFile = nullptr, *pngFile = nullptr, *dumpFile = nullptr,
                 *mapFile = nullptr;
  std::vector<io::OutputFile *> intFiles, noiseFiles; ///< one for each panel: SMV has one geometry
};

} // namespace nanobragg
#endif
