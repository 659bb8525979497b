#include "lib/Experiment/Parameters.h"

#include <stdexcept>
#include <string_view>
#include <utility>

namespace nanobragg {

namespace {

/// A parameter that no experiment provides.
struct FreeParameter {
  std::string name;
  std::size_t argument;
  nb_parameter_kind kind;
  std::int64_t size; ///< numbers
  nb_hkl_grid grid{};
};

} // namespace

struct BoundParameters::Storage {
  explicit Storage(const Experiment &experiment) : experiment(experiment) {}

  const Experiment &experiment;
  std::int64_t mosaicDomains = 0, sources = 0, panelCount = 0;
  nb_hkl_grid grid{};
  // Kernels want each vector of the panels as a table of its own.
  std::vector<Vec3> panelOffset, panelFast, panelSlow, panelNormal;
  std::vector<const void *> arguments;
  std::vector<FreeParameter> free;

  void packPanels() {
    for (std::size_t i = 0; i < panelOffset.size(); ++i) {
      const Panel &panel = experiment.detector.panels[i];
      panelOffset[i] = panel.offset;
      panelFast[i] = panel.fastAxis;
      panelSlow[i] = panel.slowAxis;
      panelNormal[i] = panel.normal;
    }
  }

  const void *stored(std::string_view name) const {
    if (name == "mosaic_domains")
      return &mosaicDomains;
    if (name == "sources")
      return &sources;
    if (name == "panel_count")
      return &panelCount;
    if (name == "F")
      return grid.data ? &grid : nullptr;
    if (name == "panel_offset")
      return panelOffset.data();
    if (name == "panel_fast_axis")
      return panelFast.data();
    if (name == "panel_slow_axis")
      return panelSlow.data();
    if (name == "panel_normal")
      return panelNormal.data();
    return nullptr;
  }
};

namespace {

/// A kernel reads as many entries as the counts say.
void checkTables(const Experiment &e) {
  auto check = [](std::size_t entries, std::int64_t count, const char *table) {
    if (entries != 0 && std::int64_t(entries) != count)
      throw std::invalid_argument("parameter '" + std::string(table) + "' has " +
                                  std::to_string(entries) + " entries where the experiment has " +
                                  std::to_string(count));
  };
  check(e.crystal.mosaicAxis.size(), e.mosaicDomains(), "mosaic_axis");
  for (auto &[table, name] :
       {std::pair(&e.beam.unitHdiv, "unit_hdiv"), std::pair(&e.beam.unitVdiv, "unit_vdiv"),
        std::pair(&e.beam.unitDispersion, "unit_dispersion"),
        std::pair(&e.beam.sourceWavelength, "source_wavelength")})
    check(table->size(), e.sourceCount(), name);
  check(e.beam.sourceDirection.size(), e.sourceCount(), "source_direction");
  check(e.detector.mask.size(), e.panelCount() * e.detector.slowPixels * e.detector.fastPixels,
        "mask");
  if (const HklGrid *g = e.crystal.grid.get())
    check(g->values.size(),
          (g->hMax - g->hMin + 1) * (g->kMax - g->kMin + 1) * (g->lMax - g->lMin + 1), "F");
}

/// The parameter that "tangent.NAME" or "tangent.NAME.3" is a direction of, or null.
const Parameter *parameterOfTangent(std::string_view name) {
  constexpr std::string_view prefix = "tangent.";
  if (!name.starts_with(prefix))
    return nullptr;
  name.remove_prefix(prefix.size());
  return findParameter(name.substr(0, name.find('.')));
}

std::int64_t entriesOf(std::string_view table, const Experiment &e) {
  return table.starts_with("mosaic_")  ? e.mosaicDomains()
         : table.starts_with("panel_") ? e.panelCount()
                                       : e.sourceCount();
}

/// How many numbers a free parameter is.
std::int64_t sizeOf(nb_parameter_kind kind, std::string_view name, const Experiment &e) {
  switch (kind) {
  case NB_PARAMETER_VEC3:
    return 3;
  case NB_PARAMETER_MAT3:
    return 9;
  case NB_PARAMETER_TABLE_F64:
    return entriesOf(name, e);
  case NB_PARAMETER_TABLE_VEC3:
    return 3 * entriesOf(name, e);
  case NB_PARAMETER_HKL_GRID:
    return e.crystal.grid ? std::int64_t(e.crystal.grid->values.size()) : 0;
  case NB_PARAMETER_IMAGE:
    return e.panelCount() * e.detector.slowPixels * e.detector.fastPixels;
  default:
    return 1;
  }
}

} // namespace

BoundParameters::BoundParameters(const nb_kernel_descriptor &kernel, const Experiment &experiment)
    : storage(std::make_unique<Storage>(experiment)) {
  Storage &s = *storage;
  checkTables(experiment);
  s.mosaicDomains = experiment.mosaicDomains();
  s.sources = experiment.sourceCount();
  s.panelCount = experiment.panelCount();
  if (const HklGrid *grid = experiment.crystal.grid.get())
    s.grid = {grid->hMin, grid->hMax, grid->kMin,         grid->kMax,
              grid->lMin, grid->lMax, grid->values.data()};
  std::size_t panels = experiment.detector.panels.size();
  for (auto *packed : {&s.panelOffset, &s.panelFast, &s.panelSlow, &s.panelNormal})
    packed->resize(panels);
  s.packPanels();

  for (std::uint32_t i = 0; i < kernel.num_parameters; ++i) {
    const nb_kernel_parameter &wanted = kernel.parameters[i];
    auto refuse = [&](const char *why) {
      throw std::invalid_argument("kernel '" + std::string(kernel.name) + "': parameter '" +
                                  wanted.name + "' " + why);
    };
    const Parameter *tangentOf = parameterOfTangent(wanted.name);
    if (wanted.kind == NB_PARAMETER_IMAGE || (tangentOf && tangentOf->kind == wanted.kind)) {
      const char *name = tangentOf ? tangentOf->name : wanted.name;
      s.free.push_back({wanted.name, i, wanted.kind, sizeOf(wanted.kind, name, experiment), s.grid});
      s.arguments.push_back(nullptr);
      continue;
    }
    const Parameter *parameter = findParameter(wanted.name);
    if (!parameter)
      refuse("is unknown; the kernel is of another version");
    if (parameter->kind != wanted.kind)
      refuse("has another kind here; the kernel is of another version");
    const void *address = parameter->address(experiment);
    if (!address)
      address = s.stored(wanted.name);
    if (!address)
      refuse("is not provided by this experiment");
    s.arguments.push_back(address);
  }
}

BoundParameters::BoundParameters(BoundParameters &&) noexcept = default;
BoundParameters::~BoundParameters() = default;

void BoundParameters::bind(std::string_view parameter, std::span<const double> numbers) {
  for (FreeParameter &free : storage->free) {
    if (free.name != parameter)
      continue;
    if (std::int64_t(numbers.size()) != free.size)
      throw std::invalid_argument("parameter '" + free.name + "' is given " +
                                  std::to_string(numbers.size()) + " numbers and has " +
                                  std::to_string(free.size));
    free.grid.data = numbers.data();
    storage->arguments[free.argument] =
        free.kind == NB_PARAMETER_HKL_GRID ? static_cast<const void *>(&free.grid) : numbers.data();
    return;
  }
  throw std::invalid_argument("the kernel has no parameter '" + std::string(parameter) +
                              "' beside those of the experiment");
}

const void *const *BoundParameters::arguments() const {
  for (const FreeParameter &free : storage->free)
    if (!storage->arguments[free.argument])
      throw std::invalid_argument("parameter '" + free.name + "' has not been set");
  return provided();
}

const void *const *BoundParameters::provided() const {
  storage->packPanels();
  return storage->arguments.data();
}

} // namespace nanobragg
