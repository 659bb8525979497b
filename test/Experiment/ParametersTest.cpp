#include "lib/Experiment/Parameters.h"

#include "test/Experiment/Support.h"

#include <gmock/gmock.h>

#include <set>
#include <string>

namespace nanobragg {
namespace {

using testing::Contains;
using testing::Not;

std::vector<std::string> namesOf(const ProgramVariant &variant) {
  std::vector<std::string> names;
  for (const Parameter *parameter : parametersOf(variant))
    names.push_back(parameter->name);
  return names;
}

TEST(Parameters, NamesAreUniqueAndFound) {
  std::set<std::string> names;
  for (const Parameter &parameter : allParameters()) {
    EXPECT_TRUE(names.insert(parameter.name).second) << parameter.name;
    EXPECT_EQ(findParameter(parameter.name), &parameter);
    EXPECT_STRNE(parameter.meaning, "");
    EXPECT_STRNE(parameter.unit, "");
  }
  EXPECT_EQ(findParameter("cell"), nullptr);
}

TEST(Parameters, DefaultVariantInOrder) {
  EXPECT_THAT(namesOf(ProgramVariant()),
              testing::ElementsAre(
                  "cell_a", "cell_b", "cell_c", "cell_alpha", "cell_beta", "cell_gamma", "misset_x",
                  "misset_y", "misset_z", "ncells_a", "ncells_b", "ncells_c", "default_F",
                  "mosaic_spread", "mosaic_axis", "mosaic_unit_angle", "mosaic_domains",
                  "spindle_axis", "phi0", "osc", "phi_step_fraction", "phi_steps", "beam_direction",
                  "polarization_axis", "kahn_factor", "wavelength", "dispersion", "hdiv_range",
                  "vdiv_range", "unit_hdiv", "unit_vdiv", "unit_dispersion", "source_weight",
                  "sources", "fluence", "distance", "beam_center_fast", "beam_center_slow",
                  "fast_axis", "slow_axis", "normal_axis", "detector_rotx", "detector_roty",
                  "detector_rotz", "twotheta", "twotheta_axis", "pixel_size", "fast_pixels",
                  "slow_pixels", "panel_count", "oversample", "roi_fast_min", "roi_fast_max",
                  "roi_slow_min", "roi_slow_max"));
}

TEST(Parameters, VariantDecidesWhatIsUsed) {
  ProgramVariant s;
  s.cellSource = CellSource::CellAndMatrix;
  EXPECT_THAT(namesOf(s), Contains("cell_a"));
  EXPECT_THAT(namesOf(s), Contains("reciprocal_matrix"));
  s.cellSource = CellSource::Matrix;
  EXPECT_THAT(namesOf(s), Not(Contains("cell_a")));
  s.shape = CrystalShape::Gauss;
  EXPECT_THAT(namesOf(s), Contains("fudge"));
  s.structureFactors = StructureFactors::Nearest;
  EXPECT_THAT(namesOf(s), Contains("F"));
  s.polarization = Evaluation::None;
  EXPECT_THAT(namesOf(s), Not(Contains("kahn_factor")));
  EXPECT_THAT(namesOf(s), Contains("polarization_axis"));
  s.sources = Sources::Listed;
  EXPECT_THAT(namesOf(s), Not(Contains("polarization_axis")));
  EXPECT_THAT(namesOf(s), Not(Contains("wavelength")));
  EXPECT_THAT(namesOf(s), Contains("source_direction"));
  s.distance = DistanceInput::CloseDistance;
  EXPECT_THAT(namesOf(s), Contains("close_distance"));
  EXPECT_THAT(namesOf(s), Not(Contains("distance")));
  s.capture = Capture::Sum;
  EXPECT_THAT(namesOf(s), Contains("layers"));
  s.dmin = s.panels = s.mask = true;
  s.water = Water::C;
  for (const char *name : {"dmin", "panel_offset", "panel_normal", "mask", "water_size"})
    EXPECT_THAT(namesOf(s), Contains(name));
}

TEST(Parameters, AddressesReachTheValues) {
  Experiment e = completeRight(cubic()).experiment;
  e.crystal.misset = {1, 2, 3};
  e.detector.roiSlowMax = 17;
  e.crystal.reciprocalMatrix[4] = 5;
  auto f64 = [&](const char *name) {
    const Parameter *p = findParameter(name);
    EXPECT_EQ(p->kind, NB_PARAMETER_F64) << name;
    return *static_cast<const double *>(p->address(e));
  };
  EXPECT_EQ(f64("cell_a"), e.crystal.cellA);
  EXPECT_EQ(f64("misset_y"), 2);
  EXPECT_EQ(f64("wavelength"), 1e-10);
  EXPECT_EQ(*static_cast<const std::int64_t *>(findParameter("roi_slow_max")->address(e)), 17);
  EXPECT_EQ(static_cast<const double *>(findParameter("reciprocal_matrix")->address(e))[4], 5);
  EXPECT_EQ(findParameter("reciprocal_matrix")->kind, NB_PARAMETER_MAT3);
  EXPECT_EQ(findParameter("source_weight")->address(e), e.beam.sourceWeight.data());
  EXPECT_EQ(findParameter("phi_steps")->kind, NB_PARAMETER_INDEX);
  EXPECT_EQ(findParameter("F")->kind, NB_PARAMETER_HKL_GRID);
  EXPECT_EQ(findParameter("mask")->kind, NB_PARAMETER_MASK);
}

TEST(Parameters, OnlyRealNumbersAreDifferentiable) {
  for (const Parameter &parameter : allParameters()) {
    if (parameter.kind == NB_PARAMETER_INDEX || parameter.kind == NB_PARAMETER_MASK) {
      EXPECT_FALSE(parameter.differentiable) << parameter.name;
    }
  }
  EXPECT_TRUE(findParameter("distance")->differentiable);
  EXPECT_TRUE(findParameter("mosaic_spread")->differentiable);
  EXPECT_FALSE(findParameter("mosaic_unit_angle")->differentiable);
}

} // namespace
} // namespace nanobragg
