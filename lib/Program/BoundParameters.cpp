#include "lib/Program/BoundParameters.h"

#include "lib/Experiment/CheckedSize.h"
#include "lib/Program/ParameterElements.h"
#include "lib/Program/Parameters.h"
#include "nanobragg/DerivativeNames.h"

#include <stdexcept>
#include <string>
#include <vector>

namespace nanobragg {
namespace {

/// A parameter that the experiment provides.
struct ProvidedParameter {
  const Parameter *row;
  std::size_t argument;
  // Values in another form than the experiment's.
  std::int64_t index = 0;
  nb_hkl_grid grid{};
  std::vector<double> gapless{};

  /// Null when the experiment has no such table, grid or mask.
  const void *value(const Experiment &experiment) {
    const ParameterPlace &place = row->place;
    if (place.index) {
      index = place.index(experiment);
      return &index;
    }
    if (place.mask)
      return place.mask(experiment).data();
    const Numbers<const double> numbers = place.numbers(experiment);
    if (place.grid) {
      grid = place.grid(experiment);
      return grid.data ? &grid : nullptr;
    }
    if (numbers.gapless())
      return numbers.data;
    gapless.resize(numbers.size());
    for (std::size_t i = 0; i != gapless.size(); ++i)
      gapless[i] = numbers[i];
    return gapless.empty() ? nullptr : gapless.data();
  }
};

/// A parameter that no experiment provides.
struct FreeParameter {
  std::string name;
  std::size_t argument;
  nb_parameter_kind kind;
  std::size_t size; ///< numbers
  nb_hkl_grid grid{};
};

/// A kernel reads as many entries as the counts say.
void checkTables(const Experiment &e) {
  const std::int64_t pixels = e.pixelCount();
  for (const Parameter &parameter : allParameters()) {
    const ParameterPlace &place = parameter.place;
    std::size_t entries = 0;
    std::int64_t count = 0;
    if (parameter.count) {
      entries = place.numbers(e).entries;
      count = findParameter(parameter.count)->place.index(e);
    } else if (place.mask) {
      entries = place.mask(e).size();
      count = pixels;
    } else if (parameter.kind() == NB_PARAMETER_IMAGE) {
      entries = place.numbers(e).entries;
      count = pixels;
    } else if (place.grid) {
      const nb_hkl_grid g = place.grid(e);
      entries = place.numbers(e).entries;
      count = productOf({g.h_max - g.h_min + 1, g.k_max - g.k_min + 1, g.l_max - g.l_min + 1},
                        "a grid");
    }
    if (entries != 0 && std::int64_t(entries) != count)
      throw std::invalid_argument("parameter '" + std::string(parameter.name) + "' has " +
                                  std::to_string(entries) + " entries where the experiment has " +
                                  std::to_string(count));
  }
}

/// The parameter that "tangent.NAME" or "tangent.NAME.3" is a direction of, or null.
const Parameter *parameterOfTangent(std::string_view name) {
  const auto derivative = parseDerivativeName(name);
  return derivative && derivative->kind == DerivativeKind::Tangent ? findParameter(derivative->of)
                                                                   : nullptr;
}

} // namespace

struct BoundParameters::Storage {
  explicit Storage(const Experiment &experiment) : experiment(experiment) {}

  const Experiment &experiment;
  std::vector<ProvidedParameter> provided;
  std::vector<FreeParameter> free;
  std::vector<const void *> arguments;
};

BoundParameters::BoundParameters(const nb_kernel_descriptor &kernel, const Experiment &experiment)
    : storage(std::make_unique<Storage>(experiment)) {
  Storage &s = *storage;
  checkTables(experiment);
  s.arguments.resize(kernel.num_parameters);
  for (std::uint32_t i = 0; i < kernel.num_parameters; ++i) {
    const nb_kernel_parameter &wanted = kernel.parameters[i];
    auto refuse = [&](const char *why) {
      throw std::invalid_argument("kernel '" + std::string(kernel.name) + "': parameter '" +
                                  wanted.name + "' " + why);
    };
    const Parameter *row = findParameter(wanted.name);
    if (wanted.kind == NB_PARAMETER_IMAGE && !row) { // a cotangent
      s.free.push_back({wanted.name, i, wanted.kind, std::size_t(experiment.pixelCount()), {}});
      continue;
    }
    if (const Parameter *by = parameterOfTangent(wanted.name); by && by->kind() == wanted.kind) {
      ProvidedParameter of{by, i};
      of.value(experiment);
      s.free.push_back(
          {wanted.name, i, wanted.kind, by->place.numbers(experiment).size(), of.grid});
      continue;
    }
    if (!row)
      refuse("is unknown; the kernel is of another version");
    if (row->kind() != wanted.kind)
      refuse("has another kind here; the kernel is of another version");
    s.provided.push_back({row, i});
    if (!s.provided.back().value(experiment))
      refuse("is not provided by this experiment");
  }
}

BoundParameters::BoundParameters(BoundParameters &&) noexcept = default;
BoundParameters::~BoundParameters() = default;

void BoundParameters::bind(std::string_view parameter, std::span<const double> numbers) {
  for (FreeParameter &free : storage->free) {
    if (free.name != parameter)
      continue;
    if (numbers.size() != free.size)
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
  for (ProvidedParameter &parameter : storage->provided)
    storage->arguments[parameter.argument] = parameter.value(storage->experiment);
  return storage->arguments.data();
}

} // namespace nanobragg
