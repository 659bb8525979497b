#include "lib/Inputs/ShotTable.h"

#include "lib/IO/FileError.h"
#include "lib/IO/TextScanner.h"
#include "lib/Inputs/ShotDistribution.h"

#include <algorithm>
#include <charconv>

namespace nanobragg {
namespace {

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

/// A flag, or the weight.
using Column = const Flag *;

std::size_t valuesOf(Column column) { return column ? column->maximumValues() : 1; }

/// One line of the table.
struct Row {
  const std::string &path;
  std::size_t line;
  std::vector<std::string> words;

  [[noreturn]] void refuse(const std::string &why) const { throw io::FileError(path, line, why); }

  std::vector<Column> columns() const {
    std::vector<Column> columns;
    for (const std::string &word : words) {
      const Column column = flagOfColumn(word);
      if (!column && word != weightColumn)
        refuse(io::quoted(word) + " is no column of a table of shots; those are flags without "
                                  "dash: misset, cell, fluence, seed, lambda, phi, N, mosaic and "
                                  "their like, and weight");
      if (std::ranges::find(columns, column) != columns.end())
        refuse("names the column " + io::quoted(word) + " twice");
      columns.push_back(column);
    }
    return columns;
  }

  double weight(const std::string &word) const {
    double weight = 0;
    if (io::parseNumber(word.data(), word.data() + word.size(), weight) !=
            word.data() + word.size() ||
        !(weight > 0))
      refuse("the weight " + io::quoted(word) + " is no number above 0");
    return weight;
  }

  ShotLattice lattice(const std::vector<Column> &columns) const {
    std::size_t needed = 0;
    for (const Column column : columns)
      needed += valuesOf(column);
    if (needed != words.size())
      refuse("has " + std::to_string(words.size()) +
             " numbers; the columns of the first line need " + std::to_string(needed) +
             " (misset has 3, cell 6)");
    ShotLattice lattice;
    auto word = words.begin();
    for (const Column column : columns) {
      if (!column) {
        lattice.weight = weight(*word++);
        continue;
      }
      lattice.words.emplace_back(column->name());
      lattice.words.insert(lattice.words.end(), word, word + std::ptrdiff_t(valuesOf(column)));
      word += std::ptrdiff_t(valuesOf(column));
    }
    return lattice;
  }
};

} // namespace

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
  std::vector<Column> columns;
  io::TextLines lines(text);
  std::string_view rest;
  while (lines.next(rest)) {
    Row row{path, lines.number(), {}};
    for (std::string_view word; !(word = io::nextWord(rest, " \t\r,;")).empty();)
      row.words.emplace_back(word);
    if (row.words.empty())
      continue;
    if (columns.empty()) {
      columns = row.columns();
      continue;
    }
    const bool another = row.words.front() == "+";
    if (another && shots.empty())
      row.refuse(
          "begins with +, another crystal on the image of the line before, and is the first");
    if (another)
      row.words.erase(row.words.begin());
    else
      shots.emplace_back();
    shots.back().push_back(row.lattice(columns));
    try {
      CommandLine trial = line;
      applyShot(shots.back().back(), trial);
    } catch (const UsageError &error) {
      row.refuse(error.what());
    }
  }
  if (shots.empty())
    throw io::FileError(path, "has no shots; its first line names columns (misset fluence seed), "
                              "the others have their numbers");
  return shots;
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
