#include "lib/CommandLine/Flag.h"

#include "lib/Experiment/Units.h"

#include <numbers>

namespace nanobragg {
namespace {

/// A table by `factor` times sin(theta)/lambda.
void addBackground(CommandLine &line, std::string_view flag, const Values &v, double factor) {
  line.files.backgrounds.push_back({flag, v.text(), 1e10 / factor, {}});
}

/// Sets it for the table before it on the command line; for all, when it comes before the first.
template <auto field, double (*inSI)(double)>
void setMaterial(CommandLine &line, const Values &v) {
  std::vector<BackgroundFile> &tables = line.files.backgrounds;
  (tables.empty() ? line.files.material : tables.back().material).*field = inSI(v.number());
}

constexpr Idle tablesIgnored{
    [](const CommandLine &line) { return line.semantics.backgroundTables == Rule::C; },
    "the table is read and checked, but with -compat c the background comes from -water alone"};

} // namespace

FlagGroup inputFlags() {
  return groupOf(
      "Input files",
      {
          {.spellings = {"-hkl"},
           .values = "FILE",
           .fallback = "none",
           .help = "structure factors; the format is detected from the content: lines of h k l F "
                   "of the P1 cell; MTZ, CIF or SHELX reflections, expanded to P1 (FILE:COLUMN "
                   "selects a column); or a PDB or CIF model to calculate them from, or several "
                   "with weights (a.pdb:0.7,b.pdb:0.3). Plain or gzip",
           .apply = [](CommandLine &line, const Values &v) { line.files.hkl = v.text(); }},
          {.spellings = {"--hkl-channels"},
           .values = "FILE",
           .fallback = "none",
           .help = "structure factors by energy: lines of eV and a file in a format of -hkl, "
                   "relative to the folder of the list. Each source uses the nearest energy, see "
                   "--channel-weights",
           .apply = [](CommandLine &line, const Values &v) { line.files.hklChannels = v.text(); }},
          {.spellings = {"--channel-weights"},
           .values = "nearest|linear",
           .fallback = "nearest",
           .help =
               "for a source between two energies of --hkl-channels: nearest, the factors of the "
               "nearest energy; linear, interpolated ones",
           .apply =
               [](CommandLine &line, const Values &v) {
                 static constexpr std::string_view kinds[] = {"nearest", "linear"};
                 line.options.betweenChannels = v.choice(kinds) == 1;
               },
           .with = "--hkl-channels"},
          {.spellings = {"--anomalous-atoms"},
           .values = "FILE",
           .fallback = "none",
           .help = "atoms whose f' and f'' are added to the complex structure factors of -hkl: "
                   "lines of label x y z occupancy B, and space_group NAME to generate the others; "
                   "or a PDB or mmCIF model (FILE:SE,ZN selects elements)",
           .apply = [](CommandLine &line,
                       const Values &v) { line.files.anomalousAtoms = v.text(); }},
          {.spellings = {"--anomalous-table"},
           .values = "FILE",
           .fallback = "Cromer and Liberman's",
           .help =
               "f' and f'' of --anomalous-atoms: lines of label eV f' f'', interpolated linearly",
           .apply = [](CommandLine &line,
                       const Values &v) { line.files.anomalousTable = v.text(); }},
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
           .help = "SMV image whose zero pixels are skipped; its header is read as with -img",
           .apply = [](CommandLine &line, const Values &v) { line.files.mask = v.text(); }},
          {.spellings = {"-gain_map"},
           .values = "FILE",
           .fallback = "none",
           .help = "gain of each pixel, by which the image is multiplied: .npy, SMV, or raw 32-bit "
                   "floats of a square detector",
           .apply = [](CommandLine &line, const Values &v) { line.files.gainMap = v.text(); }},
          {.spellings = {"--expt"},
           .values = "FILE[:N]",
           .fallback = "none",
           .help = "experiment of DIALS (.expt): beam, goniometer, scan, crystal and detector of "
                   "any number of panels; N counts from 0. Without N, experiments that share its "
                   "images are lattices on them. Flags override the file",
           .apply = [](CommandLine &line, const Values &v) { line.files.expt = v.text(); }},
          {.spellings = {"--geom"},
           .values = "FILE",
           .fallback = "none",
           .help = "detector geometry of CrystFEL: panels, bad regions, photon energy and camera "
                   "length; if the file refers to an image for these, give -energy and -distance",
           .apply = [](CommandLine &line, const Values &v) { line.files.geometry = v.text(); }},
          {.spellings = {"--spectrum"},
           .values = "FILE",
           .fallback = "none",
           .help = "spectrum of the beam: lines of wavelength (A) or energy (eV) and weight, that "
                   "of an NXmx file, or a shape: flat:FROM,TO; gaussian:ENERGY,WIDTH; "
                   "undulator:FUNDAMENTAL,PERIODS,K,TO; sase:ENERGY,WIDTH,SPIKE,SEED (eV; full "
                   "widths at half maximum in %)",
           .apply = [](CommandLine &line, const Values &v) { line.files.spectrum = v.text(); }},
          {.spellings = {"--efficiency"},
           .values = "FILE",
           .fallback = "all photons count",
           .help =
               "fraction of the photons that is counted: lines of wavelength (A) or energy (eV) "
               "and a number from 0 to 1, the product of filters, windows, air and quantum "
               "efficiency",
           .apply = [](CommandLine &line, const Values &v) { line.files.efficiency = v.text(); }},
          {.spellings = {"--sensor-material"},
           .values = "NAME",
           .fallback = "none",
           .help = "material of the sensor (Si, Ge, Se, GaAs, CdTe, CsI or Gd2O2S), whose "
                   "absorption depends on the energy; replaces -detector_abs",
           .apply = [](CommandLine &line,
                       const Values &v) { line.files.sensorMaterial = v.text(); },
           .with = "-detector_thick"},
          {.spellings = {"-sourcefile"},
           .values = "FILE",
           .fallback = "none",
           .help = "X-ray sources: lines of x y z [weight [wavelength(m)]], x y z from the sample "
                   "to the source",
           .apply = [](CommandLine &line, const Values &v) { line.files.sources = v.text(); }},
          {.spellings = {"-stol"},
           .values = "FILE",
           .fallback = "none",
           .help = "amorphous background: lines of sin(theta)/lambda in 1/A and electrons per "
                   "molecule; or water or air; several add up",
           .apply = [](CommandLine &line, const Values &v) { addBackground(line, "-stol", v, 1); },
           .idle = {&tablesIgnored}},
          {.spellings = {"-4stol"},
           .values = "FILE",
           .fallback = "none",
           .help = "as -stol, with 4 sin(theta)/lambda in the first column",
           .apply = [](CommandLine &line, const Values &v) { addBackground(line, "-4stol", v, 4); },
           .idle = {&tablesIgnored}},
          {.spellings = {"-Q"},
           .values = "FILE",
           .fallback = "none",
           .help = "as -stol, with 4 pi sin(theta)/lambda in the first column",
           .apply = [](CommandLine &line,
                       const Values &v) { addBackground(line, "-Q", v, 4 * std::numbers::pi); },
           .idle = {&tablesIgnored}},
          {.spellings = {"-thickness", "-thick"},
           .values = "THICKNESS",
           .unit = "mm",
           .fallback = "0.1",
           .help = "thickness of the background material along the beam; applies to the preceding "
                   "-stol, or to all if given before the first",
           .range = Range::notNegative(),
           .apply = setMaterial<&MaterialOptions::thickness, units::fromMillimetres>,
           .with = "-stol -4stol -Q"},
          {.spellings = {"-density", "-sample_den", "-sample_density"},
           .values = "RHO",
           .unit = "g/cm3",
           .fallback = "1; air 0.0012",
           .help = "density of the background material; applies as -thickness",
           .range = Range::notNegative(),
           .apply = setMaterial<&MaterialOptions::density, units::fromGramsPerCubicCentimetre>,
           .with = "-stol -4stol -Q"},
          {.spellings = {"-MW", "-molec", "-molecular_weight"},
           .values = "WEIGHT",
           .unit = "g/mol",
           .fallback = "18; air 28",
           .help = "molecular weight of the background material; applies as -thickness",
           .range = Range::positive(),
           .apply = setMaterial<&MaterialOptions::molarMass, units::fromGrams>,
           .with = "-stol -4stol -Q"},
          {.spellings = {"-stolout"},
           .values = "FILE",
           .fallback = "none",
           .help = "never written; without effect",
           .apply = [](CommandLine &, const Values &) {},
           .idle = {&idle::always}},
      },
      modelQuantities());
}

} // namespace nanobragg
