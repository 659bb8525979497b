#include "lib/CommandLine/ShotTable.h"

#include "lib/CommandLine/Flag.h"
#include "lib/IO/FileError.h"
#include "lib/IO/TextScanner.h"

#include <algorithm>

namespace nanobragg {
namespace {

constexpr std::string_view shotFlags[] = {
    "-misset",     "-cell",     "-fluence", "-flux",     "-seed",        "-lambda",
    "-energy",     "-phi",      "-osc",     "-mosaic",   "-mosaic_seed", "-N",
    "-Na",         "-Nb",       "-Nc",      "-distance", "-xtal_size",   "-misset_seed",
    "-dispersion", "-exposure", "-water",   "-fudge"};

/// One line of the table.
struct Row {
  const std::string &path;
  std::size_t line;
  std::vector<std::string> words;

  [[noreturn]] void refuse(const std::string &why) const { throw io::FileError(path, line, why); }

  std::vector<const Flag *> columns() const {
    std::vector<const Flag *> flags;
    for (const std::string &word : words) {
      const Flag *flag = findFlag(word.starts_with('-') ? word : "-" + word);
      if (!flag || std::ranges::find(shotFlags, flag->name()) == std::end(shotFlags))
        refuse(io::quoted(word) + " is no column of a table of shots; those are flags without "
                                  "dash: misset, cell, fluence, seed, lambda, phi, N, mosaic and "
                                  "their like");
      if (std::ranges::find(flags, flag) != flags.end())
        refuse("names the column " + io::quoted(word) + " twice");
      flags.push_back(flag);
    }
    return flags;
  }

  Shot shot(const std::vector<const Flag *> &columns) const {
    std::size_t needed = 0;
    for (const Flag *flag : columns)
      needed += flag->maximumValues();
    if (needed != words.size())
      refuse("has " + std::to_string(words.size()) +
             " numbers; the columns of the first line need " + std::to_string(needed) +
             " (misset has 3, cell 6)");
    Shot shot;
    auto word = words.begin();
    for (const Flag *flag : columns) {
      shot.emplace_back(flag->name());
      shot.insert(shot.end(), word, word + std::ptrdiff_t(flag->maximumValues()));
      word += std::ptrdiff_t(flag->maximumValues());
    }
    return shot;
  }
};

} // namespace

std::vector<Shot> readShotTable(const std::string &path, const std::string &text,
                                const CommandLine &line) {
  std::vector<Shot> shots;
  std::vector<const Flag *> columns;
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
    shots.push_back(row.shot(columns));
    try {
      CommandLine trial = line;
      applyShot(shots.back(), trial);
    } catch (const UsageError &error) {
      row.refuse(error.what());
    }
  }
  if (shots.empty())
    throw io::FileError(path, "has no shots; its first line names columns (misset fluence seed), "
                              "the others have their numbers");
  return shots;
}

void applyShot(const Shot &shot, CommandLine &line) {
  // One of the two says the wavelength.
  if (std::ranges::find(shot, "-lambda") != shot.end())
    line.options.energy.reset();
  if (std::ranges::find(shot, "-energy") != shot.end())
    line.options.lambda.reset();
  for (std::size_t i = 0; i < shot.size();) {
    const Flag *flag = findFlag(shot[i]);
    const std::size_t count = flag->maximumValues();
    const auto values = shot.begin() + std::ptrdiff_t(i) + 1;
    flag->apply(line, Values(*flag, shot[i], {values, values + std::ptrdiff_t(count)}, {}));
    i += count + 1;
  }
}

} // namespace nanobragg
