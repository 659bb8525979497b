#include "lib/Gemmi/AmplitudeColumn.h"

#include "lib/IO/FileError.h"

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
      if (column.kind == ColumnKind::Amplitude)
        return single(column);
      if (column.kind == ColumnKind::AmplitudePlus || column.kind == ColumnKind::AmplitudeMinus)
        return pairOf(column);
      if (column.kind == ColumnKind::Intensity)
        refuseIntensities("column '" + label + "' holds intensities");
      throw FileError(path, "column '" + label + "' holds no amplitudes; those that do are " +
                                amplitudes());
    }
    throw FileError(path,
                    "has no column '" + label + "'; the columns of amplitudes are " + amplitudes());
  }

  AmplitudeChoice obvious(const std::vector<std::string_view> &usual) const {
    const auto plus = of(ColumnKind::AmplitudePlus), minus = of(ColumnKind::AmplitudeMinus);
    if (plus.size() == 1 && minus.size() == 1)
      return pair(*plus.front(), *minus.front());
    const auto all = of(ColumnKind::Amplitude);
    if (all.size() == 1)
      return single(*all.front());
    for (const std::string_view name : usual)
      for (const NamedColumn *column : all)
        if (column->label == name)
          return single(*column);
    if (!all.empty() || !plus.empty())
      throw FileError(path, "has several columns of amplitudes (" + amplitudes() +
                                "); say which with FILE:LABEL, as " + path + ":" +
                                (all.empty() ? plus : all).front()->label);
    if (!of(ColumnKind::Intensity).empty())
      refuseIntensities("has intensities (" + listed(of(ColumnKind::Intensity)) +
                        ") and no amplitudes");
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

  std::string amplitudes() const {
    std::vector<const NamedColumn *> all = of(ColumnKind::Amplitude);
    for (const ColumnKind kind : {ColumnKind::AmplitudePlus, ColumnKind::AmplitudeMinus})
      for (const NamedColumn *column : of(kind))
        all.push_back(column);
    return all.empty() ? "none" : listed(all);
  }

  /// With the anomalous difference, where there is one only and it is of no other column.
  AmplitudeChoice single(const NamedColumn &column) const {
    AmplitudeChoice choice{
        column.index, column.index, {}, "amplitudes are those of " + column.label};
    const auto differences = of(ColumnKind::Difference);
    if (differences.size() == 1 && of(ColumnKind::Amplitude).size() == 1) {
      choice.difference = differences.front()->index;
      choice.note += ", plus and minus half of " + differences.front()->label;
    }
    return choice;
  }

  AmplitudeChoice pair(const NamedColumn &plus, const NamedColumn &minus) const {
    return {plus.index,
            minus.index,
            {},
            "amplitudes are those of " + plus.label + " and " + minus.label};
  }

  /// F+ and F- stand in the same order.
  AmplitudeChoice pairOf(const NamedColumn &column) const {
    const auto plus = of(ColumnKind::AmplitudePlus), minus = of(ColumnKind::AmplitudeMinus);
    const auto &own = column.kind == ColumnKind::AmplitudePlus ? plus : minus;
    const std::size_t place = std::size_t(std::find(own.begin(), own.end(), &column) - own.begin());
    if (plus.size() != minus.size())
      throw FileError(path, "has F+ and F- columns that are no pairs (" + amplitudes() +
                                "); name a column of mean amplitudes");
    return pair(*plus[place], *minus[place]);
  }

  [[noreturn]] void refuseIntensities(const std::string &what) const {
    throw FileError(path, what + ", and structure factors are amplitudes; convert them (ctruncate, "
                                 "or phenix.reflection_file_converter with French and Wilson's "
                                 "method) and name the new column");
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
