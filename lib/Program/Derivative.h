// Which derivatives a program computes.
//
// Part of what a kernel is compiled for, beside its ProgramVariant: the image alone, or the image
// and its derivatives with respect to some of its parameters.
#ifndef NANOBRAGG_PROGRAM_DERIVATIVE_H
#define NANOBRAGG_PROGRAM_DERIVATIVE_H

#include <string>
#include <string_view>
#include <vector>

namespace nanobragg {

struct Derivative {
  enum class Mode {
    Value,    ///< the image
    Jacobian, ///< and one derivative image per parameter, each of which is one number
    JVP,      ///< and one derivative image per direction in the space of the parameters
    VJP,      ///< and the gradient of a loss, given its derivative with respect to each pixel
    HVP       ///< as VJP, and the change of that gradient along a direction
  };

  Mode mode = Mode::Value;
  std::vector<std::string> parameters; ///< names of the parameter table, without repetition
  int tangents = 1;                    ///< directions at once; JVP alone can have several

  /// "none", "jacobian", "jvp", "vjp" or "hvp".
  std::string modeName() const;

  bool operator==(const Derivative &) const = default;

  /// Canonical text without blanks: "none", "vjp(cell_a,misset_x)", "jvp*3(wavelength)".
  std::string toString() const;
  /// Inverse of toString; "" is Value too. Throws std::invalid_argument naming what is wrong.
  static Derivative fromString(std::string_view text);
};

} // namespace nanobragg
#endif
