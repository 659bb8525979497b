// NXmx: images in HDF5.
#ifndef NANOBRAGG_FORMATS_NEXUSFILE_H
#define NANOBRAGG_FORMATS_NEXUSFILE_H

#include "lib/Formats/DialsExperiment.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace nanobragg::io {

/// Frames of a series that are in a file of their own, at their own places.
struct NexusPart {
  std::string file; ///< relative to the folder of the file that shows it
  std::vector<std::size_t> frames;
};

struct NexusOptions {
  std::size_t frames = 1;
  bool resume = false;     ///< go on with a file that is there
  bool complete = false;   ///< the file appears at the end; else as soon as it can be read
  bool stills = false;     ///< no scan
  bool floats = false;     ///< 32-bit floats, else 32-bit integers
  bool bitshuffle = false; ///< bitshuffle and LZ4 by HDF5's plugin, else shuffled and deflated
  std::size_t frameFast = 0, frameSlow = 0; ///< the frame; each panel lies in its corner
  std::vector<std::uint8_t> mask{};         ///< [panel][slow][fast], 0: masked; empty: none
  std::string bytes{}; ///< where a file is made whose own name it gets later; empty: at that
  /// A virtual data set over these. Frames of none are -1 (integers) or not a number (floats).
  std::vector<NexusPart> parts{};
};

/// A file that gets its frames one by one, in any order and from any thread. Written frames are
/// readable should the process die.
class NexusWriter {
public:
  virtual ~NexusWriter() = default;
  /// Pixels of 4 bytes, [panel][slow][fast] of equal frames. Compresses on the calling thread.
  virtual void write(std::size_t frame, std::span<const std::byte> pixels) = 0;
  virtual bool isDone(std::size_t frame) const = 0;
  virtual void finish() = 0;
};

/// Throws FileError, also where another run writes the file; a writer throws it as soon as the file
/// has lost its name. The beam is turned to -z where it is not along it: NXmx has no other.
std::unique_ptr<NexusWriter> openNexus(const std::string &path, const DialsExperiment &experiment,
                                       const NexusOptions &options);

/// Does HDF5 find a plugin for bitshuffle and LZ4? Without, NexusOptions::bitshuffle is refused.
bool canBitshuffle();

bool isHdf5(std::string_view bytes);

/// One frame: panels of equal frames as in the file's slab.
struct NexusImage {
  std::size_t slow = 0, fast = 0;
  double undefined = 0;       ///< pixels of this number are none; infinite: the type has no such
  std::vector<double> pixels; ///< the pixels of the frame that was asked for
};
/// Throws FileError.
NexusImage readNexus(const std::string &path, std::size_t frame);

/// Wavelength (A) and weight of each point; empty: the file has no spectrum. `shot`: where it has
/// spectra of several.
std::vector<std::array<double, 2>> readNexusSpectrum(const std::string &path,
                                                     std::optional<std::size_t> shot = {});

/// All numbers of a data set, by rows.
struct NumberBlock {
  std::vector<std::size_t> size;
  std::vector<double> values;
};
/// The data set `name`. Throws FileError.
NumberBlock readHdf5Numbers(const std::string &path, const std::string &name);

/// Groups and small data sets of a file as JSON, links followed: an object of "attributes" and
/// "members" for a group; of "attributes", "size" and, up to 64 numbers or a text, "value" for a
/// data set; of "error" where something cannot be read. Without the members of NXdata, NXcollection
/// and detectorSpecific. Throws FileError.
std::string readHdf5Tree(const std::string &path);

/// The functions of libnb-hdf5.so. False: the last argument says what is wrong.
struct Hdf5Module {
  const char *version;
  bool (*hasBitshuffle)();
  bool (*open)(const std::string &, const DialsExperiment &, const NexusOptions &, NexusWriter *&,
               std::string &);
  bool (*write)(NexusWriter &, std::size_t, std::span<const std::byte>, std::string &);
  bool (*isDone)(const NexusWriter &, std::size_t);
  bool (*finish)(NexusWriter &, std::string &);
  void (*close)(NexusWriter *);
  bool (*read)(const std::string &, std::size_t, NexusImage &, std::string &);
  bool (*spectrum)(const std::string &, std::optional<std::size_t>,
                   std::vector<std::array<double, 2>> &, std::string &);
  bool (*numbers)(const std::string &, const std::string &, NumberBlock &, std::string &);
  bool (*tree)(const std::string &, std::string &, std::string &);
};

} // namespace nanobragg::io
#endif
