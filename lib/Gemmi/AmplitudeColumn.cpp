#include "lib/Gemmi/AmplitudeColumn.h"

#include "lib/Files/FileError.h"

#include <algorithm>

namespace nanobragg::io {
namespace {

std::string listed(const std::vector<const NamedColumn *> &columns) {
  std::string text;
  for (const NamedColumn *column : columns)
    text += (text.empty() ? "" : ", ") + column->label;
  return text;
}

class Choice {
public:
  Choice(const std::string &path, const std::vector<NamedColumn> &columns)
      : path(path), columns(columns) {}

  AmplitudeChoice named(const std::string &label) const {
    for (const NamedColumn &column : columns) {
      if (column.label != label)
        continue;
      switch (column.kind) {
      case ColumnKind::Amplitude:
      case ColumnKind::Intensity:
        return single(column);
      case ColumnKind::AmplitudePlus:
      case ColumnKind::AmplitudeMinus:
        return pairOf(column, ColumnKind::AmplitudePlus, ColumnKind::AmplitudeMinus);
      case ColumnKind::IntensityPlus:
      case ColumnKind::IntensityMinus:
        return pairOf(column, ColumnKind::IntensityPlus, ColumnKind::IntensityMinus);
      case ColumnKind::Difference:
      case ColumnKind::Other:
        throw FileError(path, "column '" + label + "' holds no amplitudes; those that do are " +
                                  amplitudes());
      }
    }
    throw FileError(path,
                    "has no column '" + label + "'; the columns of amplitudes are " + amplitudes());
  }

  AmplitudeChoice obvious(const std::vector<std::string_view> &usual) const {
    if (const auto found = ofKinds(ColumnKind::Amplitude, ColumnKind::AmplitudePlus,
                                   ColumnKind::AmplitudeMinus, usual))
      return *found;
    static const std::vector<std::string_view> usualIntensities = {
        "IMEAN", "I", "IOBS", "I-obs", "intensity_meas", "F_squared_meas"};
    if (const auto found = ofKinds(ColumnKind::Intensity, ColumnKind::IntensityPlus,
                                   ColumnKind::IntensityMinus, usualIntensities))
      return *found;
    throw FileError(path, "has no column of amplitudes; -hkl needs structure factors");
  }

private:
  std::vector<const NamedColumn *> of(ColumnKind kind) const {
    std::vector<const NamedColumn *> found;
    for (const NamedColumn &column : columns)
      if (column.kind == kind)
        found.push_back(&column);
    return found;
  }

  /// The one pair, the one column, or the first that `usual` names, if there is any.
  std::optional<AmplitudeChoice> ofKinds(ColumnKind kind, ColumnKind plusKind, ColumnKind minusKind,
                                         const std::vector<std::string_view> &usual) const {
    const auto plus = of(plusKind), minus = of(minusKind), all = of(kind);
    if (plus.size() == 1 && minus.size() == 1)
      return pair(*plus.front(), *minus.front());
    if (all.size() == 1)
      return single(*all.front());
    for (const std::string_view name : usual)
      for (const NamedColumn *column : all)
        if (column->label == name)
          return single(*column);
    if (all.empty() && plus.empty())
      return std::nullopt;
    const std::string what = kind == ColumnKind::Amplitude ? "amplitudes" : "intensities";
    throw FileError(path, "has several columns of " + what + " (" + listed(all) +
                              (all.empty() || plus.empty() ? "" : ", ") + listed(plus) +
                              (minus.empty() ? "" : ", ") + listed(minus) +
                              "); say which with FILE:LABEL, as " + path + ":" +
                              (all.empty() ? plus : all).front()->label);
  }

  std::string amplitudes() const {
    std::vector<const NamedColumn *> all = of(ColumnKind::Amplitude);
    for (const ColumnKind kind : {ColumnKind::AmplitudePlus, ColumnKind::AmplitudeMinus})
      for (const NamedColumn *column : of(kind))
        all.push_back(column);
    return all.empty() ? "none" : listed(all);
  }

  /// With the anomalous difference, where there is one only and it is of no other column.
  AmplitudeChoice single(const NamedColumn &column) const {
    AmplitudeChoice choice = ofColumns(column, column, column.label);
    const auto differences = of(ColumnKind::Difference);
    if (column.kind == ColumnKind::Amplitude && differences.size() == 1 &&
        of(ColumnKind::Amplitude).size() == 1) {
      choice.difference = differences.front()->index;
      choice.note += ", plus and minus half of " + differences.front()->label;
    }
    return choice;
  }

  AmplitudeChoice pair(const NamedColumn &plus, const NamedColumn &minus) const {
    return ofColumns(plus, minus, plus.label + " and " + minus.label);
  }

  AmplitudeChoice ofColumns(const NamedColumn &plus, const NamedColumn &minus,
                            const std::string &labels) const {
    AmplitudeChoice choice{plus.index, minus.index, {}, {}, "amplitudes are those of " + labels};
    if (plus.kind == ColumnKind::Intensity || plus.kind == ColumnKind::IntensityPlus) {
      choice.sigmas = {sigmaOf(plus), sigmaOf(minus)};
      choice.note =
          "amplitudes are those of the intensities " + labels + " by French and Wilson's method";
    }
    return choice;
  }

  std::size_t sigmaOf(const NamedColumn &column) const {
    for (const NamedColumn &other : columns)
      if (other.label == column.sigma)
        return other.index;
    throw FileError(path, "has intensities (" + column.label + ") without their sigmas" +
                              (column.sigma.empty() ? "" : " (" + column.sigma + ")") +
                              "; amplitudes from intensities need both: name another column, or "
                              "add the sigmas");
  }

  /// Columns of plus and of minus stand in the same order.
  AmplitudeChoice pairOf(const NamedColumn &column, ColumnKind plusKind,
                         ColumnKind minusKind) const {
    const auto plus = of(plusKind), minus = of(minusKind);
    const auto &own = column.kind == plusKind ? plus : minus;
    const std::size_t place = std::size_t(std::find(own.begin(), own.end(), &column) - own.begin());
    if (plus.size() != minus.size())
      throw FileError(path, "has columns of plus and minus that are not pairs (" + listed(plus) +
                                ", " + listed(minus) + "); name a column of means");
    return pair(*plus[place], *minus[place]);
  }

  const std::string &path;
  const std::vector<NamedColumn> &columns;
};

} // namespace

AmplitudeChoice chooseAmplitudes(const std::string &path, const std::string &label,
                                 const std::vector<NamedColumn> &columns,
                                 const std::vector<std::string_view> &usual) {
  const Choice choice(path, columns);
  return label.empty() ? choice.obvious(usual) : choice.named(label);
}

std::vector<NamedColumn> onlyAmplitudes(const std::vector<NamedColumn> &columns) {
  std::vector<NamedColumn> found;
  for (const NamedColumn &column : columns)
    if (column.kind == ColumnKind::Amplitude)
      found.push_back(column);
  return found;
}

} // namespace nanobragg::io
