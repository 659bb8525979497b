#include "runtime/capi/FlagValues.h"

#include "lib/Experiment/Parameters.h"
#include "runtime/kernels/ParameterShape.h"

namespace nanobragg {
namespace {

std::int64_t countIn(const Experiment &experiment, std::string_view table) {
  const std::string_view count = countOf(table);
  if (count == "mosaic_domains")
    return experiment.mosaicDomains();
  return count == "panel_count" ? experiment.panelCount() : experiment.sourceCount();
}

} // namespace

void setAll(ParameterValues &values, const nb_kernel_descriptor &kernel,
            const Experiment &experiment) {
  const BoundParameters bound(kernel, experiment);
  for (std::uint32_t i = 0; i != kernel.num_parameters; ++i) {
    const auto &[name, kind, unit] = kernel.parameters[i];
    const void *address = bound.provided()[i];
    if (!address)
      continue; // what no experiment has stays as it was set
    const auto *numbers = static_cast<const double *>(address);
    switch (kind) {
    case NB_PARAMETER_F64:
      values.setNumbers(name, kind, numbers, 1);
      break;
    case NB_PARAMETER_INDEX: {
      ParameterValue &value = values.of(name, kind);
      value.index = *static_cast<const std::int64_t *>(address);
      value.set = true;
      break;
    }
    case NB_PARAMETER_VEC3:
      values.setNumbers(name, kind, numbers, 3);
      break;
    case NB_PARAMETER_MAT3:
      values.setNumbers(name, kind, numbers, 9);
      break;
    case NB_PARAMETER_TABLE_F64:
      values.setNumbers(name, kind, numbers, countIn(experiment, name));
      break;
    case NB_PARAMETER_TABLE_VEC3:
      values.setNumbers(name, kind, numbers, 3 * countIn(experiment, name));
      break;
    case NB_PARAMETER_HKL_GRID:
      values.setGrid(name, *static_cast<const nb_hkl_grid *>(address));
      break;
    case NB_PARAMETER_MASK: {
      const std::int64_t shape[] = {experiment.panelCount(), experiment.detector.slowPixels,
                                    experiment.detector.fastPixels};
      values.setMask(name, static_cast<const std::uint8_t *>(address), shape);
      break;
    }
    case NB_PARAMETER_IMAGE:
      break; // no experiment has one
    }
  }
}

} // namespace nanobragg
