#include "lib/Choose/LikelyUnits.h"

#include "lib/Choose/DefaultsChooser.h"

#include <span>

namespace nanobragg {
namespace {

struct OtherUnit {
  const char *name;
  double factor; ///< into the flag's unit
};

constexpr OtherUnit metre{"m", 1e3}, micrometre{"um", 1e-3}, nanometre{"nm", 1e-6};
constexpr OtherUnit ofMillimetres[] = {metre, micrometre, nanometre};
constexpr OtherUnit ofMicrometres[] = {{"mm", 1e3}, {"m", 1e6}};
constexpr OtherUnit ofAngstroms[] = {{"m", 1e10}, {"nm", 10}, {"pm", 0.01}};
constexpr OtherUnit ofElectronVolts[] = {{"keV", 1e3}, {"MeV", 1e6}};

/// Units that lengths and energies are given in by mistake; the first with a usual value is named.
std::span<const OtherUnit> othersOf(std::string_view unit) {
  if (unit == "mm")
    return ofMillimetres;
  if (unit == "um")
    return ofMicrometres;
  if (unit == "eV")
    return ofElectronVolts;
  return ofAngstroms;
}

/// A wavelength that is an energy, or an energy that is a wavelength, comes out in the other flag.
std::string otherFlag(const Quantity &row, double value) {
  if (row.name() == "-lambda" && value >= 1000)
    return "; " + text(value) + " eV would be -energy " + text(value);
  return {};
}

std::string sentence(const Quantity &row, double value) {
  const std::string flag(row.name()), given = text(value);
  const std::string units = row.unit->name,
                    unit = units.substr(0, units.find(' ')); // a cell has two: A
  std::string all = flag + " " + given + ": " + given + " " + unit + " is far from usual";
  if (const std::string other = otherFlag(row, value); !other.empty())
    return all + other;
  for (const OtherUnit &other : othersOf(unit)) {
    const double meant = value * other.factor;
    if (meant >= row.more.usual.usuallyLowest && meant <= row.more.usual.usuallyHighest)
      return all + "; " + given + " " + other.name + " would be " + flag + " " + text(meant);
  }
  return all + "; check the unit, which is " + unit;
}

/// A number without its unit; empty where no unit makes it a usual one.
std::string sentenceOfPython(const Quantity &row, double value) {
  struct Constant {
    const char *name, *si;
    double value;
  };
  static constexpr Constant constants[] = {{"angstrom", "m", 1e-10},
                                           {"nanometer", "m", 1e-9},
                                           {"micrometer", "m", 1e-6},
                                           {"millimeter", "m", 1e-3},
                                           {"electronvolt", "J", 1.602176634e-19}};
  std::string_view si = row.unit->si; // a cell has two: m
  si = si.substr(0, si.find(' '));
  for (const Constant &constant : constants) {
    const double meant = row.unit->fromSI(value * constant.value);
    if (si.starts_with(constant.si) && meant >= row.more.usual.usuallyLowest &&
        meant <= row.more.usual.usuallyHighest)
      return std::string(row.more.python) + " is " + text(value) + " " + constant.si +
             ", and all numbers are in SI units; was " + text(value) + " * nb." + constant.name +
             " meant?";
  }
  return {};
}

} // namespace

std::vector<std::string> doubtfulUnits(const Options &options, Caller caller) {
  std::vector<std::string> sentences;
  for (const Quantity *row : allQuantities()) {
    const UsualValues &usual = row->more.usual;
    std::vector<double> given = row->field().get(options);
    if (given.empty() || usual.highest <= 0)
      continue;
    const double inSI = given[0];
    given[0] = row->unit->fromSI(inSI);
    if (caller == Caller::Python) {
      const bool usually = given[0] >= usual.usuallyLowest && given[0] <= usual.usuallyHighest;
      if (const std::string slip = sentenceOfPython(*row, inSI);
          !usually && inSI > 0 && !slip.empty() && !row->more.python.empty())
        sentences.push_back(slip);
      continue;
    }
    // Values that are no lengths at all are refused elsewhere.
    if (usual.highest > 0 && !given.empty() && given[0] > 0 &&
        (given[0] < usual.lowest || given[0] > usual.highest))
      sentences.push_back(sentence(*row, given[0]));
  }
  return sentences;
}

} // namespace nanobragg
