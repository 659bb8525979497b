// Which columns of a reflection file are the amplitudes, or the intensities that they come from.
#ifndef NANOBRAGG_GEMMI_AMPLITUDECOLUMN_H
#define NANOBRAGG_GEMMI_AMPLITUDECOLUMN_H

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace nanobragg::io {

/// The content of a column.
enum class ColumnKind {
  Amplitude,
  AmplitudePlus,
  AmplitudeMinus,
  Difference,
  Intensity,
  IntensityPlus,
  IntensityMinus,
  Other
};

struct NamedColumn {
  std::string label;
  ColumnKind kind;
  std::size_t index;      ///< in the file
  std::string sigma = {}; ///< the label of the column of its sigmas, for intensities
};

/// One column for all, or one for h k l and one for its Friedel mate; or one and the difference
/// F+ - F- (DANO).
struct AmplitudeChoice {
  std::size_t plus = 0, minus = 0;
  std::optional<std::size_t> difference;
  /// Columns of sigmas of plus and minus; set where these are intensities.
  std::optional<std::array<std::size_t, 2>> sigmas;
  std::string note; ///< the choice that was made, as a sentence

  /// Does a row have a value for h k l and another for its mate?
  bool mates() const { return plus != minus || difference; }
};

/// With an empty label: F+ and F- where there is one such pair, else the one amplitude, or the
/// first that `usual` names. Intensities where there is no amplitude, in the same order. Throws
/// FileError that lists the columns.
AmplitudeChoice chooseAmplitudes(const std::string &path, const std::string &label,
                                 const std::vector<NamedColumn> &columns,
                                 const std::vector<std::string_view> &usual);

/// The columns of a kind that one phase can belong to.
std::vector<NamedColumn> onlyAmplitudes(const std::vector<NamedColumn> &columns);

} // namespace nanobragg::io
#endif
