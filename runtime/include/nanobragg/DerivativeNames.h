// The names of what a derivative adds to a program.
//
// nb-differentiate gives them to the arguments and results that it adds, the runtime and its users
// look for them:
//
//   tangent.PARAMETER     argument: how a parameter changes
//   RESULT_cotangent      argument: the derivative of a loss with respect to a result, such as
//                         "image_cotangent"
//   derivative.PARAMETER  result: derivative of the image with respect to one number
//   jvp.RESULT            result: how a result changes along the tangents, "jvp.image"
//   gradient.PARAMETER    result: derivative of the loss
//   hvp.PARAMETER         result: how that gradient changes along the tangents
//
// Along several directions at once, names of tangents and of what follows from them end with the
// direction, from one: "tangent.cell_a.2".
#ifndef NANOBRAGG_DERIVATIVENAMES_H
#define NANOBRAGG_DERIVATIVENAMES_H

#include <array>
#include <optional>
#include <string>
#include <string_view>

namespace nanobragg {

enum class DerivativeKind { Tangent, Derivative, JVP, Gradient, HVP };

inline constexpr std::array<std::string_view, 5> derivativeWords = {"tangent", "derivative", "jvp",
                                                                    "gradient", "hvp"};

/// `direction` counts from one; 0: there is only one.
inline std::string derivativeName(DerivativeKind kind, std::string_view of,
                                  unsigned direction = 0) {
  std::string name(derivativeWords[std::size_t(kind)]);
  name += '.';
  name += of;
  return direction ? name + '.' + std::to_string(direction) : name;
}

inline std::string tangentName(std::string_view parameter, unsigned direction = 0) {
  return derivativeName(DerivativeKind::Tangent, parameter, direction);
}
inline std::string gradientName(std::string_view parameter) {
  return derivativeName(DerivativeKind::Gradient, parameter);
}
inline std::string cotangentName(std::string_view result) {
  return std::string(result) + "_cotangent";
}

struct DerivativeName {
  DerivativeKind kind;
  std::string_view of; ///< parameter or result, into the text that was parsed
};

/// Empty for a name that derivativeName() does not make.
inline std::optional<DerivativeName> parseDerivativeName(std::string_view name) {
  for (std::size_t i = 0; i != derivativeWords.size(); ++i) {
    const std::string_view word = derivativeWords[i];
    if (name.substr(0, word.size()) != word || name.substr(word.size(), 1) != ".")
      continue;
    std::string_view of = name.substr(word.size() + 1);
    const std::size_t dot = of.rfind('.');
    if (dot != of.npos && of.find_first_not_of("0123456789", dot + 1) == of.npos)
      of = of.substr(0, dot);
    return DerivativeName{DerivativeKind(i), of};
  }
  return std::nullopt;
}

} // namespace nanobragg
#endif
