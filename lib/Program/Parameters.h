// The named numbers of a kernel.
//
// A parameter is one row of a table that says all there is to say of it: which programs take it,
// where its value lives in an Experiment and of which kind it is, what counts its entries, which
// groups it belongs to, what it is when it is not set, whether more of it means more samples, and
// when its gradient is zero. The rows stand by subject in CrystalParameters.cpp,
// GoniometerParameters.cpp, BeamParameters.cpp, DetectorParameters.cpp, SampleParameters.cpp and
// AverageParameters.cpp.
// The frontend declares function arguments from them, the runtime binds a kernel's arguments from
// them, and --list-parameters prints them.
#ifndef NANOBRAGG_PROGRAM_PARAMETERS_H
#define NANOBRAGG_PROGRAM_PARAMETERS_H

#include "lib/Experiment/Experiment.h"
#include "lib/Program/DeadConditions.h"
#include "nanobragg/KernelABI.h"

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace nanobragg {

/// Numbers in memory: `entries` of `width` numbers each, which begin `stride` numbers apart.
template <typename T>
struct Numbers {
  T *data = nullptr;
  std::size_t entries = 0, width = 1, stride = 1;

  std::size_t size() const { return entries * width; }
  bool gapless() const { return stride == width; }
  T &operator[](std::size_t i) const { return data[i / width * stride + i % width]; }
};

/// Where the value of a parameter lives in an experiment. Those functions are null that have
/// nothing to say of its kind.
struct ParameterPlace {
  nb_parameter_kind kind;
  /// Scalars, vectors, matrices, tables, and the values of a grid; none where the experiment has no
  /// such table or grid.
  Numbers<const double> (*numbers)(const Experiment &);
  /// The same to be changed. A grid must belong to this experiment alone, see ownGrid().
  Numbers<double> (*mutableNumbers)(Experiment &);
  std::int64_t (*index)(const Experiment &);
  std::span<const std::uint8_t> (*mask)(const Experiment &);
  /// Without data where the experiment has no such grid.
  nb_hkl_grid (*grid)(const Experiment &);
};

/// Conditions under which a derivative is zero; those after the last are null.
using DeadConditions = std::array<const DeadCondition *, 3>;

/// Which numbers a parameter may have, where the range of its quantity does not say so already.
enum class Possible {
  Any,
  Positive,
  NotNegative,
  CellAngle, ///< between 0 and pi
  Direction  ///< a vector that is not zero
};

/// The value of a parameter for a program that is not told.
struct NeutralValue {
  enum class Rule {
    MustBeSet,
    Numbers,
    LastOf, ///< one less than the parameter `of`
    OneOver ///< one over the parameter `of`
  };
  Rule rule = Rule::MustBeSet;
  std::array<double, 3> numbers{};
  std::size_t size = 0;     ///< how many of them
  const char *of = nullptr; ///< a parameter that is a count
};

/// A parameter of the program. All pointers are to static storage.
struct Parameter {
  const char *name;
  const char *unit;    ///< SI; "1" when dimensionless
  const char *meaning; ///< one line
  ParameterPlace place;
  /// The programs that take it; null: all.
  bool (*usedBy)(const ProgramVariant &) = nullptr;
  /// No derivative is taken with respect to it, as never to an index or a mask.
  bool discrete = false;
  /// The parameter that counts the entries of this table.
  const char *count = nullptr;
  /// Where this is the number of a pixel: the parameter that counts these pixels.
  const char *pixelOf = nullptr;
  /// It may be compiled into a kernel, as all counts may, where it is a whole number.
  bool mayBeFixed = false;
  /// Names for several parameters that it goes by, with blanks between; see ParameterGroups.h.
  const char *groups = "";
  NeutralValue neutral = {};
  Possible possible = Possible::Any;
  /// The power of this count that the samples of a pixel go with; 0: they do not.
  int samples = 0;
  /// Its derivative is zero where one of these holds.
  DeadConditions dead = {&dead::noImage};

  nb_parameter_kind kind() const { return place.kind; }
  bool isUsedBy(const ProgramVariant &variant) const { return !usedBy || usedBy(variant); }
  /// A physical number with respect to which derivatives can be taken.
  bool differentiable() const { return !discrete && place.numbers; }
};

/// All parameters, in the order of the program's arguments.
std::span<const Parameter> allParameters();

/// Those that a program of this variant takes, in order.
std::vector<const Parameter *> parametersOf(const ProgramVariant &variant);

/// Null when there is no such parameter.
const Parameter *findParameter(std::string_view name);

/// The parameter that an argument or a result of a program is about: "cell_a" itself, and what
/// derivatives have of it, such as "gradient.cell_a". Null for others.
const Parameter *parameterBehind(std::string_view name);

/// Innermost evaluations for each pixel: sources x mosaic domains x phi steps x oversample^2 x
/// layers.
double samplesPerPixel(const Experiment &experiment);

/// The counts that say how large an image is.
inline constexpr std::array<const char *, 3> imageCounts = {"panel_count", "slow_pixels",
                                                            "fast_pixels"};

} // namespace nanobragg
#endif
