#include "lib/CommandLine/Flag.h"

#include "lib/Files/TextScanner.h"

#include <algorithm>
#include <charconv>

namespace nanobragg {
namespace {

Shard shardOf(const Values &v) {
  Shard shard;
  const std::string &text = v.text();
  const std::size_t slash = std::min(text.find('/'), text.size());
  const auto number = [&](std::size_t from, std::size_t to, std::int64_t &value) {
    const char *begin = text.data() + std::min(from, to), *end = text.data() + to;
    const auto [stop, error] = std::from_chars(begin, end, value);
    return error == std::errc() && stop == end;
  };
  if (!number(0, slash, shard.index) || !number(slash + 1, text.size(), shard.count))
    v.refuse(
        io::inQuotes(text) +
        " is not I/N with two whole numbers; the shards of four are --shard=0/4 to --shard=3/4");
  if (shard.count < 1 || shard.index < 0 || shard.index >= shard.count) {
    const std::int64_t shards = shard.count < 1 ? 4 : shard.count;
    const std::string of = "/" + std::to_string(shards);
    v.refuse(io::inQuotes(text) + " is not a shard: they count from 0; the shards of " +
             std::to_string(shards) + " are --shard=0" + of +
             " to --shard=" + std::to_string(shards - 1) + of);
  }
  return shard;
}

} // namespace

FlagGroup spindleFlags() {
  return groupOf(
      "Spindle", {}, goniometerQuantities(),
      {
          {.spellings = {"--frames"},
           .values = "N|scan",
           .fallback = "one image",
           .help =
               "a series: N images, or with scan all images of the scan of --expt. The rotation "
               "continues from frame to frame, files are numbered (NAME_0001.img), and each "
               "image has its own noise (with --noise=serial the seed increases by 1). Only "
               "files named by flags are written; without such a flag, noise images",
           .apply =
               [](CommandLine &line, const Values &v) {
                 if (v.text() == "scan") {
                   line.series.frames = 0;
                   return;
                 }
                 line.series.frames = v.integer();
                 if (*line.series.frames < 1 || *line.series.frames > 10000000)
                   v.refuse("a series has at least 1 image and at most 10000000");
               }},
          {.spellings = {"--osc-per-frame"},
           .values = "RANGE",
           .unit = "degrees",
           .fallback = "-osc",
           .help = "rotation range of each frame of --frames",
           .range = Range::notNegative(),
           .apply = stores<&CommandLine::series, &SeriesOptions::oscPerFrame>,
           .with = "--frames"},
          {.spellings = {"--shots"},
           .values = "FILE",
           .help = "stills: one image per line of a table, or per image of an .expt. The first "
                   "line of the table names flags (misset cell fluence seed ...), and the other "
                   "lines contain their values",
           .apply = stores<&CommandLine::series, &SeriesOptions::shots>},
          {.spellings = {"--lattices"},
           .values = "FILE",
           .fallback = "one crystal",
           .help =
               "several crystals on the image, or on the images of --frames: a table like that of "
               "--shots, with a line per crystal. More columns: weight; turn, a rotation vector "
               "in degrees about lab x, y and z, relative to the run's orientation; from and to, "
               "the range of the spindle in degrees in which the crystal is present",
           .apply = stores<&CommandLine::series, &SeriesOptions::lattices>},
          {.spellings = {"--resume"},
           .help = "continue an interrupted series: complete frames are kept",
           .apply = stores<&CommandLine::series, &SeriesOptions::resume>,
           .with = "--frames --shots"},
          {.spellings = {"--shard"},
           .values = "I/N",
           .fallback = "all images",
           .help = "render every N-th image of a series from the I-th on, I from 0 to N-1, as one "
                   "task of a job array; each writes its own HDF5 file, and --nexus is a virtual "
                   "data set over them",
           .apply = [](CommandLine &line, const Values &v) { line.series.shard = shardOf(v); },
           .with = "--frames --shots"},
          {.spellings = {"--deal"},
           .values = "FD",
           .fallback = "every N-th image",
           .help = "with --shard, for programs that start the shards: an open socket on which this "
                   "shard asks for its next block of images. It sends a byte and reads a line "
                   "with the number of the block. Blocks count from 0 over all shards; a number "
                   "beyond the last block ends the shard",
           .range = Range::between(0, 1e6),
           .apply = [](CommandLine &line, const Values &v) { line.series.deal = int(v.integer()); },
           .with = "--shard"},
      });
}

} // namespace nanobragg
