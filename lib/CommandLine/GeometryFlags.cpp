#include "lib/CommandLine/Flag.h"

#include "lib/IO/TextScanner.h"

namespace nanobragg {
namespace {

/// The convention switches set the pivot when they are read. It only counts for a custom
/// convention, where the last flag that sets it wins: so a later vector keeps a pivot set here.
template <Convention convention, Pivot pivot>
void setConvention(CommandLine &line, const Values &) {
  line.options.convention = convention;
  line.options.pivot = pivot;
}

template <std::optional<Vec3> Options::*vector>
void setVector(CommandLine &line, const Values &v) {
  line.options.convention = Convention::Custom;
  line.options.*vector = v.direction();
}

template <std::optional<double> Options::*field, Pivot pivot>
void setWithPivot(CommandLine &line, const Values &v) {
  line.options.*field = v.number();
  line.options.pivot = pivot;
}

} // namespace

FlagGroup geometryFlags() {
  return {
      "Geometry: conventions, beam centre, vectors",
      {
          {.spellings = {"-mosflm"},
           .fallback = "on",
           .help = "MOSFLM's convention: beam along X, pivot about the beam spot",
           .apply = setConvention<Convention::Mosflm, Pivot::Beam>},
          {.spellings = {"-denzo"},
           .fallback = "off",
           .help = "as -mosflm, beam centre without its half pixel",
           .apply = setConvention<Convention::Denzo, Pivot::Beam>},
          {.spellings = {"-adxv"},
           .fallback = "off",
           .help = "ADXV's convention: beam along Z, Y of the beam centre from the bottom",
           .apply = setConvention<Convention::Adxv, Pivot::Beam>},
          {.spellings = {"-xds"},
           .fallback = "off",
           .help = "XDS' convention: beam along Z, pivot about the sample, origin by -ORGX -ORGY",
           .apply = setConvention<Convention::Xds, Pivot::Sample>},
          {.spellings = {"-dials"},
           .fallback = "off",
           .help = "as -xds, spindle and polarization along Y",
           .apply = setConvention<Convention::Dials, Pivot::Beam>},
          {.spellings = {"-Xbeam"},
           .values = "X",
           .unit = "mm",
           .fallback = "the centre",
           .help =
               "direct beam (not -xds, -dials); slow coordinate with -mosflm, -denzo, else fast",
           .apply = setWithPivot<&Options::xBeam, Pivot::Beam>},
          {.spellings = {"-Ybeam"},
           .values = "Y",
           .unit = "mm",
           .fallback = "the centre",
           .help =
               "direct beam (not -xds, -dials); fast coordinate with -mosflm, -denzo, else slow",
           .apply = setWithPivot<&Options::yBeam, Pivot::Beam>},
          {.spellings = {"-Xclose"},
           .values = "X",
           .unit = "mm",
           .fallback = "the centre",
           .help = "point nearest to the sample, fast; only with vectors",
           .apply = setWithPivot<&Options::xClose, Pivot::Sample>},
          {.spellings = {"-Yclose"},
           .values = "Y",
           .unit = "mm",
           .fallback = "the centre",
           .help = "point nearest to the sample, slow; only with vectors",
           .apply = setWithPivot<&Options::yClose, Pivot::Sample>},
          {.spellings = {"-ORGX"},
           .values = "X",
           .unit = "pixels",
           .fallback = "the centre",
           .help =
               "point nearest to the sample, fast, first pixel's centre = 1; -xds, -dials, vectors",
           .apply = setWithPivot<&Options::orgX, Pivot::Sample>},
          {.spellings = {"-ORGY"},
           .values = "Y",
           .unit = "pixels",
           .fallback = "the centre",
           .help = "point nearest to the sample, slow; -xds, -dials, vectors",
           .apply = setWithPivot<&Options::orgY, Pivot::Sample>},
          {.spellings = {"-pivot"},
           .values = "sample|beam",
           .fallback = "by convention",
           .help = "what detector rotations keep in place; only with vectors, last such flag wins",
           .apply =
               [](CommandLine &line, const Values &v) {
                 if (v.text().find("sample") != std::string::npos)
                   line.options.pivot = Pivot::Sample;
                 else if (v.text().find("beam") != std::string::npos)
                   line.options.pivot = Pivot::Beam;
                 else
                   v.refuse(io::quoted(v.text()) +
                            " is not one of its values; give sample or beam");
               }},
          {.spellings = {"-fdet_vector"},
           .values = "X Y Z",
           .fallback = "0 0 1",
           .help = "direction of increasing fast pixels; selects the custom convention",
           .apply = setVector<&Options::fastAxis>},
          {.spellings = {"-sdet_vector"},
           .values = "X Y Z",
           .fallback = "0 -1 0",
           .help = "direction of increasing slow pixels; selects the custom convention",
           .apply = setVector<&Options::slowAxis>},
          {.spellings = {"-odet_vector"},
           .values = "X Y Z",
           .fallback = "1 0 0",
           .help = "direction of increasing distance; selects the custom convention",
           .apply = setVector<&Options::normalAxis>},
          {.spellings = {"-beam_vector"},
           .values = "X Y Z",
           .fallback = "1 0 0",
           .help = "direction of the beam; selects the custom convention",
           .apply = setVector<&Options::beamVector>},
          {.spellings = {"-polar_vector"},
           .values = "X Y Z",
           .fallback = "0 0 1",
           .help = "direction of polarization; selects the custom convention",
           .apply = setVector<&Options::polarVector>},
          {.spellings = {"-spindle_axis"},
           .values = "X Y Z",
           .fallback = "0 0 1",
           .help = "axis of the rotation, right-handed; selects the custom convention",
           .apply = setVector<&Options::spindleAxis>},
          {.spellings = {"-twotheta_axis"},
           .values = "X Y Z",
           .fallback = "0 1 0",
           .help = "axis of -twotheta; selects the custom convention",
           .apply =
               [](CommandLine &line, const Values &v) {
                 setVector<&Options::twothetaAxis>(line, v);
                 // The C program takes the word for -twotheta too.
                 if (line.semantics.flagPrefixes != Rule::C)
                   return;
                 line.options.twotheta = v.number();
                 line.options.pivot = Pivot::Sample;
                 line.warnings.push_back("-twotheta_axis also sets -twotheta, as in the C program; "
                                         "put -twotheta after it");
               }},
          {.spellings = {"-pix0_vector"},
           .values = "X Y Z",
           .unit = "m",
           .fallback = "from beam centre and distance",
           .help = "selects the custom convention; the values are without effect",
           .apply =
               [](CommandLine &line, const Values &v) {
                 line.options.convention = Convention::Custom;
                 line.options.pix0 = Vec3{v.number(0), v.number(1), v.number(2)};
               }},
          {.spellings = {"-twotheta"},
           .values = "ANGLE",
           .unit = "degrees",
           .fallback = "0",
           .help = "detector swing",
           .apply = setWithPivot<&Options::twotheta, Pivot::Sample>},
          {.spellings = {"-detector_rotx"},
           .values = "ANGLE",
           .unit = "degrees",
           .fallback = "0",
           .help = "detector rotation about lab X, the first of three",
           .apply = [](CommandLine &line, const Values &v) { line.options.rotX = v.number(); }},
          {.spellings = {"-detector_roty"},
           .values = "ANGLE",
           .unit = "degrees",
           .fallback = "0",
           .help = "detector rotation about lab Y, the second",
           .apply = [](CommandLine &line, const Values &v) { line.options.rotY = v.number(); }},
          {.spellings = {"-detector_rotz"},
           .values = "ANGLE",
           .unit = "degrees",
           .fallback = "0",
           .help = "detector rotation about lab Z, the third",
           .apply = [](CommandLine &line, const Values &v) { line.options.rotZ = v.number(); }},
      }};
}

} // namespace nanobragg
