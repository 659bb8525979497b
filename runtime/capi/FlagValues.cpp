#include "runtime/capi/FlagValues.h"

#include "lib/Program/BoundParameters.h"
#include "lib/Program/ParameterElements.h"

namespace nanobragg {
void setAll(ParameterValues &values, const nb_kernel_descriptor &kernel,
            const Experiment &experiment) {
  const BoundParameters bound(kernel, experiment);
  for (std::uint32_t i = 0; i != kernel.num_parameters; ++i) {
    const auto &[name, kind, unit] = kernel.parameters[i];
    const void *address = bound.provided()[i];
    if (!address)
      continue; // a quantity that no experiment has stays as it was set
    const std::int64_t shape[] = {experiment.imagePanels(), experiment.detector.slowPixels,
                                  experiment.detector.fastPixels};
    switch (kind) {
    case NB_PARAMETER_INDEX: {
      ParameterValue &value = values.of(name, kind);
      value.index = *static_cast<const std::int64_t *>(address);
      value.set = true;
      break;
    }
    case NB_PARAMETER_F64:
    case NB_PARAMETER_VEC3:
    case NB_PARAMETER_MAT3:
    case NB_PARAMETER_TABLE_F64:
    case NB_PARAMETER_TABLE_VEC3:
      values.setNumbers(name, kind, static_cast<const double *>(address),
                        std::int64_t(elementCount(experiment, *findParameter(name))));
      break;
    case NB_PARAMETER_HKL_GRID:
      values.setGrid(name, *static_cast<const nb_hkl_grid *>(address));
      break;
    case NB_PARAMETER_MASK:
      values.setMask(name, static_cast<const std::uint8_t *>(address), shape);
      break;
    case NB_PARAMETER_IMAGE:
      values.setImage(name, static_cast<const double *>(address), shape);
      break;
    }
  }
}

} // namespace nanobragg
