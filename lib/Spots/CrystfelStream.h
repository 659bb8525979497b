// Streams of CrystFEL.
#ifndef NANOBRAGG_SPOTS_CRYSTFELSTREAM_H
#define NANOBRAGG_SPOTS_CRYSTFELSTREAM_H

#include "lib/Files/OutputFile.h"
#include "lib/Formats/DialsExperiment.h"
#include "lib/Spots/Spot.h"

#include <string>
#include <vector>

namespace nanobragg {

struct StreamCrystal {
  io::DialsExperiment model; ///< the experiment as in predictSpots
  std::vector<Spot> spots;
};

/// One image of a stream, "chunk".
struct StreamImage {
  std::string file, event; ///< the event is empty where the file is one image
  std::int64_t serial = 1;
  SpotSize size;
  std::vector<StreamCrystal> crystals; ///< at least one
};

/// Writes a stream of format 2.3 with the geometry of the images' detector, its panels below one
/// another in frames of `frameSlow` rows. `data`: where an HDF5 file of images has them, as
/// [image][row][fast]; empty: each image is a file. `indexer`: CrystFEL's name of an indexing
/// method. CrystFEL's laboratory has z along the beam and y up.
class CrystfelStream {
public:
  CrystfelStream(io::OutputFile &out, std::int64_t frameSlow, std::string data, std::string indexer)
      : out(out), frameSlow(frameSlow), data(std::move(data)), indexer(std::move(indexer)) {}
  void begin(const io::DialsExperiment &first);
  void add(const StreamImage &image);

private:
  io::OutputFile &out;
  std::int64_t frameSlow;
  std::string data, indexer;
};

} // namespace nanobragg
#endif
