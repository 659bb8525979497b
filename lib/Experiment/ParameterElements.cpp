#include "lib/Experiment/ParameterElements.h"

#include <memory>
#include <stdexcept>
#include <string_view>
#include <utility>

namespace nanobragg {
namespace {

Vec3 Panel::*panelField(std::string_view name) {
  if (name == "panel_offset")
    return &Panel::offset;
  if (name == "panel_fast_axis")
    return &Panel::fastAxis;
  if (name == "panel_slow_axis")
    return &Panel::slowAxis;
  return name == "panel_normal" ? &Panel::normal : nullptr;
}

std::size_t entries(const Experiment &experiment, std::string_view table) {
  if (table.starts_with("mosaic_"))
    return experiment.crystal.mosaicUnitAngle.size();
  if (table.starts_with("panel_"))
    return experiment.detector.panels.size();
  return experiment.beam.sourceWeight.size();
}

char axisName(std::size_t index) { return "xyz"[index % 3]; }

} // namespace

std::size_t elementCount(const Experiment &experiment, const Parameter &parameter) {
  switch (parameter.kind) {
  case NB_PARAMETER_F64:
    return 1;
  case NB_PARAMETER_VEC3:
    return 3;
  case NB_PARAMETER_MAT3:
    return 9;
  case NB_PARAMETER_TABLE_F64:
    return entries(experiment, parameter.name);
  case NB_PARAMETER_TABLE_VEC3:
    return 3 * entries(experiment, parameter.name);
  case NB_PARAMETER_HKL_GRID:
    return experiment.crystal.grid ? experiment.crystal.grid->values.size() : 0;
  default:
    return 0;
  }
}

double element(const Experiment &experiment, const Parameter &parameter, std::size_t index) {
  if (index >= elementCount(experiment, parameter))
    throw std::out_of_range("parameter '" + std::string(parameter.name) + "' has no element " +
                            std::to_string(index));
  if (parameter.kind == NB_PARAMETER_HKL_GRID)
    return experiment.crystal.grid->values[index];
  if (const auto field = panelField(parameter.name))
    return (experiment.detector.panels[index / 3].*field)[index % 3];
  return static_cast<const double *>(parameter.address(experiment))[index];
}

double &element(Experiment &experiment, const Parameter &parameter, std::size_t index) {
  element(std::as_const(experiment), parameter, index);
  // The experiment is ours to change; the table of parameters only hands out what may be read.
  if (parameter.kind == NB_PARAMETER_HKL_GRID)
    return const_cast<HklGrid &>(*experiment.crystal.grid).values[index];
  if (const auto field = panelField(parameter.name))
    return (experiment.detector.panels[index / 3].*field)[index % 3];
  return const_cast<double *>(static_cast<const double *>(parameter.address(experiment)))[index];
}

void ownGrid(Experiment &experiment) {
  if (experiment.crystal.grid)
    experiment.crystal.grid = std::make_shared<HklGrid>(*experiment.crystal.grid);
}

std::string elementName(const Experiment &experiment, const Parameter &parameter,
                        std::size_t index) {
  const std::string name = parameter.name;
  switch (parameter.kind) {
  case NB_PARAMETER_VEC3:
    return name + "." + axisName(index);
  case NB_PARAMETER_MAT3:
    return name + "[" + std::to_string(index / 3) + "][" + std::to_string(index % 3) + "]";
  case NB_PARAMETER_TABLE_F64:
    return name + "[" + std::to_string(index) + "]";
  case NB_PARAMETER_TABLE_VEC3:
    return name + "[" + std::to_string(index / 3) + "]." + axisName(index);
  case NB_PARAMETER_HKL_GRID: {
    const HklGrid &grid = *experiment.crystal.grid;
    const auto nl = std::size_t(grid.lMax - grid.lMin + 1), nk = std::size_t(grid.kMax - grid.kMin + 1);
    return name + "(" + std::to_string(grid.hMin + std::int64_t(index / (nk * nl))) + "," +
           std::to_string(grid.kMin + std::int64_t(index / nl % nk)) + "," +
           std::to_string(grid.lMin + std::int64_t(index % nl)) + ")";
  }
  default:
    return name;
  }
}

} // namespace nanobragg
