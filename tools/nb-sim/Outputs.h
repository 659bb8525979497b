// The files of a run.
#ifndef NANOBRAGG_NBSIM_OUTPUTS_H
#define NANOBRAGG_NBSIM_OUTPUTS_H

#include "lib/Choose/Defaults.h"
#include "lib/CommandLine/CommandLine.h"
#include "lib/Files/OutputFile.h"
#include "lib/Images/ImageStatistics.h"
#include "tools/nb-sim/Noise.h"

#include <cstdio>
#include <list>
#include <string>
#include <vector>

namespace nanobragg {

/// The names of the files of an image; empty: they are not wanted.
struct ImageNames {
  std::string floats, pgm, png, map, dump;
  std::vector<std::string> ints, noise; ///< one for each panel: SMV has one geometry

  /// The names in a run that makes one image. Throws io::FileError where one is a frame of a series
  /// that another run writes.
  static ImageNames of(const OutputOptions &wanted, const Detector &detector);
};

/// Opens all files of an image at once, so that a missing directory is reported before anything is
/// computed; nothing appears under its name before publish().
class Outputs {
public:
  /// Throws io::FileError.
  explicit Outputs(const ImageNames &names);

  /// Writes all images and the structure factor dump, and prints what the C program prints about
  /// them. Draws the noise image from complete.random.
  void write(const RenderedImage &rendered, const io::ImageStatistics &statistics,
             const CommandLine &line, CompleteExperiment &complete, std::FILE *console,
             int threads);

  /// Renames all of them into place.
  void publish();

  /// Where they are, in the order of writing.
  std::vector<std::string> absolutePaths() const;

private:
  io::OutputFile *open(const std::string &path);

  std::list<io::OutputFile> files; ///< a list: the pointers below stay valid
  io::OutputFile *floatFile, *pgmFile, *pngFile, *dumpFile, *mapFile; ///< null: not wanted
  std::vector<io::OutputFile *> intFiles, noiseFiles;
};

} // namespace nanobragg
#endif
