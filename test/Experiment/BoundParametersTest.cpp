#include "lib/Program/BoundParameters.h"

#include "lib/Program/Parameters.h"
#include "test/Experiment/Support.h"

#include <gmock/gmock.h>

#include <stdexcept>

namespace nanobragg {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

/// A kernel that takes all parameters of a variant.
struct Kernel {
  explicit Kernel(const ProgramVariant &variant) {
    for (const Parameter *p : parametersOf(variant))
      parameters.push_back({p->name, p->kind(), p->unit});
  }
  nb_kernel_descriptor descriptor() const {
    nb_kernel_descriptor d{};
    d.name = "test";
    d.num_parameters = std::uint32_t(parameters.size());
    d.parameters = parameters.data();
    return d;
  }
  std::size_t indexOf(std::string_view name) const {
    for (std::size_t i = 0; i < parameters.size(); ++i)
      if (parameters[i].name == name)
        return i;
    throw std::out_of_range("no such parameter");
  }
  std::vector<nb_kernel_parameter> parameters;
};

/// An experiment that provides every parameter, whatever its variant says.
Experiment complete() {
  Experiment e = completeRight(cubic()).experiment;
  e.crystal.grid = std::make_shared<HklGrid>(HklGrid{-1, 1, 0, 0, 2, 3, {1, 2, 3, 4, 5, 6}});
  e.crystal.sheets = e.crystal.grid;
  e.crystal.energyNodes.values = {1};
  e.beam.spectrumWavelength.values = {1e-10};
  e.beam.spectrumDensity = {1};
  e.detector.absorptionNode.values = {1};
  e.detector.absorption = {1};
  e.crystal.fPrime = e.crystal.fDoublePrime = {1};
  e.beam.sourceDirection = {{-1, 0, 0}};
  e.beam.sourceWavelength = {1e-10};
  e.background.stol.values = e.background.factor.values = {0, 1};
  e.background.first = e.background.last = {0};
  e.background.thickness = e.background.density = e.background.molarMass = {1};
  e.detector.panels.resize(2);
  e.detector.panels[1] = {{1, 2, 3}, {4, 5, 6}, {7, 8, 9}, {10, 11, 12}};
  e.detector.mask.assign(std::size_t(2 * e.detector.fastPixels * e.detector.slowPixels), 1);
  ReflectionList &listed = e.reflections;
  for (PixelMap *map : {&e.detector.listPanel, &e.detector.listSlow, &e.detector.listFast,
                        &listed.h, &listed.k, &listed.l, &listed.turn, &listed.begin, &listed.end,
                        &listed.source, &listed.layer, &listed.wavelength})
    map->values.assign(e.detector.mask.size(), 0);
  for (PixelMap *map : {&e.detector.gainMap, &e.detector.light})
    map->values.assign(e.detector.mask.size(), 1);
  return e;
}

Kernel everything() {
  Kernel kernel{ProgramVariant()};
  kernel.parameters.clear();
  for (const Parameter &p : allParameters())
    kernel.parameters.push_back({p.name, p.kind(), p.unit});
  return kernel;
}

TEST(BoundParameters, EveryParameterHasAnAddress) {
  Experiment e = complete();
  Kernel kernel = everything();
  BoundParameters bound(kernel.descriptor(), e);
  for (std::size_t i = 0; i < kernel.parameters.size(); ++i)
    EXPECT_NE(bound.arguments()[i], nullptr) << kernel.parameters[i].name;
}

TEST(BoundParameters, CountsGridAndPanels) {
  Experiment e = complete();
  Kernel kernel = everything();
  BoundParameters bound(kernel.descriptor(), e);
  auto index = [&](const char *name) {
    return *static_cast<const std::int64_t *>(bound.arguments()[kernel.indexOf(name)]);
  };
  EXPECT_EQ(index("mosaic_domains"), 1);
  EXPECT_EQ(index("sources"), 1);
  EXPECT_EQ(index("panel_count"), 2);
  auto *grid = static_cast<const nb_hkl_grid *>(bound.arguments()[kernel.indexOf("F")]);
  EXPECT_EQ(grid->h_min, -1);
  EXPECT_EQ(grid->l_max, 3);
  EXPECT_EQ(grid->data[5], 6);
  auto *list = static_cast<const nb_hkl_grid *>(bound.arguments()[kernel.indexOf("background_F")]);
  EXPECT_EQ(list->l_max, 1);
  EXPECT_EQ(list->data[1], 1);
  auto *slow = static_cast<const double *>(bound.arguments()[kernel.indexOf("panel_slow_axis")]);
  EXPECT_EQ(slow[3], 7);
}

TEST(BoundParameters, SeesChangesInPlace) {
  Experiment e = complete();
  Kernel kernel = everything();
  BoundParameters bound(kernel.descriptor(), e);
  e.crystal.cellA = 42;
  e.detector.panels[1].offset[0] = 43;
  BoundParameters moved = std::move(bound);
  EXPECT_EQ(*static_cast<const double *>(moved.arguments()[kernel.indexOf("cell_a")]), 42);
  EXPECT_EQ(static_cast<const double *>(moved.arguments()[kernel.indexOf("panel_offset")])[3], 43);
}

TEST(BoundParameters, RefusesWhatTheExperimentLacks) {
  Experiment e = completeRight(cubic()).experiment;
  auto refuses = [&](nb_kernel_parameter parameter, const char *why) {
    Kernel kernel{ProgramVariant()};
    kernel.parameters = {parameter};
    EXPECT_THAT([&] { BoundParameters(kernel.descriptor(), e); },
                ThrowsMessage<std::invalid_argument>(HasSubstr(why)));
  };
  refuses({"F", NB_PARAMETER_HKL_GRID, "electron"}, "'F' is not provided");
  refuses({"mask", NB_PARAMETER_MASK, "1"}, "'mask' is not provided");
  refuses({"panel_offset", NB_PARAMETER_TABLE_VEC3, "m"}, "'panel_offset' is not provided");
  refuses({"nonsense", NB_PARAMETER_F64, "1"}, "'nonsense' is unknown");
  refuses({"cell_a", NB_PARAMETER_INDEX, "m"}, "'cell_a' has another kind");
}

TEST(BoundParameters, RefusesTablesOfUnequalLength) {
  Experiment e = completeRight(cubic()).experiment;
  e.beam.unitHdiv.push_back(0);
  Kernel kernel{e.variant};
  EXPECT_THAT([&] { BoundParameters(kernel.descriptor(), e); },
              ThrowsMessage<std::invalid_argument>(HasSubstr("'unit_hdiv' has 2 entries")));
}

} // namespace
} // namespace nanobragg
