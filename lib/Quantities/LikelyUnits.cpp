#include "lib/Quantities/LikelyUnits.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numbers>
#include <span>

namespace nanobragg {
namespace {

struct NamedUnit {
  std::string_view name;     ///< as that of flags
  std::string_view constant; ///< Python's; empty: none
  std::string_view si;
  double value;
};

/// From large to small ones: the first that makes a value usual is the likeliest.
constexpr double electronvolt = 1.602176634e-19;
constexpr NamedUnit namedUnits[] = {{"m", "meter", "m", 1},
                                    {"mm", "millimeter", "m", 1e-3},
                                    {"um", "micrometer", "m", 1e-6},
                                    {"nm", "nanometer", "m", 1e-9},
                                    {"A", "angstrom", "m", 1e-10},
                                    {"pm", "", "m", 1e-12},
                                    {"MeV", "", "J", 1e6 * electronvolt},
                                    {"keV", "kiloelectronvolt", "J", 1e3 * electronvolt},
                                    {"eV", "electronvolt", "J", electronvolt},
                                    {"rad", "radian", "rad", 1},
                                    {"degrees", "degree", "rad", std::numbers::pi / 180},
                                    {"mrad", "milliradian", "rad", 1e-3},
                                    {"urad", "", "rad", 1e-6},
                                    {"percent", "percent", "1", 0.01},
                                    {"ms", "", "s", 1e-3},
                                    {"us", "", "s", 1e-6},
                                    {"ns", "", "s", 1e-9},
                                    {"fs", "", "s", 1e-15},
                                    {"photons/um^2", "", "1/m^2", 1e12},
                                    {"photons/mm^2", "", "1/m^2", 1e6}};

std::string rounded(double value) {
  char digits[32];
  std::snprintf(digits, sizeof digits, "%.6g", value);
  return digits;
}

/// A cell has two units, "A and degrees".
std::string_view unitAt(std::string_view units, std::size_t index) {
  const std::size_t both = units.find(" and ");
  if (both == units.npos)
    return units;
  return index < 3 ? units.substr(0, both) : units.substr(both + 5);
}

bool isAngleOfCell(const Quantity &row, std::size_t index) {
  return row.unit->otherToSI && index >= 3;
}

/// Edges and angles of a cell are different quantities. Radians are below 4 degrees.
UsualValues usualAt(const Quantity &row, std::size_t index) {
  return isAngleOfCell(row, index) ? UsualValues{4, 180, 20, 160} : row.more.usual;
}

/// The value as it would be written with the unit that was forgotten; empty: no unit makes it
/// usual.
std::string meant(const Quantity &row, double given, std::size_t index, Caller caller) {
  const std::string_view own = unitAt(row.unit->name, index), si = unitAt(row.unit->si, index);
  const UsualValues usual = usualAt(row, index);
  const auto written = [&](const NamedUnit &unit) -> std::string {
    const double inSI = given * unit.value, value = row.unit->fromSI(inSI, index);
    const bool never = own == "degrees" && unit.name == "urad"; // far apart
    if (unit.si != si || never || std::fabs(value) < usual.usuallyLowest ||
        std::fabs(value) > usual.usuallyHighest)
      return {};
    // A flag's number has been through SI units, which round it.
    const std::string number = caller == Caller::CommandLine ? rounded(given) : numberText(given);
    const std::string with = number + " " + std::string(unit.name);
    if (caller == Caller::CommandLine)
      return unit.name == own
                 ? ""
                 : with + " would be " + std::string(row.name()) + " " + rounded(value);
    if (unit.value == 1)
      return {};
    if (caller == Caller::Python && !unit.constant.empty())
      return number + " * nb." + std::string(unit.constant);
    return rounded(inSI) + " for " + with;
  };
  // In SI the unit that flags have is the one that is forgotten most.
  if (caller != Caller::CommandLine)
    for (const NamedUnit &unit : namedUnits)
      if (unit.name == own)
        if (std::string words = written(unit); !words.empty())
          return words;
  for (const NamedUnit &unit : namedUnits)
    if (std::string words = written(unit); !words.empty())
      return words;
  return {};
}

/// An energy that is given as a wavelength, which is `angstroms`.
std::string otherQuantity(const Quantity &row, double angstroms, double given, Caller caller) {
  const bool kilo = angstroms > row.more.usual.usuallyHighest && angstroms < 40;
  if (row.name() != "-lambda" || !(kilo || given >= 1000))
    return {};
  const std::string number = kilo ? rounded(angstroms) : numberText(given);
  const double inElectronvolts = kilo ? 1000 * angstroms : given;
  if (caller == Caller::CommandLine)
    return number + (kilo ? " keV" : " eV") + " would be -energy " + rounded(inElectronvolts);
  if (caller == Caller::Python)
    return "for an energy, Beam(energy=" + number + " * nb." +
           (kilo ? "kiloelectronvolt)" : "electronvolt)");
  return "for an energy in eV, 1.2398419843320026e-6 / " + rounded(inElectronvolts);
}

} // namespace

std::optional<UnitSlip> slipOfUnits(const Quantity &row, double inSI, std::size_t index,
                                    Caller caller) {
  const UsualValues usual = usualAt(row, index);
  const bool flag = caller == Caller::CommandLine;
  const std::string_view si = unitAt(row.unit->si, index);
  if (usual.highest <= 0 || !std::isfinite(inSI) || inSI == 0 || (inSI < 0 && row.range.low >= 0) ||
      (flag && (usual.rotation || si == "1")))
    return {};
  constexpr double rounding = 1 + 1e-12;
  const double value = row.unit->fromSI(inSI, index), size = std::fabs(value);
  const auto isBetween = [&](double low, double high) {
    return size >= low / rounding && size <= high * rounding;
  };
  if (isBetween(usual.usuallyLowest, usual.usuallyHighest))
    return {};
  // In SI a length without its unit is too large.
  const double lowest = flag ? usual.lowest : 0;
  const bool certain = !isBetween(lowest, usual.highest);
  const double number = flag ? value : inSI;
  std::string words = otherQuantity(row, value, number, caller);
  if (words.empty())
    words = meant(row, number, index, caller);
  if (!certain && words.empty())
    return {};
  const std::string unit(flag ? unitAt(row.unit->name, index) : si == "1" ? "" : si);
  const std::string behind = unit.empty() ? "" : " " + unit;
  const auto given = [&](double bound) {
    return rounded(flag ? bound : row.unit->inSI(bound, index));
  };
  const double low = certain ? lowest : usual.usuallyLowest,
               high = certain ? usual.highest : usual.usuallyHighest;
  std::string sentence = rounded(number) + behind;
  sentence += certain ? " is beyond any experiment; values " : " is unusual; most are ";
  sentence += (low > 0 ? "from " + given(low) + " to " : "up to ") + given(high) + behind;
  sentence += certain ? " are allowed; " : "; ";
  if (!flag)
    sentence += "numbers are in SI units" + std::string(words.empty() ? "" : ": ");
  return UnitSlip{sentence + (words.empty() && flag ? "check the unit, which is " + unit : words),
                  certain};
}

std::vector<std::string> doubtfulUnits(const Options &options, Caller caller) {
  std::vector<std::string> sentences;
  for (const Quantity *row : allQuantities()) {
    if (row->more.python.empty() && caller == Caller::Python)
      continue;
    for (const Field *field : row->fields) {
      if (!field || field->kind == Field::Kind::Choice)
        continue;
      const std::vector<double> given = field->get(options);
      for (std::size_t i = 0; i != given.size(); ++i)
        if (const auto slip = slipOfUnits(*row, given[i], i, caller); slip && !slip->certain) {
          std::string sentence = std::string(row->nameFor(caller)) + ": " + slip->sentence;
          if (std::ranges::find(sentences, sentence) == sentences.end())
            sentences.push_back(std::move(sentence));
        }
    }
  }
  return sentences;
}

} // namespace nanobragg
