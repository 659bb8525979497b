// A quantity that a user can give for an experiment: the type of a row.
//
// A quantity is one row of a table: how nb-sim's flag for it is spelt, its unit, its range, what
// holds without it, which field of Options it fills, what it is called in Python, which parameters
// of a kernel come from it, and when it counts. The rows stand by subject in
// CrystalQuantities.cpp, BeamQuantities.cpp, GoniometerQuantities.cpp and DetectorQuantities.cpp.
// From them come the flags and their help, the fields of Python's Crystal, Beam, Goniometer and
// Detector, the check of every value, and the notes on what has no effect.
#ifndef NANOBRAGG_QUANTITIES_QUANTITY_H
#define NANOBRAGG_QUANTITIES_QUANTITY_H

#include "lib/Experiment/FlagUnits.h"
#include "lib/Experiment/Options.h"
#include "lib/Experiment/Range.h"

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace nanobragg {

using O = Options;

/// In whose words messages are: flags with their units, fields of Python in SI, or parameters of C
/// in SI.
enum class Caller { CommandLine, Python, C };

/// A field of Options without its type, which is fieldOf()'s to know.
struct Field {
  enum class Kind { Number, Whole, Choice };
  Kind kind = Kind::Number;
  std::size_t size = 1;                         ///< how many numbers it holds
  std::span<const char *const> words = {};      ///< a choice has them
  const void *(*in)(const Options &) = nullptr; ///< which field it is
  void (*set)(Options &, std::span<const double>) = nullptr;
  void (*unset)(Options &) = nullptr;
  /// None where it is unset.
  std::vector<double> (*get)(const Options &) = nullptr;
};

/// Sizes that a value other than 0 has. Outside of the first two only a forgotten unit explains it,
/// and it is refused. In another unit it has to lie between the last two to be the one that was
/// meant. No check where `highest` is 0.
struct UsualValues {
  double lowest = 0, highest = 0, usuallyLowest = 0, usuallyHighest = 0;
  bool rotation = false; ///< any number of degrees is possible
};

/// The columns that not every quantity has.
struct More {
  /// Class and field of Python, "Crystal.mosaic_spread"; of rows with the same name each is an
  /// element, or, of choices, a word. Empty: it has none.
  std::string_view python = "";
  /// The kernel's parameter, or group of parameters, that it sets.
  std::string_view parameter = "";
  /// When it counts: "with -flux". Empty: always.
  std::string_view only = "";
  /// Flags, for what nothing is chosen by: see Flag.h.
  std::string_view with = "", without = "";
  double value = 1;         ///< the value that a flag without values sets
  bool zeroIsUnset = false; ///< as in the C program
  bool oneForAll = false;   ///< one value serves for all numbers of the field
  /// The fault of values (in the flag's unit) that are in the range; empty: none.
  std::string (*wrong)(std::span<const double>) = nullptr;
  /// Other fields that the flag sets.
  void (*also)(Options &) = nullptr;
  UsualValues usual = {}; ///< in the flag's unit
};

struct Quantity {
  std::string_view flags;  ///< spellings, with blanks between; the first is its name
  std::string_view values; ///< one word per value; those in brackets may be missing
  const Unit *unit;
  std::string_view fallback; ///< the value that holds without it
  std::string_view meaning;
  Range range;                         ///< for every value that is a number, in the flag's unit
  std::array<const Field *, 3> fields; ///< one value is for all of them
  More more = {};

  std::string_view name() const { return flags.substr(0, flags.find(' ')); }
  const Field &field() const { return *fields[0]; }
  /// The name that the caller knows it by; the flag where Python has none.
  std::string_view nameFor(Caller caller) const;
  /// Values in SI, as `check` accepts them.
  void set(Options &options, std::vector<double> values) const;
  /// The choice of this word. Throws std::invalid_argument that lists the words.
  double choice(std::string_view word) const;
  /// Values in SI. Throws std::invalid_argument that says what is wrong in the caller's unit and
  /// does not name the quantity.
  void check(std::span<const double> values, Caller caller = Caller::CommandLine) const;
};

std::span<const Quantity> crystalQuantities();
std::span<const Quantity> modelQuantities(); ///< structure factors and backgrounds
std::span<const Quantity> beamQuantities();
std::span<const Quantity> goniometerQuantities();
std::span<const Quantity> detectorQuantities();
std::span<const Quantity> geometryQuantities();
std::span<const Quantity> responseQuantities();
std::span<const Quantity> outputQuantities();

/// All of them.
const std::vector<const Quantity *> &allQuantities();

/// The quantity that sets this field of the options, alone if there is such a one; null if there
/// is none.
const Quantity *quantityOf(const void *field, const Options &options);

/// Null when there is none of this name.
const Quantity *findQuantity(std::string_view name);

/// Checks every value that is given, and is not that of `checked`. Throws std::invalid_argument
/// naming the flag or Python's field.
void checkQuantities(const Options &options, const Options &checked = {},
                     Caller caller = Caller::CommandLine);

/// Options that remember which of their fields were read.
class OptionReader {
public:
  explicit OptionReader(const Options &options) : options(options) {}

  template <typename T>
  const T &operator()(T Options::*field) const {
    note(&(options.*field));
    return options.*field;
  }
  /// For what is printed only, and counts as not read.
  const Options &unread() const { return options; }
  std::vector<const Field *> neverRead() const;

private:
  void note(const void *field) const;

  const Options &options;
  mutable std::vector<const void *> fields;
};

/// How a quantity that was set changes nothing, " has no effect: ..."; empty: it has its effect.
/// `neverRead`: those of the reader by whom all was chosen.
std::string lostEffect(const Quantity &row, const Options &options,
                       const std::vector<const Field *> &neverRead);

} // namespace nanobragg
#endif
