// The numbers of a simulator.
#ifndef NANOBRAGG_CAPI_PARAMETERVALUES_H
#define NANOBRAGG_CAPI_PARAMETERVALUES_H

#include "runtime/processor/KernelRunner.h"

#include <map>
#include <string>
#include <vector>

namespace nanobragg {

/// The value of one parameter, whatever its kind; owns it.
struct ParameterValue {
  nb_parameter_kind kind = NB_PARAMETER_F64;
  bool set = false;
  std::string warning; ///< about the unit of the caller's numbers
  std::int64_t index = 0;
  std::vector<double> numbers; ///< scalar, vector, matrix, table, image; the data of a grid
  nb_hkl_grid grid = {};
  std::vector<std::uint8_t> mask;
  std::array<std::int64_t, 3> shape{}; ///< a mask's or an image's
};

/// One value for each parameter of a kernel. Every function throws std::invalid_argument naming the
/// parameter.
class ParameterValues {
public:
  /// Neutral values where there are such. The kernel must outlive this.
  explicit ParameterValues(const nb_kernel_descriptor &kernel);

  /// Throws also when the parameter is of another kind.
  ParameterValue &of(const std::string &name, nb_parameter_kind kind);
  const ParameterValue &of(const std::string &name, nb_parameter_kind kind) const;
  const ParameterValue &of(const std::string &name) const;

  /// Numbers of the caller are checked for their unit.
  enum class NumbersOf { Experiment, Caller };
  void setNumbers(const std::string &name, nb_parameter_kind kind, const double *numbers,
                  std::int64_t count, NumbersOf source = NumbersOf::Experiment);
  void setGrid(const std::string &name, const nb_hkl_grid &grid);
  void setMask(const std::string &name, const std::uint8_t *mask, const std::int64_t shape[3]);
  void setImage(const std::string &name, const double *pixels, const std::int64_t shape[3]);

  /// A line for each value with a warning.
  std::string warnings() const;

  ImageShape shape() const;
  RenderedRows rows() const;

  /// The kernel's argument array, after every value has been checked against the others: a kernel
  /// checks nothing. Points into this.
  std::vector<const void *> arguments();

private:
  std::int64_t countNamed(const std::string &name) const;
  void setNeutral(const std::string &name);
  void setFollowing();
  void check() const;
  void checkBox(const std::string &name, const nb_hkl_grid &grid) const;
  void checkOrder(const char *first, const char *last) const;

  const nb_kernel_descriptor &kernel;
  std::map<std::string, ParameterValue, std::less<>> values;
};

} // namespace nanobragg
#endif
