#include "lib/Program/ParameterElements.h"

#include <memory>
#include <stdexcept>

namespace nanobragg {
namespace {

char axisName(std::size_t index) { return "xyz"[index % 3]; }

template <typename T>
T &checked(const Numbers<T> &numbers, const Parameter &parameter, std::size_t index) {
  if (index >= numbers.size())
    throw std::out_of_range("parameter '" + std::string(parameter.name) + "' has no element " +
                            std::to_string(index));
  return numbers[index];
}

} // namespace

std::size_t elementCount(const Experiment &experiment, const Parameter &parameter) {
  return parameter.place.numbers ? parameter.place.numbers(experiment).size() : 0;
}

double element(const Experiment &experiment, const Parameter &parameter, std::size_t index) {
  return checked(parameter.place.numbers(experiment), parameter, index);
}

double &element(Experiment &experiment, const Parameter &parameter, std::size_t index) {
  return checked(parameter.place.mutableNumbers(experiment), parameter, index);
}

bool ownGrid(Experiment &experiment) {
  bool copied = false;
  for (std::shared_ptr<const HklGrid> *grid :
       {&experiment.crystal.grid, &experiment.crystal.sheets})
    if (grid->use_count() > 1) {
      *grid = std::make_shared<HklGrid>(**grid);
      copied = true;
    }
  return copied;
}

std::string elementName(const Experiment &experiment, const Parameter &parameter,
                        std::size_t index) {
  const std::string name = parameter.name;
  switch (parameter.kind()) {
  case NB_PARAMETER_VEC3:
    return name + "." + axisName(index);
  case NB_PARAMETER_MAT3:
    return name + "[" + std::to_string(index / 3) + "][" + std::to_string(index % 3) + "]";
  case NB_PARAMETER_TABLE_F64:
    return name + "[" + std::to_string(index) + "]";
  case NB_PARAMETER_TABLE_VEC3:
    return name + "[" + std::to_string(index / 3) + "]." + axisName(index);
  case NB_PARAMETER_HKL_GRID: {
    const nb_hkl_grid grid = parameter.place.grid(experiment);
    const auto nl = std::size_t(grid.l_max - grid.l_min + 1),
               nk = std::size_t(grid.k_max - grid.k_min + 1);
    return name + "(" + std::to_string(grid.h_min + std::int64_t(index / (nk * nl))) + "," +
           std::to_string(grid.k_min + std::int64_t(index / nl % nk)) + "," +
           std::to_string(grid.l_min + std::int64_t(index % nl)) + ")";
  }
  case NB_PARAMETER_F64:
  case NB_PARAMETER_INDEX:
  case NB_PARAMETER_MASK:
  case NB_PARAMETER_IMAGE:
    return name;
  }
  throw std::logic_error("parameter '" + name + "' is of no known kind");
}

} // namespace nanobragg
