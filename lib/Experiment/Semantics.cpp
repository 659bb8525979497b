#include "lib/Experiment/Semantics.h"

namespace nanobragg {
namespace {

constexpr SemanticSwitch switches[] = {
    {"cell-setting", &Semantics::cellSetting,
     "computes c*z as |c*| V/(a b c sin(gamma*)), which changes the angles of cells with two or "
     "three non-right angles",
     "computes c*z as 1/c: the cell has the angles that were given", "-cell"},
    {"spot-metric", &Semantics::spotMetric,
     "measures the squared spot radius as |dq|^2 in 1/A^2 times (Na Nb Nc)^2, so that the size of "
     "spots depends on the units",
     "measures the squared distance in Miller-index units, each axis times its number of cells",
     "-gauss_xtal -tophat_spots"},
    {"random-misset", &Semantics::randomMisset,
     "takes the largest rotation, 90 degrees, for 90 radians, so that orientations are not uniform",
     "draws orientations uniformly over all rotations", "-misset random"},
    {"mosaic-frame", &Semantics::mosaicFrame,
     "turns mosaic domains about axes of the laboratory, so that they depend on the orientation "
     "and do not turn with the spindle",
     "turns mosaic domains about axes of the crystal, which turn with it", "-mosaic"},
    {"exact-ratios", &Semantics::exactRatios,
     "rounds ratios up with their floating-point error: a crystal of 0.001 mm is 100 or 101 cells "
     "of 100 A long, and 1.1 degrees are 12 steps of 0.1",
     "treats a ratio that differs from a whole number only by rounding errors as that number",
     "-xtalsize -oversample -phistep -hdivstep -vdivstep -detsize"},
    {"interpolation-choice", &Semantics::interpolationChoice,
     "chooses interpolation by the numbers of cells that were given before -xtalsize changes them",
     "chooses interpolation by the final numbers of cells",
     "-xtalsize -interpolate -nointerpolate"},
    {"source-weights", &Semantics::sourceWeights, "ignores the weight column",
     "weights the sources and divides by the sum of weights", "-sourcefile"},
    {"twotheta-ratio", &Semantics::twothetaRatio,
     "measures the distance along the detector's normal before the two-theta swing, which affects "
     "distance and beam centre in the header and automatic oversampling",
     "measures the distance along the detector's normal after all rotations", "-twotheta"},
    {"twotheta-axis", &Semantics::twothetaAxis,
     "does not normalise the axis, so that the swing distorts", "normalises the axis of the swing",
     "-twotheta_axis"},
    {"detector-normal", &Semantics::detectorNormal,
     "replaces a normal whose length is not exactly 1 by fast x slow, whatever its direction",
     "normalises the detector's normal and keeps its direction", "-odet_vector"},
    {"curved-detector", &Semantics::curvedDetector,
     "bends the detector by the lab Y and Z of each pixel, which mirrors or scrambles the image, "
     "and computes solid angles and absorption as for a flat detector",
     "bends the detector into a sphere about the sample: distances along slow and fast from the "
     "spot of the direct beam become arcs of the sphere, and rays meet it at a right angle",
     "-curved_det -detector_thick"},
    {"detector-faces", &Semantics::detectorFaces,
     "counts light on the back of the detector as negative, and lets absorption grow with depth",
     "lets light enter by the face that the sample sees; the sensor lies behind it",
     "-twotheta -detector_rotx -detector_roty -odet_vector --panels"},
    {"layer-spacing", &Semantics::layerSpacing,
     "spaces n layers (two if one is given) by thickness/(n-1), so that they are thicker than the "
     "sensor, and gives each the solid angle of a plane at the distance of the sensor's face",
     "spaces n layers (also one) by thickness/n, and gives each the solid angle of a plane at its "
     "own distance",
     "-detector_thicksteps -oversample_omega"},
    {"layer-capture", &Semantics::layerCapture,
     "multiplies the sum over layers by the fraction absorbed in the last one",
     "weights each layer by its own fraction absorbed", "-detector_thick -detector_abs"},
    {"no-absorption", &Semantics::noAbsorption,
     "ignores a thickness that precedes -detector_abs inf; the image is black if the thickness "
     "follows it, or with -oversample_thick and no thickness",
     "counts every photon where there is no absorption depth or no thickness",
     "-detector_abs -detector_thick -oversample_thick"},
    {"water", &Semantics::water,
     "multiplies the background by the fluence twice and divides it by the number of samples",
     "multiplies the background by the fluence once, whatever the sampling", "-water"},
    {"background-tables", &Semantics::backgroundTables, "reads the tables and does not use them",
     "adds what the material scatters, as the C program's companion nonBragg does",
     "-stol -4stol -Q"},
    {"solid-angle-sum", &Semantics::solidAngleSum,
     "divides the printed sum of solid angles by all samples",
     "divides the printed sum of solid angles by sub-pixels and layers only",
     "-oversample -mosaic_domains -phisteps ..."},
    {"clock-seed", &Semantics::clockSeed,
     "without a seed takes the clock in seconds, so that runs of the same second share their noise "
     "and their random orientation",
     "mixes the clock in nanoseconds, the process and random numbers of the system; the seed is "
     "printed (without a NOTE)",
     "-seed -misset_seed"},
    {"noise-wrap", &Semantics::noiseWrap,
     "lets negative counts on the noise image wrap around to large ones",
     "sets negative counts on the noise image to 0", "-adc"},
    {"header-lookup", &Semantics::headerLookup,
     "reads the last place of an image header where a keyword occurs, even inside a longer "
     "keyword: DISTANCE reads CLOSE_DISTANCE, ORGX reads XDS_ORGX",
     "reads the entry of an image header that has exactly the keyword, and the beam centre by the "
     "convention's own keyword, such as MOSFLM_CENTER_X",
     "-img -mask"},
    {"columns", &Semantics::columns,
     "accepts any number of columns in a line of a source file: two are taken for a direction, and "
     "a sixth is ignored",
     "accepts 3, 4 or 5 columns in a line of a source file", "-sourcefile"},
    {"file-names", &Semantics::fileNames,
     "accepts any name for an output: -floatfile x.npy has no NumPy header, -intfile x.cbf is SMV",
     "writes -floatfile x.npy as a NumPy array, and refuses a name with the extension of another "
     "format",
     "-floatfile -intfile -noisefile -pgmfile"},
    {"flag-prefixes", &Semantics::flagPrefixes,
     "reads -twotheta_axis X Y Z also as -twotheta X, and -misset_seed N followed by two more "
     "words also as -misset with these three numbers",
     "reads a flag only as itself", "-twotheta_axis -misset_seed"},
};

} // namespace

Semantics Semantics::c() {
  Semantics semantics;
  for (const SemanticSwitch &s : switches)
    semantics.*s.rule = Rule::C;
  return semantics;
}

bool Semantics::isC() const {
  Semantics switchesOf = *this;
  switchesOf.noisify = false;
  return switchesOf == c();
}

std::span<const SemanticSwitch> semanticSwitches() { return switches; }

} // namespace nanobragg
