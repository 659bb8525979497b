#include "lib/CommandLine/Flag.h"

namespace nanobragg {

FlagGroup inputFlags() {
  return {
      "Input files",
      {
          {.spellings = {"-hkl"},
           .values = "FILE",
           .fallback = "none",
           .help = "structure factors of the P1 cell: lines of h k l F, plain or gzip",
           .apply = [](CommandLine &line, const Values &v) { line.files.hkl = v.text(); }},
          {.spellings = {"-dump"},
           .values = "FILE",
           .fallback = "none",
           .help = "binary structure factors: read without -hkl, written with it",
           .apply = [](CommandLine &line, const Values &v) { line.files.dump = v.text(); }},
          {.spellings = {"-img"},
           .values = "FILE",
           .fallback = "none",
           .help = "SMV image whose header sets camera and rotation; other flags override it",
           .apply = [](CommandLine &line, const Values &v) { line.files.image = v.text(); }},
          {.spellings = {"-mask"},
           .values = "FILE",
           .fallback = "none",
           .help = "SMV image whose zero pixels are skipped; its header counts as with -img",
           .apply = [](CommandLine &line, const Values &v) { line.files.mask = v.text(); }},
          {.spellings = {"-gain_map"},
           .values = "FILE",
           .fallback = "none",
           .help = "gain of each pixel, by which the image is multiplied: .npy, SMV, or raw 32-bit "
                   "floats of a square detector",
           .apply = [](CommandLine &line, const Values &v) { line.files.gainMap = v.text(); }},
          {.spellings = {"-sourcefile"},
           .values = "FILE",
           .fallback = "none",
           .help =
               "X-ray sources: lines of x y z [weight [wavelength(m)]], x y z from the sample to "
               "the source",
           .apply = [](CommandLine &line, const Values &v) { line.files.sources = v.text(); }},
          {.spellings = {"-stol"},
           .values = "FILE",
           .fallback = "none",
           .help = "background by sin(theta)/lambda; read and checked, without effect",
           .apply = [](CommandLine &line, const Values &v) { line.files.stol = v.text(); }},
          {.spellings = {"-4stol"},
           .values = "FILE",
           .fallback = "none",
           .help = "the same by 4 sin(theta)/lambda; without effect",
           .apply = [](CommandLine &line, const Values &v) { line.files.stol4 = v.text(); }},
          {.spellings = {"-Q"},
           .values = "FILE",
           .fallback = "none",
           .help = "the same by 4 pi sin(theta)/lambda; without effect",
           .apply = [](CommandLine &line, const Values &v) { line.files.q = v.text(); }},
          {.spellings = {"-stolout"},
           .values = "FILE",
           .fallback = "none",
           .help = "never written; without effect",
           .apply = [](CommandLine &, const Values &) {}},
      }};
}

} // namespace nanobragg
