// The command line of nb-sim as a structure.
//
//   CommandLine line = parseCommandLine(words);       // flags only; throws UsageError
//   LoadedInputs loaded = loadInputs(requestOf(line)); // lib/Inputs reads the named files
//   CompleteExperiment run = completeExperiment(line, loaded);
//
// The flags themselves stand in one table (Flag.h), which parsing, usage text and the flag
// reference share.
#ifndef NANOBRAGG_COMMANDLINE_COMMANDLINE_H
#define NANOBRAGG_COMMANDLINE_COMMANDLINE_H

#include "lib/Experiment/Options.h"
#include "lib/Experiment/Semantics.h"
#include "lib/Inputs/InputFiles.h"
#include "lib/Noise/NoiseModel.h"
#include "lib/Program/CompileRequest.h"
#include "lib/Quantities/UsageError.h"
#include "nanobragg/Run.h"
#include "nanobragg/SimulatorOptions.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace nanobragg {

/// The user's choices for the noise image; where unset, -compat decides.
struct CountingOptions {
  std::optional<NoiseGenerator> generator;
  std::optional<DetectorOrder> order;
  std::optional<double> calibration;
  double flicker = 0, readOut = 0, deadPixels = 0, hotPixels = 0;
  std::optional<std::int64_t> calibrationSeed;
  std::int64_t shot = 0;
  int bits = 16;
  std::optional<double> overload;
};

struct OutputOptions {
  std::string floatFile = "floatimage.bin";
  std::string intFile = "intimage.img";
  std::string pgmFile = "image.pgm";
  std::string noiseFile = "noiseimage.img";
  bool pgm = true, noise = true;
  std::optional<std::string> pngFile;
  bool pngRings = false; ///< with a scale bar
  bool nexusBitshuffle = false;
  std::optional<std::string> cbfFile, nexusFile, exptFile, reflFile, reflectionsFile, streamFile,
      shotsFile, mtzFile, mapFile;
  std::optional<std::string> dumpFile; ///< write the structure factors here (-dump with -hkl)
  double intScale = 0, pgmScale = 0;   ///< <= 0: automatic
  CountingOptions counting;
};

/// One of several processes that make a series without knowing of each other: every `count`-th
/// image from number `index` on, both counted from 0.
struct Shard {
  std::int64_t index = 0, count = 1;
};

/// Many images from one run.
struct SeriesOptions {
  std::optional<std::int64_t> frames;  ///< 0: as many as the scan of --expt has
  std::optional<double> oscPerFrame;   ///< degrees
  std::optional<std::string> shots;    ///< table, or experiments of DIALS
  std::optional<std::string> lattices; ///< table of the crystals that all images show
  bool resume = false;
  std::optional<Shard> shard;
  std::optional<int> deal; ///< the socket on which a shard asks for its images; unset: every N-th

  bool any() const { return frames || shots; }
};

enum class Emit { Nothing, Nb, Mlir, Llvm, Asm, Stats, Pipeline };

/// The data and the kind of --loss.
struct LossOptions {
  enum class Kind { Sum, ChiSquare, Poisson, Gauss };
  Kind kind = Kind::Sum;
  std::optional<std::string> data;       ///< an image
  std::optional<std::string> sigma;      ///< a number, "poisson" or an image; unset: 1
  std::optional<std::string> mask;       ///< an SMV image, 0 where a pixel does not count
  std::optional<std::string> background; ///< for Poisson and Gauss: a number or an image; unset: 0
  std::optional<double> readOut;         ///< for Gauss, in units of the image; unset: 0
};

struct ToolOptions {
  // These print on standard output and end the run; nothing else on the line is looked at.
  bool help = false, version = false, listFlags = false, doctor = false;
  std::string helpWord;        ///< help shows only flags that it occurs in; empty: all
  bool check = false;          ///< print what the run would do
  bool listParameters = false; ///< list the parameters of the kernel that this command line needs

  SimulatorOptions simulator; ///< engine, device and threads
  bool quiet = false;
  bool progress = true; ///< off with -printout, as in the C program
  bool printout = false;
  std::optional<std::array<std::int64_t, 2>> printoutPixel; ///< fast, slow; unset: all pixels
  Emit emit = Emit::Nothing;
  Until until; ///< for Emit::Mlir
  std::optional<std::string> timingFile, traceFile;
  bool profile = false;    ///< print in which lines of the program kernels spend their time
  Instruments instruments; ///< `json` is of gradients, too
  std::optional<PixelIndex> tracePixel;
  // These render on both engines, print how far they are apart and end the run.
  bool compareEngines = false;
  ComparisonOptions comparison;
  // These print or write derivatives and end the run. Names of parameters and groups.
  std::optional<std::string> gradient, jacobian;
  LossOptions loss;
  std::optional<std::string> outDirectory; ///< for derivative images
};

/// A flag as it was given, in the order of the command line.
struct GivenFlag {
  std::string name;                ///< the first spelling in the flag table
  std::string spelling;            ///< as the user wrote it
  std::vector<std::string> values; ///< the words that were taken as its values
};

struct CommandLine {
  Options options;
  InputFiles files;
  OutputOptions outputs;
  SeriesOptions series;
  ToolOptions tool;
  Semantics semantics;
  std::vector<GivenFlag> given;
  std::vector<std::string> warnings; ///< one sentence each
  std::vector<std::string> notices;  ///< semantic switches that matter here
};

/// How photons become counts in this run.
NoiseModel noiseModel(const CommandLine &line);

/// Whether a flag was given, by its name in the flag table.
bool isGiven(const CommandLine &line, std::string_view name);

/// Throws UsageError for a word that is not a flag of nb-sim. It names the closest flag, also among
/// those that a tool has besides.
void requireKnownFlag(const std::string &word, const std::vector<std::string_view> &ownFlags);

/// Parses the words after the program's name; reads no file. They change what `said` says already.
/// Throws UsageError.
CommandLine parseCommandLine(const std::vector<std::string> &words, const CommandLine &said = {});

/// Complete and grouped, with units and defaults.
std::string usageText();
/// The flags and environment variables in whose names, descriptions or groups' titles the word
/// occurs, in any case of its letters. Throws UsageError when there is none.
std::string usageOf(const std::string &word);
/// The same as a Markdown page.
std::string flagReference();
/// Whether the description of a flag contains this word, of three letters or more, in any case.
bool isInHelp(std::string_view word);

} // namespace nanobragg
#endif
