#include "lib/Runs/ShotTable.h"

#include "lib/Files/FileError.h"
#include "lib/Files/TextScanner.h"
#include "lib/Runs/ShotDistribution.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <span>

namespace nanobragg {
namespace {

constexpr std::string_view turnColumn = "turn", fromColumn = "from", toColumn = "to";
constexpr std::string_view ofShots[] = {weightColumn};
constexpr std::string_view ofLattices[] = {weightColumn, turnColumn, fromColumn, toColumn};

constexpr std::string_view shotFlags[] = {"-misset",
                                          "-cell",
                                          "-fluence",
                                          "-flux",
                                          "-seed",
                                          "-lambda",
                                          "-energy",
                                          "-phi",
                                          "-osc",
                                          "-mosaic",
                                          "-mosaic_abc",
                                          "-mosaic_seed",
                                          "-N",
                                          "-Na",
                                          "-Nb",
                                          "-Nc",
                                          "-distance",
                                          "-xtal_size",
                                          "-misset_seed",
                                          "-dispersion",
                                          "-exposure",
                                          "-water",
                                          "-fudge",
                                          "-thickness",
                                          "-density",
                                          "-Xbeam",
                                          "-Ybeam",
                                          "-detector_rotx",
                                          "-detector_roty",
                                          "-detector_rotz",
                                          "-twotheta",
                                          "-diffuse_gamma",
                                          "-diffuse_sigma",
                                          "-lambda_offset",
                                          "-lambda_scale"};

/// A flag, or by its name what is not a flag.
struct ShotColumn {
  const Flag *flag;
  std::string_view own;
  std::size_t values() const { return flag ? flag->maximumValues() : own == turnColumn ? 3 : 1; }
  bool operator==(const ShotColumn &) const = default;
};

/// One line of the table.
struct Row {
  const std::string &path;
  std::size_t line;
  std::vector<std::string> words;

  [[noreturn]] void refuse(const std::string &why) const { throw io::FileError(path, line, why); }

  /// `own`: those that are no flags.
  std::vector<ShotColumn> columns(std::span<const std::string_view> own) const {
    std::vector<ShotColumn> columns;
    for (const std::string &word : words) {
      const auto found = std::ranges::find(own, word);
      const ShotColumn column{flagOfColumn(word), found == own.end() ? "" : *found};
      if (!column.flag && column.own.empty()) {
        std::string names;
        for (const std::string_view name : own)
          names += (names.empty() ? "" : ", ") + std::string(name);
        refuse(io::inQuotes(word) +
               " is not a column of such a table; those are flags without dash: "
               "misset, cell, fluence, seed, lambda, phi, N, mosaic and their "
               "like, and " +
               names);
      }
      if (std::ranges::find(columns, column) != columns.end())
        refuse("names the column " + io::inQuotes(word) + " twice");
      columns.push_back(column);
    }
    return columns;
  }

  double number(const ShotColumn &column, const std::string &word) const {
    double value = 0;
    const bool read =
        io::parseNumber(word.data(), word.data() + word.size(), value) == word.data() + word.size();
    if (!read || !std::isfinite(value))
      refuse("the " + std::string(column.own) + " " + io::inQuotes(word) + " is not a number");
    if (column.own == weightColumn && !(value > 0))
      refuse("the weight " + io::inQuotes(word) + " is not a number above 0");
    return value;
  }

  ShotLattice lattice(const std::vector<ShotColumn> &columns) const {
    std::size_t needed = 0;
    for (const ShotColumn &column : columns)
      needed += column.values();
    if (needed != words.size())
      refuse("has " + std::to_string(words.size()) +
             " numbers; the columns of the first line need " + std::to_string(needed) +
             " (misset has 3, cell 6)");
    ShotLattice lattice;
    auto word = words.begin();
    for (const ShotColumn &column : columns) {
      const auto end = word + std::ptrdiff_t(column.values());
      if (column.flag) {
        lattice.words.emplace_back(column.flag->name());
        lattice.words.insert(lattice.words.end(), word, end);
      } else if (column.own == turnColumn) {
        std::transform(word, end, lattice.turn.begin(),
                       [&](const std::string &value) { return number(column, value); });
      } else {
        double &value = column.own == weightColumn ? lattice.weight
                        : column.own == fromColumn ? lattice.from
                                                   : lattice.to;
        value = number(column, *word);
      }
      word = end;
    }
    if (!(lattice.from <= lattice.to))
      refuse("has a crystal that ends (to) before it begins (from)");
    return lattice;
  }
};

/// Calls add(another, row, lattice) for each line behind the first; another: it begins with +.
template <typename Add>
void forEachRow(const std::string &path, const std::string &text,
                std::span<const std::string_view> own, const CommandLine &line, Add add) {
  std::vector<ShotColumn> columns;
  io::TextLines lines(text);
  std::string_view rest;
  while (lines.next(rest)) {
    Row row{path, lines.number(), {}};
    for (std::string_view word; !(word = io::nextWord(rest, " \t\r,;")).empty();)
      row.words.emplace_back(word);
    if (row.words.empty())
      continue;
    if (columns.empty()) {
      columns = row.columns(own);
      continue;
    }
    const bool another = row.words.front() == "+";
    if (another)
      row.words.erase(row.words.begin());
    const ShotLattice lattice = row.lattice(columns);
    try {
      CommandLine trial = line;
      applyShot(lattice, trial);
    } catch (const UsageError &error) {
      row.refuse(error.what());
    }
    add(another, row, lattice);
  }
}

} // namespace

bool areExperiments(const std::string &shots) {
  const std::size_t first = shots.find_first_not_of(" \t\r\n");
  return first != std::string::npos && shots[first] == '{';
}

const Flag *flagOfColumn(std::string_view word) {
  const Flag *flag = findFlag(word.starts_with('-') ? std::string(word) : "-" + std::string(word));
  const bool known = flag && std::ranges::find(shotFlags, flag->name()) != std::end(shotFlags);
  return known ? flag : nullptr;
}

std::vector<Shot> readShotTable(const std::string &path, const std::string &text,
                                const CommandLine &line) {
  if (isDistribution(text)) {
    std::vector<Shot> shots = drawShots(path, text);
    for (const Shot &shot : shots) {
      CommandLine trial = line;
      for (const ShotLattice &lattice : shot)
        try {
          applyShot(lattice, trial);
        } catch (const UsageError &error) {
          throw io::FileError(path, error.what());
        }
    }
    return shots;
  }
  std::vector<Shot> shots;
  forEachRow(path, text, ofShots, line,
             [&](bool another, const Row &row, const ShotLattice &lattice) {
               if (another && shots.empty())
                 row.refuse("begins with + (another crystal on the image of the line before), but "
                            "is the first line");
               if (!another)
                 shots.emplace_back();
               shots.back().push_back(lattice);
             });
  if (shots.empty())
    throw io::FileError(path, "has no shots; its first line names columns (misset fluence seed), "
                              "the others have their numbers");
  return shots;
}

std::vector<ShotLattice> readLatticeTable(const std::string &path, const std::string &text,
                                          const CommandLine &line) {
  std::vector<ShotLattice> lattices;
  forEachRow(
      path, text, ofLattices, line, [&](bool another, const Row &row, const ShotLattice &lattice) {
        if (another)
          row.refuse("begins with +, and all crystals of this table are on the same images; "
                     "leave the + out");
        if (lattice.turn != Vec3{} &&
            std::ranges::find(lattice.words, "-misset") != lattice.words.end())
          row.refuse("has a turn and a misset, which both set the orientation; leave one out");
        lattices.push_back(lattice);
      });
  if (lattices.empty())
    throw io::FileError(path, "has no crystals; its first line names columns (turn weight from "
                              "to), the others have their numbers");
  return lattices;
}

void applyShot(const ShotLattice &lattice, CommandLine &line) {
  const std::vector<std::string> &words = lattice.words;
  // One of the two says the wavelength.
  if (std::ranges::find(words, "-lambda") != words.end())
    line.options.energy.reset();
  if (std::ranges::find(words, "-energy") != words.end())
    line.options.lambda.reset();
  for (std::size_t i = 0; i < words.size();) {
    const Flag *flag = findFlag(words[i]);
    const std::size_t count = flag->maximumValues();
    const auto values = words.begin() + std::ptrdiff_t(i) + 1;
    flag->apply(line, Values(*flag, words[i], {values, values + std::ptrdiff_t(count)}, {}));
    i += count + 1;
  }
}

std::string shotTableText(const std::vector<Shot> &shots) {
  std::string text;
  const std::vector<std::string> &first = shots.front().front().words;
  for (const std::string &word : first)
    if (findFlag(word))
      text += word.substr(1) + ' ';
  text += std::string(weightColumn) + '\n';
  for (const Shot &shot : shots)
    for (const ShotLattice &lattice : shot) {
      if (&lattice != &shot.front())
        text += "+ ";
      for (const std::string &word : lattice.words)
        if (!findFlag(word))
          text += word + ' ';
      char weight[32];
      text.append(weight, std::to_chars(weight, weight + sizeof weight, lattice.weight).ptr);
      text += '\n';
    }
  return text;
}

} // namespace nanobragg
