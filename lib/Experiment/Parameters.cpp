#include "lib/Experiment/Parameters.h"

#include <string_view>

namespace nanobragg {
namespace {

using S = ProgramVariant;
using E = Experiment;

// Who uses a parameter.
bool always(const S &) { return true; }
bool hasCell(const S &s) { return s.cellSource != CellSource::Matrix; }
bool hasMatrix(const S &s) { return s.cellSource != CellSource::Cell; }
bool hasSpotRadius(const S &s) { return s.shape != CrystalShape::Square; }
bool hasGrid(const S &s) { return s.structureFactors != StructureFactors::Constant; }
bool generated(const S &s) { return s.sources == Sources::Generated; }
bool listed(const S &s) { return s.sources == Sources::Listed; }
bool polarized(const S &s) { return s.polarization != Evaluation::None; }
bool hasPolarizationAxis(const S &s) { return generated(s) || polarized(s); }
bool byDistance(const S &s) { return s.distance == DistanceInput::Distance; }
bool byCloseDistance(const S &s) { return s.distance == DistanceInput::CloseDistance; }
bool hasPanels(const S &s) { return s.panels; }
bool absorbs(const S &s) { return s.capture != Capture::None; }
bool hasDmin(const S &s) { return s.dmin; }
bool hasWater(const S &s) { return s.water != Water::None; }
bool hasMask(const S &s) { return s.mask; }

// Values that BoundParameters stores.
const void *bound(const E &) { return nullptr; }

constexpr bool physical = true; // a number that a derivative can be taken by
constexpr bool discrete = false;

#define AT(expression) [](const E &e) -> const void * { return expression; }

constexpr Parameter table[] = {
    {"cell_a", NB_PARAMETER_F64, "m", "unit cell edge a", physical, hasCell, AT(&e.crystal.cellA)},
    {"cell_b", NB_PARAMETER_F64, "m", "unit cell edge b", physical, hasCell, AT(&e.crystal.cellB)},
    {"cell_c", NB_PARAMETER_F64, "m", "unit cell edge c", physical, hasCell, AT(&e.crystal.cellC)},
    {"cell_alpha", NB_PARAMETER_F64, "rad", "unit cell angle between b and c", physical, hasCell,
     AT(&e.crystal.cellAlpha)},
    {"cell_beta", NB_PARAMETER_F64, "rad", "unit cell angle between a and c", physical, hasCell,
     AT(&e.crystal.cellBeta)},
    {"cell_gamma", NB_PARAMETER_F64, "rad", "unit cell angle between a and b", physical, hasCell,
     AT(&e.crystal.cellGamma)},
    {"reciprocal_matrix", NB_PARAMETER_MAT3, "1/m", "columns a*, b*, c* in the lab frame", physical,
     hasMatrix, AT(e.crystal.reciprocalMatrix.data())},
    {"misset_x", NB_PARAMETER_F64, "rad", "first missetting rotation, about lab X", physical,
     always, AT(&e.crystal.misset[0])},
    {"misset_y", NB_PARAMETER_F64, "rad", "second missetting rotation, about lab Y", physical,
     always, AT(&e.crystal.misset[1])},
    {"misset_z", NB_PARAMETER_F64, "rad", "third missetting rotation, about lab Z", physical,
     always, AT(&e.crystal.misset[2])},
    {"ncells_a", NB_PARAMETER_F64, "1", "unit cells along a", physical, always,
     AT(&e.crystal.ncells[0])},
    {"ncells_b", NB_PARAMETER_F64, "1", "unit cells along b", physical, always,
     AT(&e.crystal.ncells[1])},
    {"ncells_c", NB_PARAMETER_F64, "1", "unit cells along c", physical, always,
     AT(&e.crystal.ncells[2])},
    {"fudge", NB_PARAMETER_F64, "1", "scale of the squared spot radius", physical, hasSpotRadius,
     AT(&e.crystal.fudge)},
    {"default_F", NB_PARAMETER_F64, "electron", "structure factor where the grid has none",
     physical, always, AT(&e.crystal.defaultF)},
    {"F", NB_PARAMETER_HKL_GRID, "electron", "structure factors on a box of Miller indices",
     physical, hasGrid, bound},
    {"mosaic_spread", NB_PARAMETER_F64, "rad", "largest rotation of a mosaic domain", physical,
     always, AT(&e.crystal.mosaicSpread)},
    {"mosaic_axis", NB_PARAMETER_TABLE_VEC3, "1", "unit rotation axis of each mosaic domain",
     discrete, always, AT(e.crystal.mosaicAxis.data())},
    {"mosaic_unit_angle", NB_PARAMETER_TABLE_F64, "1",
     "rotation of each mosaic domain as a fraction of the spread", discrete, always,
     AT(e.crystal.mosaicUnitAngle.data())},
    {"mosaic_domains", NB_PARAMETER_INDEX, "1", "number of mosaic domains", discrete, always,
     bound},
    {"spindle_axis", NB_PARAMETER_VEC3, "1", "unit axis of the phi rotation", physical, always,
     AT(e.goniometer.spindleAxis.data())},
    {"phi0", NB_PARAMETER_F64, "rad", "phi of the first step", physical, always,
     AT(&e.goniometer.phi0)},
    {"osc", NB_PARAMETER_F64, "rad", "oscillation range", physical, always, AT(&e.goniometer.osc)},
    {"phi_step_fraction", NB_PARAMETER_F64, "1", "phi step as a fraction of osc", discrete, always,
     AT(&e.goniometer.phiStepFraction)},
    {"phi_steps", NB_PARAMETER_INDEX, "1", "number of phi steps", discrete, always,
     AT(&e.goniometer.phiSteps)},
    {"beam_direction", NB_PARAMETER_VEC3, "1", "unit direction of propagation", physical, always,
     AT(e.beam.direction.data())},
    {"polarization_axis", NB_PARAMETER_VEC3, "1", "unit axis of the electric field", physical,
     hasPolarizationAxis, AT(e.beam.polarizationAxis.data())},
    {"kahn_factor", NB_PARAMETER_F64, "1", "Kahn polarization factor, -1 to 1", physical, polarized,
     AT(&e.beam.kahnFactor)},
    {"wavelength", NB_PARAMETER_F64, "m", "central wavelength", physical, generated,
     AT(&e.beam.wavelength)},
    {"dispersion", NB_PARAMETER_F64, "1", "full spread of wavelengths over the central one",
     physical, generated, AT(&e.beam.dispersion)},
    {"hdiv_range", NB_PARAMETER_F64, "rad", "full horizontal divergence", physical, generated,
     AT(&e.beam.hdivRange)},
    {"vdiv_range", NB_PARAMETER_F64, "rad", "full vertical divergence", physical, generated,
     AT(&e.beam.vdivRange)},
    {"unit_hdiv", NB_PARAMETER_TABLE_F64, "1",
     "horizontal deviation of each source as a fraction of the range", discrete, generated,
     AT(e.beam.unitHdiv.data())},
    {"unit_vdiv", NB_PARAMETER_TABLE_F64, "1",
     "vertical deviation of each source as a fraction of the range", discrete, generated,
     AT(e.beam.unitVdiv.data())},
    {"unit_dispersion", NB_PARAMETER_TABLE_F64, "1",
     "wavelength deviation of each source as a fraction of the dispersion", discrete, generated,
     AT(e.beam.unitDispersion.data())},
    {"source_direction", NB_PARAMETER_TABLE_VEC3, "1", "unit direction from the sample to a source",
     physical, listed, AT(e.beam.sourceDirection.data())},
    {"source_wavelength", NB_PARAMETER_TABLE_F64, "m", "wavelength of each source", physical,
     listed, AT(e.beam.sourceWavelength.data())},
    {"source_weight", NB_PARAMETER_TABLE_F64, "1", "relative intensity of each source", physical,
     always, AT(e.beam.sourceWeight.data())},
    {"sources", NB_PARAMETER_INDEX, "1", "number of sources", discrete, always, bound},
    {"fluence", NB_PARAMETER_F64, "1/m^2", "incident photons per area", physical, always,
     AT(&e.beam.fluence)},
    {"distance", NB_PARAMETER_F64, "m", "sample to detector along the beam", physical, byDistance,
     AT(&e.detector.distance)},
    {"close_distance", NB_PARAMETER_F64, "m", "sample to detector along the detector normal",
     physical, byCloseDistance, AT(&e.detector.closeDistance)},
    {"beam_center_fast", NB_PARAMETER_F64, "m",
     "from the detector origin along fast: to the beam (pivot beam) or the nearest point", physical,
     always, AT(&e.detector.beamCenterFast)},
    {"beam_center_slow", NB_PARAMETER_F64, "m",
     "from the detector origin along slow: to the beam (pivot beam) or the nearest point", physical,
     always, AT(&e.detector.beamCenterSlow)},
    {"fast_axis", NB_PARAMETER_VEC3, "1", "unit fast axis before the detector's rotations",
     physical, always, AT(e.detector.fastAxis.data())},
    {"slow_axis", NB_PARAMETER_VEC3, "1", "unit slow axis before the detector's rotations",
     physical, always, AT(e.detector.slowAxis.data())},
    {"normal_axis", NB_PARAMETER_VEC3, "1", "unit normal before the detector's rotations", physical,
     always, AT(e.detector.normal.data())},
    {"detector_rotx", NB_PARAMETER_F64, "rad", "first detector rotation, about lab X", physical,
     always, AT(&e.detector.rotation[0])},
    {"detector_roty", NB_PARAMETER_F64, "rad", "second detector rotation, about lab Y", physical,
     always, AT(&e.detector.rotation[1])},
    {"detector_rotz", NB_PARAMETER_F64, "rad", "third detector rotation, about lab Z", physical,
     always, AT(&e.detector.rotation[2])},
    {"twotheta", NB_PARAMETER_F64, "rad", "detector swing, after the three rotations", physical,
     always, AT(&e.detector.twotheta)},
    {"twotheta_axis", NB_PARAMETER_VEC3, "1", "axis of the detector swing", physical, always,
     AT(e.detector.twothetaAxis.data())},
    {"pixel_size", NB_PARAMETER_F64, "m", "edge of a pixel", physical, always,
     AT(&e.detector.pixelSize)},
    {"fast_pixels", NB_PARAMETER_INDEX, "1", "pixels along fast", discrete, always,
     AT(&e.detector.fastPixels)},
    {"slow_pixels", NB_PARAMETER_INDEX, "1", "pixels along slow", discrete, always,
     AT(&e.detector.slowPixels)},
    {"panel_count", NB_PARAMETER_INDEX, "1", "number of panels", discrete, always, bound},
    {"panel_offset", NB_PARAMETER_TABLE_VEC3, "m", "panel origin relative to the detector origin",
     physical, hasPanels, bound},
    {"panel_fast_axis", NB_PARAMETER_TABLE_VEC3, "1", "unit fast axis of each panel", physical,
     hasPanels, bound},
    {"panel_slow_axis", NB_PARAMETER_TABLE_VEC3, "1", "unit slow axis of each panel", physical,
     hasPanels, bound},
    {"panel_normal", NB_PARAMETER_TABLE_VEC3, "1", "unit normal of each panel", physical, hasPanels,
     bound},
    {"oversample", NB_PARAMETER_INDEX, "1", "sub-pixels along each edge of a pixel", discrete,
     always, AT(&e.detector.oversample)},
    {"roi_fast_min", NB_PARAMETER_INDEX, "1", "first rendered fast pixel", discrete, always,
     AT(&e.detector.roiFastMin)},
    {"roi_fast_max", NB_PARAMETER_INDEX, "1", "last rendered fast pixel", discrete, always,
     AT(&e.detector.roiFastMax)},
    {"roi_slow_min", NB_PARAMETER_INDEX, "1", "first rendered slow pixel", discrete, always,
     AT(&e.detector.roiSlowMin)},
    {"roi_slow_max", NB_PARAMETER_INDEX, "1", "last rendered slow pixel", discrete, always,
     AT(&e.detector.roiSlowMax)},
    {"attenuation_depth", NB_PARAMETER_F64, "m", "1/e absorption depth of the sensor", physical,
     absorbs, AT(&e.detector.attenuationDepth)},
    {"sensor_thickness", NB_PARAMETER_F64, "m", "thickness of the sensor", physical, absorbs,
     AT(&e.detector.sensorThickness)},
    {"layer_fraction", NB_PARAMETER_F64, "1", "layer spacing as a fraction of the thickness",
     discrete, absorbs, AT(&e.detector.layerFraction)},
    {"layers", NB_PARAMETER_INDEX, "1", "number of sensor layers", discrete, absorbs,
     AT(&e.detector.layers)},
    {"dmin", NB_PARAMETER_F64, "m", "resolution cutoff", discrete, hasDmin, AT(&e.dmin)},
    {"water_size", NB_PARAMETER_F64, "m", "edge of the cube of water", physical, hasWater,
     AT(&e.waterSize)},
    {"mask", NB_PARAMETER_MASK, "1", "0 where a pixel is not rendered", discrete, hasMask,
     AT(e.detector.mask.data())},
};

#undef AT

} // namespace

std::span<const Parameter> allParameters() { return table; }

std::vector<const Parameter *> parametersOf(const ProgramVariant &variant) {
  std::vector<const Parameter *> used;
  for (const Parameter &parameter : table)
    if (parameter.usedBy(variant))
      used.push_back(&parameter);
  return used;
}

const Parameter *findParameter(std::string_view name) {
  for (const Parameter &parameter : table)
    if (name == parameter.name)
      return &parameter;
  return nullptr;
}

} // namespace nanobragg
