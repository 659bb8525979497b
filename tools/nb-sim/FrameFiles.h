// The files of one frame of a series.
#ifndef NANOBRAGG_NBSIM_FRAMEFILES_H
#define NANOBRAGG_NBSIM_FRAMEFILES_H

#include "lib/Choose/Defaults.h"
#include "lib/CommandLine/CommandLine.h"
#include "lib/Formats/DialsExperiment.h"
#include "tools/nb-sim/Noise.h"
#include "tools/nb-sim/Outputs.h"

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

namespace nanobragg {

/// Absolute, without "." and ".."; unchanged where that cannot be said.
std::string absoluteName(const std::string &name);

/// Which files a series writes, and what they are called.
class FrameFiles {
public:
  /// Those that `line` names, or noise images where it names none. `frames`: how many there will
  /// be.
  FrameFiles(const CommandLine &line, std::int64_t frames);

  /// NAME_0001.EXT; at least four digits, counted from 1.
  std::string numbered(const std::string &name, std::int64_t frame) const;
  /// The same with # for the digits.
  std::string pattern(const std::string &name) const;

  /// Their names without a frame's number.
  std::vector<std::string> given() const;
  /// The output files of a frame, counted from 1.
  std::vector<std::string> names(std::int64_t frame, const Detector &detector) const;
  bool allThere(std::int64_t frame, const Detector &detector) const;

  /// Writes all files of a frame; each appears complete. Draws the noise from complete.random. Any
  /// thread may write any frame. Throws io::FileError.
  void write(std::int64_t frame, const RenderedImage &rendered, const CommandLine &line,
             CompleteExperiment &complete, const io::DialsExperiment &description) const;

  /// The name of the image for DIALS, if there is one, without a frame's number.
  std::string imageName() const;
  /// Where a series notes what is finished.
  std::string journalName() const;

private:
  ImageNames imageNames(std::int64_t frame, const Detector &detector) const;

  struct Close {
    void operator()(std::FILE *file) const { std::fclose(file); }
  };
  std::unique_ptr<std::FILE, Close> silent{
      std::fopen("/dev/null", "w")}; ///< takes the text that is not printed
  bool floats, ints, pgm, noise, png, cbf, map;
  OutputOptions outputs;
  int digits = 4;
  bool series; ///< or one image of several lattices
};

} // namespace nanobragg
#endif
