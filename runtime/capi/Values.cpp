#include "lib/Runs/ExperimentOf.h"
#include "runtime/capi/FlagValues.h"
#include "runtime/capi/Status.h"
#include "runtime/kernels/HklCache.h"
#include "runtime/kernels/KernelFit.h"

using namespace nanobragg;

namespace {

nb_status setNumbers(nb_simulator *s, const char *name, nb_parameter_kind kind,
                     const double *numbers, std::int64_t count) {
  return locked(s, [&] {
    s->values.setNumbers(given(name, "the name"), kind, numbers, count,
                         ParameterValues::NumbersOf::Caller);
  });
}

/// The specification of the experiment's own kernel. Its derivatives are the given kernel's, since
/// no flag chooses them.
KernelSpecification specificationFor(const nb_kernel_descriptor &kernel, ProgramVariant variant) {
  KernelSpecification specification = KernelSpecification::fromString(kernel.variant);
  if (specification.derivative.mode != Derivative::Mode::Value)
    variant.imageType = ImageType::F64;
  specification.variant = variant;
  return specification;
}

} // namespace

nb_status nb_set_f64(nb_simulator *s, const char *name, double value) {
  return setNumbers(s, name, NB_PARAMETER_F64, &value, 1);
}

nb_status nb_set_index(nb_simulator *s, const char *name, int64_t value) {
  return locked(s, [&] {
    ParameterValue &place = s->values.of(given(name, "the name"), NB_PARAMETER_INDEX);
    place.index = value;
    place.set = true;
  });
}

nb_status nb_set_vec3(nb_simulator *s, const char *name, const double value[3]) {
  return setNumbers(s, name, NB_PARAMETER_VEC3, value, 3);
}

nb_status nb_set_mat3(nb_simulator *s, const char *name, const double row_major[9]) {
  return setNumbers(s, name, NB_PARAMETER_MAT3, row_major, 9);
}

nb_status nb_set_table_f64(nb_simulator *s, const char *name, const double *values, int64_t count) {
  return setNumbers(s, name, NB_PARAMETER_TABLE_F64, values, count);
}

nb_status nb_set_table_vec3(nb_simulator *s, const char *name, const double *values,
                            int64_t count) {
  // Three times this is still refused, and does not overflow.
  constexpr int64_t most = int64_t(1) << 50;
  return setNumbers(s, name, NB_PARAMETER_TABLE_VEC3, values,
                    3 * std::clamp<int64_t>(count, -1, most));
}

nb_status nb_set_hkl_grid(nb_simulator *s, const char *name, const nb_hkl_grid *grid) {
  return locked(s, [&] {
    if (!grid)
      throw std::invalid_argument("the grid is NULL");
    s->values.setGrid(given(name, "the name"), *grid);
  });
}

nb_status nb_set_mask(nb_simulator *s, const char *name, const uint8_t *mask,
                      const int64_t shape[3]) {
  return locked(s, [&] {
    if (!shape)
      throw std::invalid_argument("the shape is NULL");
    s->values.setMask(given(name, "the name"), mask, shape);
  });
}

nb_status nb_set_image(nb_simulator *s, const char *name, const double *pixels,
                       const int64_t shape[3]) {
  return locked(s, [&] {
    if (!shape)
      throw std::invalid_argument("the shape is NULL");
    s->values.setImage(given(name, "the name"), pixels, shape);
  });
}

nb_status nb_set_flags(nb_simulator *s, int count, const char *const *flags) {
  return locked(s, [&] {
    std::string warnings;
    const Experiment experiment =
        experimentOf(words(count, flags), HklCache::fromEnvironment().get(), &warnings);
    try {
      checkFits(s->kernel(), specificationFor(s->kernel(), experiment.variant), std::nullopt,
                "the simulator's kernel");
    } catch (const std::runtime_error &error) {
      throw std::invalid_argument(error.what());
    }
    setAll(s->values, s->kernel(), experiment);
    s->flagWarnings = std::move(warnings);
  });
}

nb_status nb_get_f64(const nb_simulator *s, const char *name, double *value) {
  return locked(s, [&] {
    given(value, "the place for the value");
    const ParameterValue &found = s->values.of(given(name, "the name"), NB_PARAMETER_F64);
    if (found.numbers.empty())
      throw std::invalid_argument("parameter '" + std::string(name) + "' has not been set");
    *value = found.numbers[0];
  });
}

nb_status nb_get_index(const nb_simulator *s, const char *name, int64_t *value) {
  return locked(s, [&] {
    given(value, "the place for the value");
    *value = s->values.of(given(name, "the name"), NB_PARAMETER_INDEX).index;
  });
}

nb_status nb_get_numbers(const nb_simulator *s, const char *name, double *values, int64_t capacity,
                         int64_t *count) {
  return locked(s, [&] {
    const std::vector<double> &numbers = s->values.of(given(name, "the name")).numbers;
    if (numbers.empty())
      throw std::invalid_argument("parameter '" + std::string(name) +
                                  "' holds no numbers of type double, or none yet");
    handOut(std::span(numbers), values, capacity, count);
  });
}
