#include "runtime/capi/ParameterValues.h"

#include "lib/Experiment/CheckedSize.h"
#include "lib/Program/ParameterShape.h"
#include "lib/Program/Parameters.h"
#include "lib/Program/PossibleValues.h"
#include "nanobragg/DerivativeNames.h"

#include <algorithm>
#include <stdexcept>

namespace nanobragg {
namespace {

/// Far more than fits in memory, far less than overflows when it is multiplied.
constexpr std::int64_t mostEntries = std::int64_t(1) << 40;

[[noreturn]] void refuse(const std::string &name, const std::string &why) {
  throw std::invalid_argument("parameter '" + name + "' " + why);
}

std::int64_t extent(const std::string &name, std::int64_t least, std::int64_t most) {
  const std::int64_t limit = std::int64_t(1) << 30;
  if (least < -limit || most > limit || most < least)
    refuse(name, "has a box of Miller indices from " + std::to_string(least) + " to " +
                     std::to_string(most));
  return most - least + 1;
}

} // namespace

ParameterValues::ParameterValues(const nb_kernel_descriptor &kernel) : kernel(kernel) {
  for (std::uint32_t i = 0; i != kernel.num_parameters; ++i) {
    const nb_kernel_parameter &parameter = kernel.parameters[i];
    ParameterValue &value = values[parameter.name];
    value.kind = parameter.kind;
    setNeutral(parameter.name);
  }
}

const ParameterValue &ParameterValues::of(const std::string &name) const {
  const auto found = values.find(name);
  if (found == values.end())
    throw std::invalid_argument("the kernel has no parameter '" + name + "'");
  return found->second;
}

const ParameterValue &ParameterValues::of(const std::string &name, nb_parameter_kind kind) const {
  const ParameterValue &value = of(name);
  if (value.kind != kind)
    refuse(name, std::string("is of kind ") + kindText(value.kind) + ", not " + kindText(kind));
  return value;
}

ParameterValue &ParameterValues::of(const std::string &name, nb_parameter_kind kind) {
  static_cast<const ParameterValues &>(*this).of(name, kind);
  return values.find(name)->second;
}

void ParameterValues::setNumbers(const std::string &name, nb_parameter_kind kind,
                                 const double *numbers, std::int64_t count, NumbersOf source) {
  ParameterValue &value = of(name, kind);
  if (count < 0 || count > mostEntries || (count && !numbers))
    refuse(name, "is given " + std::to_string(count) + " numbers");
  std::string warning;
  if (source == NumbersOf::Caller)
    warning = checkUnits(name, "parameter '" + name + "'", {numbers, std::size_t(count)}, Caller::C)
                  .value_or("");
  checkPossible(name, numbers, count);
  value.warning = std::move(warning);
  value.numbers.assign(numbers, numbers + count);
  value.set = true;
}

std::string ParameterValues::warnings() const {
  std::string lines;
  for (const auto &[name, value] : values)
    if (!value.warning.empty())
      lines += value.warning + "\n";
  return lines;
}

void ParameterValues::setGrid(const std::string &name, const nb_hkl_grid &grid) {
  ParameterValue &value = of(name, NB_PARAMETER_HKL_GRID);
  const std::int64_t h = extent(name, grid.h_min, grid.h_max);
  const std::int64_t k = extent(name, grid.k_min, grid.k_max);
  const std::int64_t l = extent(name, grid.l_min, grid.l_max);
  const auto nodes = tryProduct({h, k, l}).value_or(mostGridNodes + 1);
  if (nodes > mostGridNodes)
    refuse(name, "has a box of 2^31 Miller indices or more; fewer are allowed");
  if (!grid.data)
    refuse(name, "has no data");
  checkPossible(name, grid.data, nodes);
  value.numbers.assign(grid.data, grid.data + nodes);
  value.grid = grid;
  value.grid.data = value.numbers.data();
  value.set = true;
}

/// The number of pixels.
static std::int64_t checkImage(const std::string &name, const void *data,
                               const std::int64_t shape[3]) {
  const std::int64_t size = tryProduct({shape[0], shape[1], shape[2]}).value_or(0);
  if (size < 1 || size > mostEntries)
    refuse(name, "has an impossible shape");
  if (!data)
    refuse(name, "has no data");
  return size;
}

void ParameterValues::setMask(const std::string &name, const std::uint8_t *mask,
                              const std::int64_t shape[3]) {
  ParameterValue &value = of(name, NB_PARAMETER_MASK);
  value.mask.assign(mask, mask + checkImage(name, mask, shape));
  value.shape = {shape[0], shape[1], shape[2]};
  value.set = true;
}

void ParameterValues::setImage(const std::string &name, const double *pixels,
                               const std::int64_t shape[3]) {
  ParameterValue &value = of(name, NB_PARAMETER_IMAGE);
  value.numbers.assign(pixels, pixels + checkImage(name, pixels, shape));
  value.shape = {shape[0], shape[1], shape[2]};
  value.set = true;
}

std::int64_t ParameterValues::countNamed(const std::string &name) const {
  const ParameterValue &value = of(name, NB_PARAMETER_INDEX);
  if (!value.set)
    refuse(name, "has not been set");
  if (value.index < 1 || value.index > std::int64_t(1) << 30)
    refuse(name, "is " + std::to_string(value.index) + ", which is not a count");
  return value.index;
}

ImageShape ParameterValues::shape() const {
  // Rows of a list of pixels may be of any panel.
  const bool list =
      std::ranges::any_of(values, [](const auto &v) { return v.first == "pixel_fast"; });
  const ImageShape shape = {list ? 1 : countNamed(imageCounts[0]), countNamed(imageCounts[1]),
                            countNamed(imageCounts[2])};
  if (tryProduct({shape.panels, shape.slow, shape.fast}).value_or(mostEntries + 1) > mostEntries)
    throw std::invalid_argument("the image has too many pixels");
  return shape;
}

RenderedRows ParameterValues::rows() const {
  return {of("roi_slow_min").index, of("roi_slow_max").index + 1};
}

void ParameterValues::setNeutral(const std::string &name) {
  const Parameter *parameter = findParameter(name);
  if (!parameter || parameter->neutral.rule != NeutralValue::Rule::Numbers)
    return;
  const NeutralValue &neutral = parameter->neutral;
  ParameterValue &value = values[name];
  value.set = true;
  if (value.kind == NB_PARAMETER_INDEX)
    value.index = std::int64_t(neutral.numbers[0]);
  else
    value.numbers.assign(neutral.numbers.begin(), neutral.numbers.begin() + neutral.size);
}

/// Values that follow from counts unless they have been set. They stay unset, to follow again.
void ParameterValues::setFollowing() {
  for (auto &[name, value] : values) {
    const Parameter *parameter = findParameter(name);
    if (value.set || !parameter || !parameter->neutral.of)
      continue;
    const std::int64_t count = countNamed(parameter->neutral.of);
    if (parameter->neutral.rule == NeutralValue::Rule::LastOf)
      value.index = count - 1;
    else
      value.numbers = {1 / double(count)};
  }
}

/// A direction of change of a grid is over the grid's box.
void ParameterValues::checkBox(const std::string &name, const nb_hkl_grid &grid) const {
  const auto derivative = parseDerivativeName(name);
  if (!derivative || derivative->kind != DerivativeKind::Tangent)
    return;
  const nb_hkl_grid &of = this->of(std::string(derivative->of), NB_PARAMETER_HKL_GRID).grid;
  const auto box = [](const nb_hkl_grid &g) {
    return std::array{g.h_min, g.h_max, g.k_min, g.k_max, g.l_min, g.l_max};
  };
  if (box(grid) != box(of))
    refuse(name, "has another box of Miller indices than the grid it changes");
}

/// Checks two bounds of a region.
void ParameterValues::checkOrder(const char *first, const char *last) const {
  if (values.contains(first) && values.contains(last) && of(first).index > of(last).index)
    refuse(first, "is above '" + std::string(last) + "': no pixel is between them");
}

void ParameterValues::check() const {
  const ImageShape image = shape();
  for (const auto &[name, value] : values) {
    const bool table =
        value.kind == NB_PARAMETER_TABLE_F64 || value.kind == NB_PARAMETER_TABLE_VEC3;
    if (!value.set && value.numbers.empty() && value.kind != NB_PARAMETER_INDEX)
      refuse(name, "has not been set");
    const std::size_t fixed = value.kind == NB_PARAMETER_F64    ? 1
                              : value.kind == NB_PARAMETER_VEC3 ? 3
                              : value.kind == NB_PARAMETER_MAT3 ? 9
                                                                : value.numbers.size();
    if (value.numbers.size() != fixed)
      refuse(name, "has not been set"); // neutral values have another kind
    if (const Parameter *parameter = findParameter(name); parameter && parameter->pixelOf) {
      if (value.index < 0 || value.index >= countNamed(parameter->pixelOf))
        refuse(name, "is outside the image");
    } else if (value.kind == NB_PARAMETER_INDEX) {
      countNamed(name);
    }
    if (const std::string count(countOf(name)); table && values.contains(count)) {
      const auto width = value.kind == NB_PARAMETER_TABLE_VEC3 ? 3u : 1u;
      const auto entries = std::int64_t(value.numbers.size() / width);
      if (entries != countNamed(count))
        refuse(name, "has " + std::to_string(entries) + " entries where '" + count + "' is " +
                         std::to_string(countNamed(count)));
    }
    const bool perPixel = value.kind == NB_PARAMETER_MASK || value.kind == NB_PARAMETER_IMAGE;
    if (perPixel && value.shape != std::array{image.panels, image.slow, image.fast})
      refuse(name, "has another shape than the image");
    if (value.kind == NB_PARAMETER_HKL_GRID)
      checkBox(name, value.grid);
  }
  checkOrder("roi_fast_min", "roi_fast_max");
  checkOrder("roi_slow_min", "roi_slow_max");
  if (values.contains("cell_alpha"))
    checkCellAngles(of("cell_alpha").numbers[0], of("cell_beta").numbers[0],
                    of("cell_gamma").numbers[0]);
}

std::vector<const void *> ParameterValues::arguments() {
  setFollowing();
  check();
  std::vector<const void *> all;
  for (std::uint32_t i = 0; i != kernel.num_parameters; ++i) {
    const ParameterValue &value = of(kernel.parameters[i].name);
    switch (value.kind) {
    case NB_PARAMETER_INDEX:
      all.push_back(&value.index);
      break;
    case NB_PARAMETER_HKL_GRID:
      all.push_back(&value.grid);
      break;
    case NB_PARAMETER_MASK:
      all.push_back(value.mask.data());
      break;
    case NB_PARAMETER_F64:
    case NB_PARAMETER_VEC3:
    case NB_PARAMETER_MAT3:
    case NB_PARAMETER_TABLE_F64:
    case NB_PARAMETER_TABLE_VEC3:
    case NB_PARAMETER_IMAGE:
      all.push_back(value.numbers.data());
      break;
    }
  }
  return all;
}

} // namespace nanobragg
