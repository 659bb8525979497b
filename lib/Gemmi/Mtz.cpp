#include "lib/Gemmi/AmplitudeColumn.h"
#include "lib/Gemmi/Expansion.h"
#include "lib/Gemmi/FrenchWilson.h"
#include "lib/Gemmi/Guard.h"
#include "lib/Gemmi/Merging.h"
#include "lib/Gemmi/Reflections.h"

#include <cmath>
#include <cstring>
#include <gemmi/mtz.hpp>

namespace nanobragg::io {
namespace {

constexpr const char *asMtz = "MTZ";
const std::vector<std::string_view> usualMtz = {
    "F",      "FP",     "FOBS", "F-obs",   "F-obs-filtered", "FMEAN", "F_meas",
    "FTOXD3", "FC_ALL", "FC",   "F-model", "FMODEL",         "FCALC"};

/// Where phases are asked for.
const std::vector<std::string_view> usualMtzWithPhase = {
    "FC_ALL", "FC", "F-model", "FMODEL", "FCALC", "F-calc", "FWT", "FP", "F"};

ColumnKind kindOfType(char type) {
  switch (type) {
  case 'F':
    return ColumnKind::Amplitude;
  case 'G': // F+ or F-, told by the order below
    return ColumnKind::AmplitudePlus;
  case 'D':
    return ColumnKind::Difference;
  case 'J':
    return ColumnKind::Intensity;
  case 'K': // as 'G'
    return ColumnKind::IntensityPlus;
  default:
    return ColumnKind::Other;
  }
}

/// Checks the sizes in the header before gemmi takes memory for them.
void checkHeader(const std::string &path, const std::string &content, const gemmi::Mtz &mtz) {
  // In words of four bytes, of which the first has the number 1.
  if (mtz.header_offset < 21 || mtz.header_offset > std::int64_t(content.size() / 4) - 19)
    throw FileError(path, "is cut short: its MTZ header would be at word " +
                              std::to_string(mtz.header_offset) + " of " +
                              std::to_string(content.size() / 4));
  const std::int64_t begin = 4 * (mtz.header_offset - 1);
  const std::size_t at = content.find("NCOL", std::size_t(begin));
  long long columns = 0, reflections = 0, batches = 0;
  if (at == content.npos || std::sscanf(content.c_str() + at, "NCOL %lld %lld %lld", &columns,
                                        &reflections, &batches) < 2)
    throw FileError(path, "has no NCOL line in its MTZ header; it is damaged");
  if (batches != 0)
    throw FileError(path, "has unmerged reflections (" + std::to_string(batches) +
                              " batches); merge them (aimless)");
  if (columns < 4 || columns > 10000 || reflections < 1 || reflections > (1LL << 31) - 1 ||
      80 + 4 * columns * reflections > begin)
    throw FileError(path, "promises " + std::to_string(reflections) + " reflections of " +
                              std::to_string(columns) +
                              " columns and has room for less; it is cut short or damaged");
}

gemmi::Mtz headersOf(const std::string &path, const std::string &content) {
  gemmi::Mtz mtz;
  gemmi::MemoryStream stream(content.data(), content.size());
  mtz.read_first_bytes(stream);
  checkHeader(path, content, mtz);
  mtz.read_main_headers(stream);
  mtz.setup_spacegroup();
  return mtz;
}

/// F+ and F- have the same type, I+ and I- too; the first of each two is the one of plus unless its
/// name says otherwise.
std::vector<NamedColumn> columnsOf(const gemmi::Mtz &mtz) {
  std::vector<NamedColumn> columns;
  bool minus = false;
  for (const gemmi::Mtz::Column &column : mtz.columns) {
    ColumnKind kind = kindOfType(column.type);
    if (kind == ColumnKind::AmplitudePlus || kind == ColumnKind::IntensityPlus) {
      const bool saysMinus = column.label.find("(-)") != column.label.npos ||
                             column.label.find("MINUS") != column.label.npos ||
                             column.label.back() == '-';
      if (saysMinus || (minus && column.label.find("(+)") == column.label.npos))
        kind = kind == ColumnKind::AmplitudePlus ? ColumnKind::AmplitudeMinus
                                                 : ColumnKind::IntensityMinus;
      minus = !minus;
    }
    columns.push_back({column.label, kind, column.idx, "SIG" + column.label});
  }
  return columns;
}

class Values {
public:
  Values(const std::string &content, const gemmi::Mtz &mtz)
      : bytes(content.data() + 80), width(mtz.columns.size()), swapped(!mtz.same_byte_order),
        missing(mtz.valm) {}
  float at(std::size_t row, std::size_t column) const {
    std::uint32_t word;
    std::memcpy(&word, bytes + 4 * (row * width + column), 4);
    if (swapped)
      word = __builtin_bswap32(word);
    float value;
    std::memcpy(&value, &word, 4);
    return value == missing ? NAN : value;
  }

private:
  const char *bytes;
  std::size_t width;
  bool swapped;
  float missing; ///< the number of values that are none
};

/// The phase column of the amplitudes: that of their name (FC and PHIC, FWT and PHWT), else the
/// first behind them.
std::size_t phaseColumnOfMtz(const std::string &path, const gemmi::Mtz &mtz,
                             std::size_t amplitudes) {
  const std::string &label = mtz.columns[amplitudes].label;
  for (const std::string &name : {"PHI" + label, "PHI" + label.substr(1), "PH" + label.substr(1)})
    if (const gemmi::Mtz::Column *column = mtz.column_with_label(name))
      if (column->type == 'P')
        return column->idx;
  for (std::size_t i = amplitudes; i < mtz.columns.size(); ++i)
    if (mtz.columns[i].type == 'P')
      return i;
  throw FileError(path, "has no column of phases after " + label +
                            "; anomalous scatterers add to complex structure factors: name a "
                            "column of amplitudes that has phases");
}

/// Where H, K and L are; programs may write them anywhere.
std::array<std::size_t, 3> indexColumnsOf(const std::string &path, const gemmi::Mtz &mtz) {
  std::array<std::size_t, 3> found{};
  for (std::size_t i = 0; i < 3; ++i) {
    const std::string label(1, "HKL"[i]);
    const gemmi::Mtz::Column *column = mtz.column_with_label(label);
    if (!column)
      throw FileError(path, "has no column '" + label +
                                "', and reflections have indices in H, K and L; rename the columns "
                                "of its indices");
    found[i] = column->idx;
  }
  return found;
}

/// `phases`: their column, if they are wanted; reflections are as listed then.
std::vector<UniqueReflection> reflectionsOf(const std::string &path, const gemmi::Mtz &mtz,
                                            const Values &values, const AmplitudeChoice &choice,
                                            std::optional<std::size_t> phases,
                                            std::vector<std::string> &warnings) {
  const std::array<std::size_t, 3> indices = indexColumnsOf(path, mtz);
  std::vector<UniqueReflection> unique;
  ListedReflections listed(path, *mtz.spacegroup, choice.sigmas.has_value());
  for (std::size_t row = 0; row < std::size_t(mtz.nreflections); ++row) {
    UniqueReflection r{{}, values.at(row, choice.plus), values.at(row, choice.minus)};
    if (choice.difference) {
      const float half = values.at(row, *choice.difference) / 2;
      if (std::isfinite(half)) {
        r.plus += half;
        r.minus -= half;
      }
    }
    if (choice.sigmas)
      r.sigmas = {values.at(row, (*choice.sigmas)[0]), values.at(row, (*choice.sigmas)[1])};
    for (std::size_t i = 0; i < 3; ++i) {
      const float index = values.at(row, indices[i]);
      if (!(std::fabs(index) < 1e6f) || index != std::nearbyint(index))
        throw FileError(path, "reflection " + std::to_string(row + 1) +
                                  " has an index that is not a whole number; the file is damaged");
      r.hkl[i] = std::int32_t(index);
    }
    if (!phases) {
      listed.add(r, choice.mates());
      continue;
    }
    r.phase = values.at(row, *phases);
    if (r.complete(choice.sigmas.has_value()) && std::isfinite(r.phase))
      unique.push_back(r);
  }
  if (!phases) {
    unique = listed.merged();
    warnings = listed.warnings();
  } else {
    refuseRepeated(path, unique);
  }
  return unique;
}

} // namespace

std::optional<std::array<double, 6>> cellOfMtz(const std::string &path,
                                               const std::string &content) {
  return withGemmi(path, asMtz, [&] {
    const gemmi::Mtz mtz = headersOf(path, content);
    const gemmi::UnitCell &cell = mtz.get_cell();
    requireCell(path, cell);
    return std::optional(numbersOf(cell));
  });
}

StructureFactors readMtz(const NameAndLabel &file, const std::string &content, double defaultF,
                         bool phases) {
  const std::string &path = file.name;
  return withGemmi(path, asMtz, [&] {
    const gemmi::Mtz mtz = headersOf(path, content);
    std::vector<NamedColumn> columns = columnsOf(mtz);
    std::optional<std::size_t> phaseColumn;
    if (phases) // one amplitude has one phase
      columns = onlyAmplitudes(columns);
    const AmplitudeChoice choice =
        chooseAmplitudes(path, file.label, columns, phases ? usualMtzWithPhase : usualMtz);
    if (phases)
      phaseColumn = phaseColumnOfMtz(path, mtz, choice.plus);
    if (!mtz.spacegroup)
      throw FileError(path, "has the space group '" + mtz.spacegroup_name +
                                "', which is not in the tables of settings; reindex it to a "
                                "usual setting, or write the usual name of this one");
    StructureFactors result;
    auto unique =
        reflectionsOf(path, mtz, Values(content, mtz), choice, phaseColumn, result.warnings);
    if (unique.empty())
      throw FileError(path, "has no amplitude that is a number");
    const gemmi::UnitCell &cell = mtz.get_cell(mtz.columns[choice.plus].dataset_id);
    requireCell(path, cell);
    result.cell = numbersOf(cell);
    if (choice.sigmas)
      toAmplitudes(unique, cell, *mtz.spacegroup);
    expandToP1(path, unique, *mtz.spacegroup, defaultF, result);
    if (phaseColumn)
      expandPhases(unique, *mtz.spacegroup, result);
    const std::string phaseNote =
        phaseColumn ? ", phases those of " + mtz.columns[*phaseColumn].label : "";
    result.notes.push_back(path + ": " + choice.note + phaseNote + ", in " + result.spaceGroup);
    return result;
  });
}

} // namespace nanobragg::io
