#include "lib/Program/Parameters.h"

#include "lib/Program/FlagOf.h"
#include "lib/Program/ParameterGroups.h"
#include "lib/Program/PossibleValues.h"
#include "nanobragg/DerivativeNames.h"
#include "test/Experiment/Support.h"

#include <gmock/gmock.h>

#include <limits>
#include <set>
#include <sstream>
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
  EXPECT_THAT(namesOf(s), Contains("mosaic_spread"));
  EXPECT_THAT(namesOf(s), Not(Contains("background_F")));
  s.background = s.diffuse = true;
  s.mosaicity = Mosaicity::Ellipsoid;
  for (const char *name :
       {"background_F", "materials", "diffuse_gamma", "symmetry_l", "mosaic_abc"})
    EXPECT_THAT(namesOf(s), Contains(name));
  EXPECT_THAT(namesOf(s), Not(Contains("mosaic_spread")));
  EXPECT_THAT(namesOf(s), Not(Contains("F_by_energy")));
  s.structureFactors = StructureFactors::Channels;
  for (const char *name : {"F", "F_by_energy", "F_by_energy_step", "energy_node"})
    EXPECT_THAT(namesOf(s), Contains(name));
  EXPECT_THAT(namesOf(s), Not(Contains("f_prime")));
  s.structureFactors = StructureFactors::Anomalous;
  for (const char *name : {"F_by_energy", "f_prime", "f_double_prime", "energy_nodes"})
    EXPECT_THAT(namesOf(s), Contains(name));
}

TEST(Parameters, PlacesReachTheValues) {
  Experiment e = completeRight(cubic()).experiment;
  e.crystal.misset = {1, 2, 3};
  e.detector.roiSlowMax = 17;
  e.crystal.reciprocalMatrix[4] = 5;
  auto f64 = [&](const char *name) {
    const Parameter *p = findParameter(name);
    EXPECT_EQ(p->kind(), NB_PARAMETER_F64) << name;
    return p->place.numbers(e)[0];
  };
  EXPECT_EQ(f64("cell_a"), e.crystal.cellA);
  EXPECT_EQ(f64("misset_y"), 2);
  EXPECT_EQ(f64("wavelength"), 1e-10);
  EXPECT_EQ(findParameter("roi_slow_max")->place.index(e), 17);
  EXPECT_EQ(findParameter("reciprocal_matrix")->place.numbers(e)[4], 5);
  EXPECT_EQ(findParameter("reciprocal_matrix")->kind(), NB_PARAMETER_MAT3);
  EXPECT_EQ(findParameter("source_weight")->place.numbers(e).data, e.beam.sourceWeight.data());
  EXPECT_EQ(findParameter("phi_steps")->kind(), NB_PARAMETER_INDEX);
  EXPECT_EQ(findParameter("F")->kind(), NB_PARAMETER_HKL_GRID);
  EXPECT_EQ(findParameter("mask")->kind(), NB_PARAMETER_MASK);
}

/// Counts and groups that a row names exist.
TEST(Parameters, RowsNameCountsAndGroups) {
  std::set<std::string> groups;
  for (const ParameterGroup &group : parameterGroups())
    groups.insert(group.name);
  for (const Parameter &parameter : allParameters()) {
    const bool table =
        parameter.kind() == NB_PARAMETER_TABLE_F64 || parameter.kind() == NB_PARAMETER_TABLE_VEC3;
    EXPECT_EQ(parameter.count != nullptr, table) << parameter.name;
    for (const char *count : {parameter.count, parameter.pixelOf, parameter.neutral.of})
      if (count) {
        ASSERT_TRUE(findParameter(count)) << parameter.name << " " << count;
        EXPECT_EQ(findParameter(count)->kind(), NB_PARAMETER_INDEX) << parameter.name;
      }
    std::istringstream words{std::string(parameter.groups)};
    for (std::string group; words >> group;)
      EXPECT_TRUE(groups.contains(group)) << parameter.name << " is in no group " << group;
    if (parameter.samples != 0) {
      EXPECT_EQ(parameter.kind(), NB_PARAMETER_INDEX) << parameter.name;
    }
    if (parameter.possible == Possible::Direction) {
      EXPECT_EQ(parameter.kind(), NB_PARAMETER_VEC3) << parameter.name;
    }
  }
  for (const char *count : imageCounts)
    EXPECT_EQ(findParameter(count)->kind(), NB_PARAMETER_INDEX) << count;
}

/// A neutral value has as many numbers as the parameter, one entry of a table.
TEST(Parameters, NeutralValuesAreOfTheirKind) {
  for (const Parameter &parameter : allParameters()) {
    if (parameter.neutral.rule != NeutralValue::Rule::Numbers)
      continue;
    const bool vector =
        parameter.kind() == NB_PARAMETER_VEC3 || parameter.kind() == NB_PARAMETER_TABLE_VEC3;
    EXPECT_EQ(parameter.neutral.size, vector ? 3u : 1u) << parameter.name;
  }
}

TEST(Parameters, ExperimentsHavePossibleValues) {
  const Experiment e = completeRight(cubic()).experiment;
  for (const Parameter *parameter : parametersOf(e.variant)) {
    if (!parameter->place.numbers)
      continue;
    const Numbers<const double> numbers = parameter->place.numbers(e);
    std::vector<double> values;
    for (std::size_t i = 0; i != numbers.size(); ++i)
      values.push_back(numbers[i]);
    EXPECT_NO_THROW(checkPossible(parameter->name, values.data(), std::int64_t(values.size())))
        << parameter->name;
  }
}

/// A number that a flag refuses is none of the parameter that it sets.
TEST(Parameters, RangesOfQuantitiesHoldForParameters) {
  const auto refusal = [](const char *name, double value) {
    try {
      checkPossible(name, &value, 1);
    } catch (const std::invalid_argument &error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(refusal("fluence", -1), "parameter 'fluence' is -1 1/m^2; it must be at least 0");
  EXPECT_EQ(refusal("dispersion", 2),
            "parameter 'dispersion' is 2; it must be at least 0 and less than 2");
  EXPECT_EQ(refusal("kahn_factor", 1.5), "parameter 'kahn_factor' is 1.5; it must be from -1 to 1");
  EXPECT_EQ(refusal("attenuation_depth", std::numeric_limits<double>::infinity()), "");
  EXPECT_NE(refusal("attenuation_depth", -1), "");
  EXPECT_EQ(refusal("ncells_e", -2), ""); // -Ncells_def sets it
  for (const Parameter &parameter : allParameters()) {
    const PlaceInQuantity place = quantityOfParameter(parameter.name);
    if (!place.row || !parameter.place.numbers || place.row->range.low != 0)
      continue;
    EXPECT_NE(refusal(parameter.name, -1e-3), "") << parameter.name;
  }
}

TEST(Parameters, SamplesOfAPixel) {
  Experiment e = completeRight(cubic()).experiment;
  e.beam.sourceWeight = {1, 1};
  e.crystal.mosaicUnitAngle = {0, 1, 1};
  e.goniometer.phiSteps = 5;
  e.detector.oversample = 7;
  e.detector.layers = 11;
  EXPECT_EQ(samplesPerPixel(e), 2 * 3 * 5 * 7 * 7 * 11);
}

TEST(Parameters, NamesOfDerivativesLeadToThem) {
  const Parameter *a = findParameter("cell_a");
  for (const char *name : {"cell_a", "gradient.cell_a", "tangent.cell_a", "tangent.cell_a.12",
                           "hvp.cell_a.2", "derivative.cell_a"})
    EXPECT_EQ(parameterBehind(name), a) << name;
  for (const char *name : {"jvp.image", "image_cotangent", "gradient.", "gradient.cell", "cell_a.x",
                           "gradients.cell_a", ""})
    EXPECT_EQ(parameterBehind(name), nullptr) << name;
  EXPECT_EQ(derivativeName(DerivativeKind::JVP, "image", 3), "jvp.image.3");
  EXPECT_EQ(cotangentName("image"), "image_cotangent");
}

TEST(Parameters, OnlyRealNumbersAreDifferentiable) {
  for (const Parameter &parameter : allParameters()) {
    if (parameter.kind() == NB_PARAMETER_INDEX || parameter.kind() == NB_PARAMETER_MASK) {
      EXPECT_FALSE(parameter.differentiable()) << parameter.name;
    }
  }
  EXPECT_TRUE(findParameter("distance")->differentiable());
  EXPECT_TRUE(findParameter("mosaic_spread")->differentiable());
  EXPECT_FALSE(findParameter("mosaic_unit_angle")->differentiable());
}

} // namespace
} // namespace nanobragg
