#include "lib/Quantities/QuantityRows.h"

#include <cmath>

namespace nanobragg {

std::string zeroVector(std::span<const double> v) {
  return v[0] == 0 && v[1] == 0 && v[2] == 0
             ? "0 0 0 is not a direction; give a vector that is not zero"
             : "";
}

namespace {

constexpr double mostPixels = 1e6;
constexpr Range depths{0, Range::noBound, true, true, true};
constexpr UsualValues detectorSize{0.5, 1e4, 10, 3e3}, detectorDistance{1, 5e4, 10, 5e3},
    onAxis{0, 2e4, 0, 3e3}, turn{0, 360, 0, 180, true};

std::string emptyRegion(std::span<const double> roi) {
  for (std::size_t i = 0; i < 4; i += 2)
    if (roi[i + 1] >= 0 && roi[i] > roi[i + 1])
      return "the range " + numberText(roi[i]) + " to " + numberText(roi[i + 1]) +
             " is empty; give the smaller number first";
  return {};
}

/// 0 stands for infinity.
void switchAbsorptionOff(Options &o) {
  if (*o.attenuationDepth != 0 && !std::isinf(*o.attenuationDepth))
    return;
  o.attenuationDepth = Range::noBound;
  o.absorptionOffAfterThickness = true;
}

/// The last flag that sets the pivot wins in a custom convention, which alone uses it: so a later
/// vector keeps a pivot that a switch of convention has set.
template <Pivot pivot>
void turnAbout(Options &o) {
  o.pivot = pivot;
}

template <Pivot pivot>
void inPlaceOfCenter(Options &o) {
  turnAbout<pivot>(o);
  o.beamCenter.reset();
}

void inPlaceOfOthers(Options &o) {
  turnAbout<Pivot::Beam>(o);
  for (auto *field : {&o.xBeam, &o.yBeam, &o.xClose, &o.yClose, &o.orgX, &o.orgY})
    field->reset();
}

void useVectors(Options &o) { o.convention = Convention::Custom; }

constexpr std::string_view thick = "with -detector_thick";
constexpr std::string_view ofPixels = "if no other flag or file sets the number of pixels";
constexpr std::string_view orgInstead = "without -xds and -dials; use -ORGX and -ORGY there";
constexpr std::string_view withVectors =
    "without a later flag of a convention, which sets all vectors";
constexpr std::string_view closeOnly =
    "in the custom convention and without -Xbeam -Ybeam; use these, or -ORGX -ORGY with -xds";
constexpr std::string_view orgOnly =
    "with -xds, -dials, or vectors without -Xbeam and -Xclose; else use -Xbeam -Ybeam";

// flags, values, unit, what holds without it, meaning, range, fields, and what not every row has
constexpr Quantity detectorQuantityRows[] = {
    {"-distance", "D", &flagUnit::millimetres, "100", "sample to detector along the beam",
     Range::positive(), in<&O::distance>,
     More{.python = "Detector.distance",
          .parameter = "distance",
          .only = "without a close distance (-close_distance, or of an image header)",
          .also = turnAbout<Pivot::Beam>,
          .usual = detectorDistance}},
    {"-close_distance", "D", &flagUnit::millimetres, "from -distance",
     "sample to detector along its normal; overrides -distance", Range::positive(),
     in<&O::closeDistance>,
     More{.python = "Detector.close_distance",
          .parameter = "close_distance",
          .also = turnAbout<Pivot::Sample>,
          .usual = detectorDistance}},
    {"-pixel", "SIZE", &flagUnit::millimetres, "0.1", "edge of a pixel", Range::positive(),
     in<&O::pixelSize>,
     More{.python = "Detector.pixel_size",
          .parameter = "pixel_size",
          .usual = UsualValues{1e-3, 10, 5e-3, 1}}},
    {"-detpixels", "N", &flagUnit::pixels, "from -detsize", "pixels along fast and slow",
     upTo(mostPixels), in<&O::fastPixels, &O::slowPixels>},
    {"-detpixels_s -detpixels_y", "N", &flagUnit::pixels, "from -detsize_s", "pixels along slow",
     upTo(mostPixels), in<&O::slowPixels>,
     More{.python = "Detector.shape", .parameter = "slow_pixels"}},
    {"-detpixels_f -detpixels_x", "N", &flagUnit::pixels, "from -detsize_f", "pixels along fast",
     upTo(mostPixels), in<&O::fastPixels>,
     More{.python = "Detector.shape", .parameter = "fast_pixels"}},
    {"-detsize", "SIZE", &flagUnit::millimetres, "102.4",
     "size along fast and slow; numbers of pixels override it", Range::positive(),
     in<&O::detSizeFast, &O::detSizeSlow>, More{.only = ofPixels, .usual = detectorSize}},
    {"-detsize_f", "SIZE", &flagUnit::millimetres, "102.4", "size along fast", Range::positive(),
     in<&O::detSizeFast>, More{.only = ofPixels, .usual = detectorSize}},
    {"-detsize_s", "SIZE", &flagUnit::millimetres, "102.4", "size along slow", Range::positive(),
     in<&O::detSizeSlow>, More{.only = ofPixels, .usual = detectorSize}},
    {"-detector_absorb -detector_abs*", "DEPTH", &flagUnit::micrometres, "the thickness",
     "attenuation depth of the sensor; inf or 0: no absorption", depths, in<&O::attenuationDepth>,
     More{.python = "Detector.attenuation_depth",
          .parameter = "attenuation_depth",
          .only = thick,
          .also = switchAbsorptionOff,
          .usual = UsualValues{0, 1e13, 1, 5e4}}},
    {"-detector_thick", "THICKNESS", &flagUnit::micrometres, "0", "thickness of the sensor",
     Range::notNegative(), in<&O::thickness>,
     More{.python = "Detector.thickness",
          .parameter = "sensor_thickness",
          .also = [](Options &o) { o.absorptionOffAfterThickness = false; },
          .usual = UsualValues{2, 1e5, 10, 1e4}}},
    {"-detector_thicksteps -thicksteps", "N", &flagUnit::layers, "2 with -detector_thick, else 1",
     "layers of the sensor; 0: as without the flag", upTo(1e6), in<&O::thickSteps>,
     More{.python = "Detector.thickness_steps",
          .parameter = "layers",
          .only = thick,
          .zeroIsUnset = true}},
    {"-curved_det", "", &flagUnit::one, "off", "all pixels at the same distance from the sample",
     Range::any(), in<&O::curved>, More{.python = "Detector.curved"}},
    {"-point_pixel", "", &flagUnit::one, "off", "no solid angle of the pixels: 1/R^2 only",
     Range::any(), in<&O::pointPixel>, More{.python = "Detector.point_pixel"}},
    {"-roi", "XMIN XMAX YMIN YMAX", &flagUnit::pixels, "all",
     "render only these pixels: first and last along fast, then along slow; negative: no bound",
     Range::between(-mostPixels, mostPixels), in<&O::roi>,
     More{.python = "Detector.region", .wrong = emptyRegion}},
    {"-oversample", "N", &flagUnit::subPixels, "automatic",
     "sub-pixels along each edge of a pixel; 0: automatic", upTo(1e5), in<&O::oversample>,
     More{.python = "Detector.oversample", .parameter = "oversample", .zeroIsUnset = true}},
    {"-oversample_thick", "", &flagUnit::one, "off",
     "absorption for every sub-pixel, not once per pixel", Range::any(), in<&O::oversampleThick>,
     More{.python = "Detector.oversample_thick", .only = thick}},
    {"-oversample_polar", "", &flagUnit::one, "off", "polarization for every sub-pixel and source",
     Range::any(), in<&O::oversamplePolar>, More{.python = "Detector.oversample_polar"}},
    {"-oversample_omega", "", &flagUnit::one, "off", "solid angle for every sub-pixel",
     Range::any(), in<&O::oversampleOmega>, More{.python = "Detector.oversample_omega"}},
};

constexpr Quantity geometryRows[] = {
    {"-mosflm", "", &flagUnit::one, "on",
     "MOSFLM's convention: beam along X, pivot about the beam spot", Range::any(),
     in<&O::convention>,
     More{.python = "Detector.convention",
          .value = int(Convention::Mosflm),
          .also = turnAbout<Pivot::Beam>}},
    {"-denzo", "", &flagUnit::one, "off", "as -mosflm, beam centre without its half pixel",
     Range::any(), in<&O::convention>,
     More{.python = "Detector.convention",
          .value = int(Convention::Denzo),
          .also = turnAbout<Pivot::Beam>}},
    {"-adxv", "", &flagUnit::one, "off",
     "ADXV's convention: beam along Z, Y of the beam centre from the bottom", Range::any(),
     in<&O::convention>,
     More{.python = "Detector.convention",
          .value = int(Convention::Adxv),
          .also = turnAbout<Pivot::Beam>}},
    {"-xds", "", &flagUnit::one, "off",
     "XDS' convention: beam along Z, pivot about the sample, origin by -ORGX -ORGY", Range::any(),
     in<&O::convention>,
     More{.python = "Detector.convention",
          .value = int(Convention::Xds),
          .also = turnAbout<Pivot::Sample>}},
    {"-dials", "", &flagUnit::one, "off", "as -xds, spindle and polarization along Y", Range::any(),
     in<&O::convention>,
     More{.python = "Detector.convention",
          .value = int(Convention::Dials),
          .also = turnAbout<Pivot::Beam>}},
    {"--beam-center", "FAST SLOW", &flagUnit::millimetres, "the centre",
     "from the outer corner of the first pixel along fast and slow to the direct beam, or, with "
     "-pivot sample, to the point nearest to the sample; the same in every convention",
     Range::any(), in<&O::beamCenter>,
     More{.python = "Detector.beam_center",
          .parameter = "beam_center",
          .also = inPlaceOfOthers,
          .usual = onAxis}},
    {"-Xbeam", "X", &flagUnit::millimetres, "the centre",
     "direct beam; slow coordinate with -mosflm, -denzo, else fast", Range::any(), in<&O::xBeam>,
     More{.parameter = "beam_center",
          .only = orgInstead,
          .also = inPlaceOfCenter<Pivot::Beam>,
          .usual = onAxis}},
    {"-Ybeam", "Y", &flagUnit::millimetres, "the centre",
     "direct beam; fast coordinate with -mosflm, -denzo, else slow", Range::any(), in<&O::yBeam>,
     More{.parameter = "beam_center",
          .only = orgInstead,
          .also = inPlaceOfCenter<Pivot::Beam>,
          .usual = onAxis}},
    {"-Xclose", "X", &flagUnit::millimetres, "the centre", "point nearest to the sample, fast",
     Range::any(), in<&O::xClose>,
     More{.python = "Detector.close_point",
          .parameter = "beam_center",
          .only = closeOnly,
          .also = inPlaceOfCenter<Pivot::Sample>,
          .usual = onAxis}},
    {"-Yclose", "Y", &flagUnit::millimetres, "the centre", "point nearest to the sample, slow",
     Range::any(), in<&O::yClose>,
     More{.python = "Detector.close_point",
          .parameter = "beam_center",
          .only = closeOnly,
          .also = inPlaceOfCenter<Pivot::Sample>,
          .usual = onAxis}},
    {"-ORGX", "X", &flagUnit::pixels, "the centre",
     "point nearest to the sample, fast, first pixel's centre = 1", Range::any(), in<&O::orgX>,
     More{.python = "Detector.origin",
          .parameter = "beam_center",
          .only = orgOnly,
          .also = inPlaceOfCenter<Pivot::Sample>}},
    {"-ORGY", "Y", &flagUnit::pixels, "the centre", "point nearest to the sample, slow",
     Range::any(), in<&O::orgY>,
     More{.python = "Detector.origin",
          .parameter = "beam_center",
          .only = orgOnly,
          .also = inPlaceOfCenter<Pivot::Sample>}},
    {"-fdet_vector", "X Y Z", &flagUnit::one, "0 0 1",
     "direction of increasing fast pixels; selects the custom convention", Range::any(),
     in<&O::fastAxis>,
     More{.python = "Detector.fast_axis",
          .parameter = "fast_axis",
          .only = withVectors,
          .wrong = zeroVector,
          .also = useVectors}},
    {"-sdet_vector", "X Y Z", &flagUnit::one, "0 -1 0",
     "direction of increasing slow pixels; selects the custom convention", Range::any(),
     in<&O::slowAxis>,
     More{.python = "Detector.slow_axis",
          .parameter = "slow_axis",
          .only = withVectors,
          .wrong = zeroVector,
          .also = useVectors}},
    {"-odet_vector", "X Y Z", &flagUnit::one, "1 0 0",
     "direction of increasing distance; selects the custom convention", Range::any(),
     in<&O::normalAxis>,
     More{.python = "Detector.normal",
          .parameter = "normal_axis",
          .only = withVectors,
          .wrong = zeroVector,
          .also = useVectors}},
    {"-beam_vector", "X Y Z", &flagUnit::one, "1 0 0",
     "direction of the beam; selects the custom convention", Range::any(), in<&O::beamVector>,
     More{.python = "Detector.beam_direction",
          .parameter = "beam_direction",
          .only = withVectors,
          .wrong = zeroVector,
          .also = useVectors}},
    {"-polar_vector", "X Y Z", &flagUnit::one, "0 0 1",
     "direction of polarization; selects the custom convention", Range::any(), in<&O::polarVector>,
     More{.python = "Detector.polarization_axis",
          .parameter = "polarization_axis",
          .only = withVectors,
          .wrong = zeroVector,
          .also = useVectors}},
    {"-spindle_axis", "X Y Z", &flagUnit::one, "0 0 1",
     "axis of the rotation, right-handed; selects the custom convention", Range::any(),
     in<&O::spindleAxis>,
     More{.python = "Goniometer.axis",
          .parameter = "spindle_axis",
          .only = withVectors,
          .wrong = zeroVector,
          .also = useVectors}},
    {"-twotheta_axis", "X Y Z", &flagUnit::one, "0 1 0",
     "axis of -twotheta; selects the custom convention", Range::any(), in<&O::twothetaAxis>,
     More{.python = "Detector.twotheta_axis",
          .parameter = "twotheta_axis",
          .only = "with -twotheta, in the custom convention",
          .wrong = zeroVector,
          .also = useVectors}},
    {"-pix0_vector", "X Y Z", &flagUnit::metres, "from beam centre and distance",
     "selects the custom convention; its values have no effect", Range::any(), in<&O::pix0>,
     More{.only = "to select the custom convention; use -distance and -Xbeam -Ybeam",
          .also = useVectors}},
    {"-twotheta", "ANGLE", &flagUnit::degrees, "0", "detector swing", Range::any(),
     in<&O::twotheta>,
     More{.python = "Detector.twotheta",
          .parameter = "twotheta",
          .also = turnAbout<Pivot::Sample>,
          .usual = turn}},
    {"-detector_rotx", "ANGLE", &flagUnit::degrees, "0",
     "detector rotation about lab X, the first of three", Range::any(), in<&O::rotX>,
     More{.python = "Detector.rotation", .parameter = "detector_rotation", .usual = turn}},
    {"-detector_roty", "ANGLE", &flagUnit::degrees, "0",
     "detector rotation about lab Y, the second", Range::any(), in<&O::rotY>,
     More{.python = "Detector.rotation", .parameter = "detector_rotation", .usual = turn}},
    {"-detector_rotz", "ANGLE", &flagUnit::degrees, "0", "detector rotation about lab Z, the third",
     Range::any(), in<&O::rotZ>,
     More{.python = "Detector.rotation", .parameter = "detector_rotation", .usual = turn}},
    {"-pivot", "sample|beam", &flagUnit::one, "by convention",
     "fixed point of detector rotations: sample, the sample; beam, the spot of the direct beam; "
     "the last such flag applies",
     Range::any(), in<&O::pivot>,
     More{.python = "Detector.pivot", .only = "with vectors; a convention sets its own"}},
};

constexpr Quantity responseRows[] = {
    {"-gain", "GAIN", &flagUnit::gain, "none: photons",
     "analogue-to-digital units per photon; scales the image", Range::positive(), in<&O::gain>,
     More{.python = "Detector.gain", .parameter = "gain"}},
    {"-psf", "gauss|fiber", &flagUnit::one, "none: light stays in its pixel",
     "point spread over neighbouring pixels: gauss, a Gaussian; fiber, that of a fiber-coupled "
     "phosphor",
     Range::any(), in<&O::pointSpread>, More{.python = "Detector.psf"}},
    {"-psf_fwhm -psf_size -psf_width", "WIDTH", &flagUnit::micrometres, "46",
     "full width at half maximum of the point spread", Range::positive(), in<&O::psfFwhm>,
     More{.python = "Detector.psf_fwhm",
          .parameter = "psf_fwhm",
          .only = "with -psf",
          .usual = UsualValues{0, 1e5, 1, 5e3}}},
    {"-psf_radius", "PIXELS", &flagUnit::pixels,
     "from the width: contains all but 1e-7 of a Gaussian's light, 98 % of a fiber's",
     "largest distance to which light spreads along rows and columns; fractions within it add up "
     "to 1. 0: the default",
     upTo(1000), in<&O::psfRadius>,
     More{.python = "Detector.psf_radius",
          .parameter = "psf_radius",
          .only = "with -psf",
          .zeroIsUnset = true}},
    {"-dead_time", "SECONDS", &flagUnit::seconds, "none: every photon is counted",
     "dead time of a pixel after each photon, counted or not: n photons per second become n / "
     "exp(n "
     "SECONDS) counts; needs -exposure",
     Range::notNegative(), in<&O::deadTime>,
     More{.python = "Detector.dead_time",
          .parameter = "dead_time",
          .usual = UsualValues{0, 1, 0, 1e-5}}},
};

constexpr Quantity outputRows[] = {
    {"-adc -adcoffset", "OFFSET", &flagUnit::counts, "40", "added to every pixel of the SMV images",
     Range::between(-65535, 65535), in<&O::adcOffset>},
    {"-seed --noise-seed", "N", &flagUnit::one, "different in each run, printed",
     "random-number seed of the noise image", seeds, in<&O::seed>},
};

} // namespace

std::span<const Quantity> detectorQuantities() { return detectorQuantityRows; }
std::span<const Quantity> geometryQuantities() { return geometryRows; }
std::span<const Quantity> responseQuantities() { return responseRows; }
std::span<const Quantity> outputQuantities() { return outputRows; }

} // namespace nanobragg
