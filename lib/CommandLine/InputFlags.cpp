#include "lib/CommandLine/Flag.h"

namespace nanobragg {

FlagGroup inputFlags() {
  return {
      "Inputs",
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
          {.spellings = {"-default_F"},
           .values = "F",
           .unit = "electrons",
           .fallback = "0",
           .help = "structure factor of every reflection that no file gives",
           .apply = [](CommandLine &line, const Values &v) { line.options.defaultF = v.number(); }},
          {.spellings = {"-mat", "-matrix"},
           .values = "FILE",
           .fallback = "none",
           .help = "MOSFLM orientation matrix: nine numbers, columns a* b* c*, times wavelength/A",
           .apply = [](CommandLine &line, const Values &v) { line.files.matrix = v.text(); }},
          {.spellings = {"-cell"},
           .values = "A [B C ALPHA BETA GAMMA]",
           .unit = "A and degrees",
           .fallback = "none; b and c as a, angles 90",
           .help = "unit cell; with -mat its lengths and volume replace the matrix's",
           .range = Range::notNegative(),
           .apply =
               [](CommandLine &line, const Values &v) {
                 std::array<double, 6> cell{};
                 for (std::size_t i = 0; i < v.size(); ++i)
                   cell[i] = v.number(i);
                 if (cell[0] == 0)
                   v.refuse("the edge a must be greater than 0 A");
                 for (std::size_t i = 3; i < 6; ++i)
                   if (cell[i] >= 180)
                     v.refuse(v.text(i) + " degrees is out of range; angles must be less than 180");
                 line.options.cell = cell;
               }},
          {.spellings = {"-misset"},
           .values = "X Y Z",
           .unit = "degrees",
           .fallback = "none",
           .help = "turn the crystal about lab X, then Y, then Z; the one word random: a random "
                   "orientation",
           .alone = [](std::string_view word) { return word.find("rand") != word.npos; },
           .apply =
               [](CommandLine &line, const Values &v) {
                 line.options.missetRandom = v.size() == 1;
                 if (v.size() == 3)
                   line.options.misset = Vec3{v.number(0), v.number(1), v.number(2)};
               }},
          {.spellings = {"-misset_seed"},
           .values = "N",
           .fallback = "the clock",
           .help = "random-number seed of -misset random",
           .range = Range::between(-2147483647, 2147483647),
           .apply =
               [](CommandLine &line, const Values &v) {
                 line.options.missetSeed = v.integer();
                 // The C program takes the word for -misset too, whatever the next two words are.
                 if (line.semantics.flagPrefixes != Rule::C || v.following().size() < 3)
                   return;
                 line.options.misset = Vec3{v.number(), leadingNumber(v.following()[1]),
                                            leadingNumber(v.following()[2])};
                 line.options.missetRandom = false;
                 line.warnings.push_back("-misset_seed also sets -misset, as in the C program; put "
                                         "it before -misset, or last");
               }},
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
          {.spellings = {"-sourcefile"},
           .values = "FILE",
           .fallback = "none",
           .help = "X-ray sources: lines of x y z weight wavelength(m)",
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
