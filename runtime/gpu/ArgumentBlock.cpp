#include "runtime/gpu/ArgumentBlock.h"

#include "lib/Program/ParameterShape.h"

#include <stdexcept>
#include <string>

namespace nanobragg::gpu {

/// Entries of a table.
static std::size_t lengthOf(const nb_kernel_descriptor &kernel, const void *const *arguments,
                            const char *table) {
  const std::string_view count = countOf(table);
  for (std::uint32_t i = 0; i != kernel.num_parameters; ++i)
    if (!count.empty() && count == kernel.parameters[i].name &&
        kernel.parameters[i].kind == NB_PARAMETER_INDEX)
      return std::size_t(*static_cast<const std::int64_t *>(arguments[i]));
  throw std::runtime_error("the kernel takes a table '" + std::string(table) +
                           "' of unknown length, so that it cannot be copied to a GPU");
}

std::size_t valueBytes(const nb_kernel_descriptor &kernel, const void *const *arguments,
                       std::uint32_t i, const ImageShape &shape) {
  const nb_kernel_parameter &parameter = kernel.parameters[i];
  switch (parameter.kind) {
  case NB_PARAMETER_F64:
  case NB_PARAMETER_INDEX:
    return 8;
  case NB_PARAMETER_VEC3:
    return 3 * sizeof(double);
  case NB_PARAMETER_MAT3:
    return 9 * sizeof(double);
  case NB_PARAMETER_TABLE_F64:
    return lengthOf(kernel, arguments, parameter.name) * sizeof(double);
  case NB_PARAMETER_TABLE_VEC3:
    return lengthOf(kernel, arguments, parameter.name) * 3 * sizeof(double);
  case NB_PARAMETER_HKL_GRID: {
    const auto &grid = *static_cast<const nb_hkl_grid *>(arguments[i]);
    return std::size_t(grid.h_max - grid.h_min + 1) * std::size_t(grid.k_max - grid.k_min + 1) *
           std::size_t(grid.l_max - grid.l_min + 1) * sizeof(double);
  }
  case NB_PARAMETER_MASK:
    return std::size_t(shape.pixels());
  case NB_PARAMETER_IMAGE:
    return std::size_t(shape.pixels()) * sizeof(double);
  }
  throw std::runtime_error("the kernel has a parameter '" + std::string(parameter.name) +
                           "' of a kind that this program does not know");
}

} // namespace nanobragg::gpu
