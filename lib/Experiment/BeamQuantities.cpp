#include "lib/Experiment/QuantityRows.h"

namespace nanobragg {
namespace {

constexpr Range stepCount = upTo(1e6); // 0 counts as not given, as in the C program
constexpr std::string_view generated = "without listed sources (-sourcefile, --spectrum, --expt)";
constexpr std::string_view listed = "with listed sources (-sourcefile, --spectrum); use -lambda";
constexpr std::string_view rangeOrStep =
    "without listed sources, and with a range where there is a step";

// flags, values, unit, what holds without it, meaning, range, fields, and what not every row has
constexpr Quantity rows[] = {
    {"-lambda -wave*", "WAVELENGTH", &unit::wavelength, "1",
     "wavelength; the last of -lambda and -energy counts", Range::positive(), in<&O::lambda>,
     More{.python = "Beam.wavelength",
          .parameter = "wavelength",
          .also = [](Options &o) { o.energy.reset(); },
          .usual = UsualValues{0.01, 50, 0.1, 10}}},
    {"-energy", "ENERGY", &unit::electronvolts, "12398.42", "photon energy", Range::positive(),
     in<&O::energy>,
     More{.python = "Beam.energy",
          .parameter = "wavelength",
          .also = [](Options &o) { o.lambda.reset(); },
          .usual = UsualValues{100, 1e6, 1000, 2e5}}},
    {"-lambda_offset", "OFFSET", &unit::angstroms, "0",
     "added to the wavelength of each listed source, after -lambda_scale", Range::any(),
     in<&O::wavelengthOffset>,
     More{.python = "Beam.wavelength_offset", .parameter = "wavelength_offset", .only = listed}},
    {"-lambda_scale", "FACTOR", &unit::one, "1", "scale of the wavelengths of listed sources",
     Range::positive(), in<&O::wavelengthScale>,
     More{.python = "Beam.wavelength_scale", .parameter = "wavelength_scale", .only = listed}},
    {"-dispersion", "WIDTH", &unit::percent, "0", "full spectral width, delta lambda/lambda",
     Range{0, 200, true, false}, in<&O::dispersion>,
     More{.python = "Beam.dispersion", .parameter = "dispersion", .only = generated}},
    {"-dispsteps", "N", &unit::wavelengths, "2 with -dispersion, else 1",
     "wavelengths across the spectral width", stepCount, in<&O::dispersionSteps>,
     More{.python = "Beam.dispersion_steps",
          .only = "with -dispersion and without listed sources",
          .zeroIsUnset = true}},
    {"-divergence", "RANGE", &unit::milliradians, "0",
     "full beam divergence, horizontal and vertical", Range::notNegative(),
     in<&O::hdivRange, &O::vdivRange>, More{.parameter = "divergence", .only = generated}},
    {"-hdivrange", "RANGE", &unit::milliradians, "0", "full horizontal divergence",
     Range::notNegative(), in<&O::hdivRange>,
     More{.python = "Beam.hdivergence", .parameter = "hdiv_range", .only = generated}},
    {"-vdivrange", "RANGE", &unit::milliradians, "0", "full vertical divergence",
     Range::notNegative(), in<&O::vdivRange>,
     More{.python = "Beam.vdivergence", .parameter = "vdiv_range", .only = generated}},
    {"-divergence_sigma", "H [V]", &unit::milliradians, "none",
     "standard deviations of a normally distributed divergence, horizontal and vertical; sources "
     "at its quantiles, in place of a range",
     Range::notNegative(), in<&O::hdivSigma, &O::vdivSigma>,
     More{.python = "Beam.divergence_sigma", .parameter = "divergence", .only = generated}},
    {"--bandwidth-sigma", "WIDTH", &unit::percent, "0",
     "standard deviation of a normally distributed spectrum about each wavelength, delta "
     "lambda/lambda",
     Range{0, 20, true, true}, in<&O::bandwidthSigma>,
     More{.python = "Beam.bandwidth_sigma", .parameter = "bandwidth_sigma"}},
    {"-hdivstep", "STEP", &unit::milliradians, "from range and steps",
     "horizontal distance of sources; alone: two sources", Range::notNegative(), in<&O::hdivStep>,
     More{.only = generated, .zeroIsUnset = true}},
    {"-vdivstep", "STEP", &unit::milliradians, "from range and steps",
     "vertical distance of sources; alone: two sources", Range::notNegative(), in<&O::vdivStep>,
     More{.only = generated, .zeroIsUnset = true}},
    {"-hdivsteps", "N", &unit::sources, "from range and step",
     "sources across the horizontal divergence", stepCount, in<&O::hdivSteps>,
     More{.python = "Beam.divergence_steps", .only = rangeOrStep, .zeroIsUnset = true}},
    {"-vdivsteps", "N", &unit::sources, "from range and step",
     "sources across the vertical divergence", stepCount, in<&O::vdivSteps>,
     More{.python = "Beam.divergence_steps", .only = rangeOrStep, .zeroIsUnset = true}},
    {"-divsteps", "N", &unit::sources, "from range and step", "sources across either divergence",
     stepCount, in<&O::hdivSteps, &O::vdivSteps>, More{.only = rangeOrStep, .zeroIsUnset = true}},
    {"-round_div", "", &unit::one, "on", "cut the grid of sources to an ellipse", Range::any(),
     in<&O::roundDivergence>, More{.python = "Beam.round_divergence"}},
    {"-square_div", "", &unit::one, "off", "the full grid of sources", Range::any(),
     in<&O::roundDivergence>,
     More{.python = "Beam.round_divergence",
          .only = "where the beam diverges both ways, so that it has corners",
          .value = 0}},
    {"-fluence", "FLUENCE", &unit::photonsPerArea, "1.2593e29", "incident photons per area",
     Range::notNegative(), in<&O::fluence>,
     More{.python = "Beam.fluence", .parameter = "fluence", .only = "without -flux"}},
    {"-flux", "FLUX", &unit::photonsPerSecond, "0",
     "with -exposure and -beamsize: sets the fluence unless 0", Range::notNegative(), in<&O::flux>,
     More{.python = "Beam.flux", .zeroIsUnset = true}},
    {"-exposure", "TIME", &unit::seconds, "1", "exposure time, for -flux and -dead_time",
     Range::positive(), in<&O::exposure>,
     More{.python = "Beam.exposure", .only = "with -flux or -dead_time"}},
    {"-beamsize", "SIZE", &unit::millimetres, "0.1",
     "edge of the beam; clips the crystal along b and c", Range::positive(), in<&O::beamSize>,
     More{.python = "Beam.size",
          .only = "with -flux, a crystal size or a background table",
          .usual = UsualValues{1e-5, 20, 1e-4, 1}}},
    {"-polar", "K", &unit::one, "0",
     "Kahn polarization factor, from -1 to 1 (polarized along the polarization vector)",
     Range::between(-1, 1), in<&O::polarization>,
     More{.python = "Beam.polarization",
          .parameter = "kahn_factor",
          .only = "without -nopolar",
          .also = [](Options &o) { o.noPolarization = false; }}},
    {"-nopolar", "", &unit::one, "off", "no polarization factor", Range::any(),
     in<&O::noPolarization>,
     More{.python = "Beam.unpolarized", .only = "without -oversample_polar"}},
    {"-water", "SIZE", &unit::micrometres, "0", "background of a water cube of this size",
     Range::notNegative(), in<&O::water>, More{.python = "Beam.water", .parameter = "water_size"}},
};

} // namespace

std::span<const Quantity> beamQuantities() { return rows; }

} // namespace nanobragg
