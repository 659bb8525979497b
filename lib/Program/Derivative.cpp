#include "lib/Program/Derivative.h"

#include "lib/Program/Parameters.h"

#include <algorithm>
#include <charconv>
#include <stdexcept>

namespace nanobragg {
namespace {

/// In the order of the enumerators.
constexpr std::string_view modeNames[] = {"none", "jacobian", "jvp", "vjp", "hvp"};

[[noreturn]] void refuse(std::string_view text, const std::string &why) {
  throw std::invalid_argument("derivative '" + std::string(text) + "': " + why);
}

Derivative::Mode modeOf(std::string_view text, std::string_view word) {
  const auto found = std::find(std::begin(modeNames), std::end(modeNames), word);
  if (found == std::end(modeNames))
    refuse(text, "'" + std::string(word) + "' is not one of none, jacobian, jvp, vjp, hvp");
  return Derivative::Mode(found - std::begin(modeNames));
}

int tangentsOf(std::string_view text, std::string_view number) {
  int tangents = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), tangents);
  if (error != std::errc() || end != number.data() + number.size() || tangents < 1)
    refuse(text, "'" + std::string(number) + "' is not a number of directions");
  return tangents;
}

void addParameter(std::string_view text, std::string_view name, Derivative &derivative) {
  const Parameter *parameter = findParameter(name);
  if (!parameter || !parameter->differentiable())
    refuse(text, "there is no derivative with respect to '" + std::string(name) + "'");
  std::vector<std::string> &all = derivative.parameters;
  if (std::find(all.begin(), all.end(), name) != all.end())
    refuse(text, "'" + std::string(name) + "' is named twice");
  if (derivative.mode == Derivative::Mode::Jacobian && parameter->kind() != NB_PARAMETER_F64)
    refuse(text, "'" + std::string(name) + "' is not one number; ask for jvp");
  all.emplace_back(name);
}

} // namespace

std::string Derivative::modeName() const { return std::string(modeNames[std::size_t(mode)]); }

std::string Derivative::toString() const {
  std::string text = modeName();
  if (mode == Mode::Value)
    return text;
  if (tangents != 1)
    text += "*" + std::to_string(tangents);
  text += '(';
  for (const std::string &name : parameters)
    text += (&name == &parameters.front() ? "" : ",") + name;
  return text + ')';
}

Derivative Derivative::fromString(std::string_view text) {
  Derivative derivative;
  if (text.empty() || text == "none")
    return derivative;
  const std::size_t open = text.find('(');
  if (open == text.npos || text.back() != ')')
    refuse(text, "expected MODE(PARAMETER,...)");
  std::string_view word = text.substr(0, open);
  const std::size_t star = word.find('*');
  derivative.mode = modeOf(text, word.substr(0, star));
  if (derivative.mode == Mode::Value)
    refuse(text, "'none' takes no parameters");
  if (star != word.npos) {
    if (derivative.mode != Mode::JVP)
      refuse(text, "only jvp has several directions");
    derivative.tangents = tangentsOf(text, word.substr(star + 1));
  }
  std::string_view rest = text.substr(open + 1, text.size() - open - 2);
  do {
    const std::string_view name = rest.substr(0, rest.find(','));
    addParameter(text, name, derivative);
    rest.remove_prefix(std::min(rest.size(), name.size() + 1));
  } while (!rest.empty());
  return derivative;
}

} // namespace nanobragg
