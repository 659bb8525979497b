#include "lib/Experiment/LikelyUnits.h"

#include "lib/Experiment/DefaultsChooser.h"

#include <span>

namespace nanobragg {
namespace {

struct Unit {
  const char *name;
  double factor; ///< into the flag's unit
};

constexpr Unit metre{"m", 1e3}, micrometre{"um", 1e-3}, nanometre{"nm", 1e-6};
constexpr Unit ofMillimetres[] = {metre, micrometre, nanometre};
constexpr Unit ofMicrometres[] = {{"mm", 1e3}, {"m", 1e6}};
constexpr Unit ofAngstroms[] = {{"m", 1e10}, {"nm", 10}, {"pm", 0.01}};
constexpr Unit ofElectronVolts[] = {{"keV", 1e3}, {"MeV", 1e6}};

/// What a flag's value is in every experiment, and in most of them.
struct UsualValue {
  const char *flag;
  std::optional<double> (*value)(const Options &);
  const char *unit;
  double lowest, highest;               ///< beyond these the user is told
  double usuallyLowest, usuallyHighest; ///< where a value in another unit has to land
  std::span<const Unit> others;         ///< the first that lands there is named
};

std::optional<double> ifNotZero(double value) {
  return value != 0 ? std::optional(value) : std::nullopt;
}

template <auto Field>
std::optional<double> field(const Options &options) {
  return options.*Field;
}

using O = Options;
constexpr UsualValue usualValues[] = {
    {"-lambda", field<&O::lambda>, "A", 0.01, 50, 0.1, 10, ofAngstroms},
    {"-energy", field<&O::energy>, "eV", 100, 1e6, 1000, 2e5, ofElectronVolts},
    {"-cell", [](const O &o) { return o.cell ? std::optional((*o.cell)[0]) : std::nullopt; }, "A",
     1, 1e5, 2, 2000, ofAngstroms},
    {"-xtal_thick", field<&O::sampleX>, "mm", 1e-6, 10, 1e-5, 1, ofMillimetres},
    {"-xtal_width", field<&O::sampleY>, "mm", 1e-6, 10, 1e-5, 1, ofMillimetres},
    {"-xtal_height", field<&O::sampleZ>, "mm", 1e-6, 10, 1e-5, 1, ofMillimetres},
    {"-beamsize", field<&O::beamSize>, "mm", 1e-5, 20, 1e-4, 1, ofMillimetres},
    {"-distance", field<&O::distance>, "mm", 1, 2e5, 20, 2e4, ofMillimetres},
    {"-close_distance", field<&O::closeDistance>, "mm", 1, 2e5, 20, 2e4, ofMillimetres},
    {"-pixel", field<&O::pixelSize>, "mm", 1e-3, 10, 5e-3, 1, ofMillimetres},
    {"-detsize_f", field<&O::detSizeFast>, "mm", 0.5, 1e4, 10, 3e3, ofMillimetres},
    {"-detsize_s", field<&O::detSizeSlow>, "mm", 0.5, 1e4, 10, 3e3, ofMillimetres},
    {"-detector_thick", [](const O &o) { return ifNotZero(o.thickness.value_or(0)); }, "um", 2, 1e5,
     10, 1e4, ofMicrometres},
    {"-dmin", [](const O &o) { return ifNotZero(o.dmin); }, "A", 0.05, 1000, 0.3, 100, ofAngstroms},
};

/// A wavelength that is an energy, or an energy that is a wavelength, comes out in the other flag.
std::string otherFlag(const UsualValue &usual, double value) {
  const std::string flag = usual.flag;
  if (flag == "-lambda" && value >= 1000)
    return "; " + text(value) + " eV would be -energy " + text(value);
  return {};
}

std::string sentence(const UsualValue &usual, double value) {
  const std::string flag = usual.flag, given = text(value);
  std::string all = flag + " " + given + ": " + given + " " + usual.unit + " is far from usual";
  if (const std::string other = otherFlag(usual, value); !other.empty())
    return all + other;
  for (const Unit &unit : usual.others) {
    const double meant = value * unit.factor;
    if (meant >= usual.usuallyLowest && meant <= usual.usuallyHighest)
      return all + "; " + given + " " + unit.name + " would be " + flag + " " + text(meant);
  }
  return all + "; check the unit, which is " + usual.unit;
}

} // namespace

std::vector<std::string> likelySlipsOfUnits(const Options &options) {
  std::vector<std::string> sentences;
  for (const UsualValue &usual : usualValues)
    if (const std::optional<double> value = usual.value(options))
      // What is no length at all is refused elsewhere.
      if (*value > 0 && (*value < usual.lowest || *value > usual.highest))
        sentences.push_back(sentence(usual, *value));
  return sentences;
}

} // namespace nanobragg
