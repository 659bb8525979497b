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
           .help = "structure factors; the format is detected from the content: lines of h k l F "
                   "of the P1 cell; MTZ, CIF or SHELX reflections, expanded to P1 (FILE:COLUMN "
                   "selects a column); or a PDB or CIF model to calculate them from, or several "
                   "with weights (a.pdb:0.7,b.pdb:0.3). Plain or gzip",
           .apply = stores<&CommandLine::files, &InputFiles::hkl>},
          {.spellings = {"--hkl-channels"},
           .values = "FILE",
           .help = "structure factors by energy: lines of eV and a file in a format of -hkl, "
                   "relative to the folder of the list. Each source uses the nearest energy, see "
                   "--channel-weights",
           .apply = stores<&CommandLine::files, &InputFiles::hklChannels>},
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
           .help = "atoms whose f' and f'' are added to the complex structure factors of -hkl: "
                   "lines of label x y z occupancy B, and space_group NAME to generate the others; "
                   "or a PDB or mmCIF model (FILE:SE,ZN selects elements)",
           .apply = stores<&CommandLine::files, &InputFiles::anomalousAtoms>},
          {.spellings = {"--anomalous-table"},
           .values = "FILE",
           .fallback = "Cromer and Liberman's",
           .help =
               "f' and f'' of --anomalous-atoms: lines of label eV f' f'', interpolated linearly",
           .apply = stores<&CommandLine::files, &InputFiles::anomalousTable>},
          {.spellings = {"-dump"},
           .values = "FILE",
           .help = "binary structure factors: read without -hkl, written with it",
           .apply = stores<&CommandLine::files, &InputFiles::dump>},
          {.spellings = {"-img"},
           .values = "FILE",
           .help = "SMV image whose header sets camera and rotation; other flags override it",
           .apply = stores<&CommandLine::files, &InputFiles::image>},
          {.spellings = {"-mask"},
           .values = "FILE",
           .help = "SMV image whose zero pixels are skipped; its header is read as with -img",
           .apply = stores<&CommandLine::files, &InputFiles::mask>},
          {.spellings = {"-gain_map"},
           .values = "FILE",
           .help = "gain of each pixel, by which the image is multiplied: .npy, SMV, or raw 32-bit "
                   "floats of a square detector",
           .apply = stores<&CommandLine::files, &InputFiles::gainMap>},
          {.spellings = {"--expt"},
           .values = "FILE[:N]",
           .help = "experiment of DIALS (.expt): beam, goniometer, scan, crystal and detector of "
                   "any number of panels; N counts from 0. Without N, experiments that share its "
                   "images are lattices on them. Flags override the file",
           .apply = stores<&CommandLine::files, &InputFiles::expt>},
          {.spellings = {"--geom"},
           .values = "FILE",
           .help = "detector geometry of CrystFEL: panels, bad regions, photon energy and camera "
                   "length; if the file refers to an image for these, give -energy and -distance",
           .apply = stores<&CommandLine::files, &InputFiles::geometry>},
          {.spellings = {"--spectrum"},
           .values = "FILE",
           .help = "spectrum of the beam: lines of wavelength (A) or energy (eV) and weight, that "
                   "of an NXmx file, or a shape: flat:FROM,TO; gaussian:ENERGY,WIDTH; "
                   "undulator:FUNDAMENTAL,PERIODS,K,TO; sase:ENERGY,WIDTH,SPIKE,SEED (eV; full "
                   "widths at half maximum in %)",
           .apply = stores<&CommandLine::files, &InputFiles::spectrum>},
          {.spellings = {"--efficiency"},
           .values = "FILE",
           .fallback = "all photons count",
           .help =
               "fraction of the photons that is counted: lines of wavelength (A) or energy (eV) "
               "and a number from 0 to 1, the product of filters, windows, air and quantum "
               "efficiency",
           .apply = stores<&CommandLine::files, &InputFiles::efficiency>},
          {.spellings = {"--sensor-material"},
           .values = "NAME",
           .help = "material of the sensor (Si, Ge, Se, GaAs, CdTe, CsI or Gd2O2S), whose "
                   "absorption depends on the energy; replaces -detector_abs",
           .apply = stores<&CommandLine::files, &InputFiles::sensorMaterial>,
           .with = "-detector_thick"},
          {.spellings = {"-sourcefile"},
           .values = "FILE",
           .help = "X-ray sources: lines of x y z [weight [wavelength(m)]], x y z from the sample "
                   "to the source",
           .apply = stores<&CommandLine::files, &InputFiles::sources>},
          {.spellings = {"-stol"},
           .values = "FILE",
           .help = "amorphous background: lines of sin(theta)/lambda in 1/A and electrons per "
                   "molecule; or water or air; several add up",
           .apply = [](CommandLine &line, const Values &v) { addBackground(line, "-stol", v, 1); },
           .idle = {&tablesIgnored}},
          {.spellings = {"-4stol"},
           .values = "FILE",
           .help = "as -stol, with 4 sin(theta)/lambda in the first column",
           .apply = [](CommandLine &line, const Values &v) { addBackground(line, "-4stol", v, 4); },
           .idle = {&tablesIgnored}},
          {.spellings = {"-Q"},
           .values = "FILE",
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
           .help = "never written; without effect",
           .apply = [](CommandLine &, const Values &) {},
           .idle = {&idle::always}},
      },
      modelQuantities());
}

} // namespace nanobragg
