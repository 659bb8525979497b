#include "lib/Runs/ShotDistribution.h"

#include "lib/Experiment/RandomOrientation.h"
#include "lib/Experiment/Units.h"
#include "lib/Files/FileError.h"
#include "lib/Files/TextScanner.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numbers>

namespace nanobragg {
namespace {

constexpr double leastWeight = 1e-6; // a normal distribution has no less
constexpr std::int64_t mostShots = 10000000, mostLattices = 1000;

/// The same numbers on every machine (Steele, Lea and Flood: SplitMix64).
class ShotRandom {
public:
  /// A stream of its own for each shot, so that fewer or more of them change none.
  ShotRandom(std::uint64_t seed, std::uint64_t shot) : state(seed) { state = next() ^ shot; }

  double uniform() { return double(next() >> 11) * 0x1p-53; }
  double normal() {
    const double radius = std::sqrt(-2 * std::log(1 - uniform()));
    return radius * std::cos(2 * std::numbers::pi * uniform());
  }
  std::int64_t whole(std::int64_t low, std::int64_t high) {
    return low + std::int64_t(uniform() * double(high - low + 1));
  }

private:
  std::uint64_t next() {
    std::uint64_t z = state += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  std::uint64_t state;
};

/// How one number is distributed.
struct Distribution {
  enum class Kind { Constant, Uniform, Logarithmic, Normal, Whole, Same } kind = Kind::Constant;
  double a = 0, b = 0;

  double draw(ShotRandom &random, double before) const {
    switch (kind) {
    case Kind::Constant:
      return a;
    case Kind::Uniform:
      return a + (b - a) * random.uniform();
    case Kind::Logarithmic:
      return a * std::pow(b / a, random.uniform());
    case Kind::Normal:
      return a + b * random.normal();
    case Kind::Whole:
      return double(random.whole(std::int64_t(a), std::int64_t(b)));
    case Kind::Same:
      return before;
    }
    return a;
  }
};

/// A line: the numbers of a flag, or of what is not a flag.
struct Column {
  const Flag *flag = nullptr;
  std::vector<Distribution> values;
  bool orientation = false; ///< uniform over all rotations
  bool ofCrystal = false;   ///< drawn for each crystal, and not for the image
};

struct Plan {
  std::int64_t shots = 0;
  std::uint64_t seed = 1;
  std::vector<Column> columns;
  Distribution lattices{Distribution::Kind::Constant, 1, 1};
  Distribution weight{Distribution::Kind::Constant, 1, 1};
};

std::string textOf(double value) {
  char text[32];
  return {text, std::to_chars(text, text + sizeof text, value).ptr};
}

class Reader {
public:
  Reader(const std::string &path, std::string_view text) : path(path), lines(text) {}
  Plan read();

private:
  [[noreturn]] void refuse(const std::string &why) const {
    throw io::FileError(path, lines.number(), why);
  }
  double number(std::string_view word) const;
  std::int64_t whole(std::string_view word, std::int64_t most) const;
  Distribution distribution(std::string_view word) const;
  void readHead(Plan &plan, const std::vector<std::string_view> &words) const;
  void readLine(Plan &plan, const std::vector<std::string_view> &words) const;

  const std::string &path;
  io::TextLines lines;
};

double Reader::number(std::string_view word) const {
  const std::optional<double> value = io::toNumber(word);
  if (!value)
    refuse(io::inQuotes(word) + " is not a number");
  return *value;
}

std::int64_t Reader::whole(std::string_view word, std::int64_t most) const {
  const double value = number(word);
  if (value != std::floor(value) || value < 0 || value > double(most))
    refuse(io::inQuotes(word) + " is not a whole number up to " + std::to_string(most));
  return std::int64_t(value);
}

Distribution Reader::distribution(std::string_view word) const {
  using Kind = Distribution::Kind;
  if (word == "=")
    return {Kind::Same};
  constexpr struct {
    std::string_view sign;
    Kind kind;
  } signs[] = {
      {"+-", Kind::Normal}, {"..", Kind::Uniform}, {"~", Kind::Logarithmic}, {":", Kind::Whole}};
  for (const auto &[sign, kind] : signs) {
    const std::size_t at = word.find(sign);
    if (at == word.npos)
      continue;
    const Distribution d{kind, number(word.substr(0, at)), number(word.substr(at + sign.size()))};
    if (kind == Kind::Normal ? d.b < 0 : d.b < d.a)
      refuse(io::inQuotes(word) +
             (kind == Kind::Normal ? " has a negative deviation" : " ends before it begins"));
    if (kind == Kind::Logarithmic && !(d.a > 0))
      refuse(io::inQuotes(word) + " has a logarithm only above 0");
    if (kind == Kind::Whole && (d.a != std::floor(d.a) || d.b != std::floor(d.b)))
      refuse(io::inQuotes(word) + " is between whole numbers");
    return d;
  }
  const double value = number(word);
  return {Kind::Constant, value, value};
}

void Reader::readHead(Plan &plan, const std::vector<std::string_view> &words) const {
  if (words.size() < 2 || words.size() > 3)
    refuse("the first line is: draw, how many shots, and perhaps a seed");
  plan.shots = whole(words[1], mostShots);
  if (plan.shots == 0)
    refuse("draws no shot");
  if (words.size() == 3)
    plan.seed = std::uint64_t(whole(words[2], std::int64_t(1) << 53));
}

void Reader::readLine(Plan &plan, const std::vector<std::string_view> &words) const {
  const auto single = [&] {
    if (words.size() != 2)
      refuse(io::inQuotes(words[0]) + " takes one number or distribution");
    return distribution(words[1]);
  };
  if (words[0] == "lattices") {
    plan.lattices = single();
    using Kind = Distribution::Kind;
    const Distribution &d = plan.lattices;
    const bool whole =
        d.kind == Kind::Whole || (d.kind == Kind::Constant && d.a == std::floor(d.a));
    if (!whole || d.a < 1 || d.b > double(mostLattices))
      refuse("an image has from 1 to " + std::to_string(mostLattices) + " lattices, as in 1:3");
    return;
  }
  if (words[0] == weightColumn) {
    plan.weight = single();
    if (!(plan.weight.a > 0))
      refuse("a weight is above 0");
    return;
  }
  Column column{flagOfColumn(words[0]), {}};
  if (!column.flag)
    refuse(io::inQuotes(words[0]) +
           " is not a column of such a table; those are flags without dash: misset, cell, fluence, "
           "lambda, phi, N, mosaic and their like, and lattices and weight");
  for (const Column &other : plan.columns)
    if (other.flag == column.flag)
      refuse("names " + io::inQuotes(words[0]) + " twice");
  column.orientation =
      column.flag->name() == "-misset" && words.size() == 2 && words[1] == "random";
  for (std::size_t i = 1; i < words.size() && !column.orientation; ++i)
    column.values.push_back(distribution(words[i]));
  if (!column.orientation && column.values.size() != column.flag->maximumValues())
    refuse(io::inQuotes(words[0]) + " takes " + std::to_string(column.flag->maximumValues()) +
           " numbers or distributions");
  if (!column.values.empty() && column.values.front().kind == Distribution::Kind::Same)
    refuse("'=' repeats the number before, and the first has none");
  for (const Flag &flag : crystalFlags().flags)
    column.ofCrystal |= flag.name() == column.flag->name();
  plan.columns.push_back(std::move(column));
}

Plan Reader::read() {
  Plan plan;
  std::string_view rest;
  while (lines.next(rest)) {
    std::vector<std::string_view> words;
    for (std::string_view word; !(word = io::nextWord(rest, " \t\r,;")).empty();)
      words.push_back(word);
    if (words.empty())
      continue;
    if (plan.shots == 0)
      readHead(plan, words);
    else
      readLine(plan, words);
  }
  if (plan.columns.empty())
    throw io::FileError(path, "draws shots that are all the same; add a line for a value that "
                              "varies, such as misset random");
  return plan;
}

void drawOrientationInto(std::vector<std::string> &words, ShotRandom &random) {
  const double u = random.uniform(), v = random.uniform(), w = random.uniform();
  for (const double x : uniformOrientation(u, v, w))
    words.push_back(textOf(units::degrees(x)));
}

Shot draw(const Plan &plan, std::int64_t index) {
  ShotRandom random(plan.seed, std::uint64_t(index));
  Shot shot(std::size_t(plan.lattices.draw(random, 1)));
  for (ShotLattice &lattice : shot) {
    const bool first = &lattice == &shot.front();
    lattice.weight = std::max(plan.weight.draw(random, 1), leastWeight);
    auto before = shot.front().words.begin();
    for (const Column &column : plan.columns) {
      const std::size_t count = column.flag->maximumValues();
      lattice.words.emplace_back(column.flag->name());
      double value = 0;
      if (!first && !column.ofCrystal)
        lattice.words.insert(lattice.words.end(), before + 1, before + 1 + std::ptrdiff_t(count));
      else if (column.orientation)
        drawOrientationInto(lattice.words, random);
      else
        for (const Distribution &d : column.values)
          lattice.words.push_back(textOf(value = d.draw(random, value)));
      if (!first)
        before += 1 + std::ptrdiff_t(count);
    }
  }
  return shot;
}

} // namespace

bool isDistribution(std::string_view text) {
  io::TextLines lines(text);
  std::string_view line;
  while (lines.next(line))
    if (const std::string_view word = io::nextWord(line, " \t\r,;"); !word.empty())
      return word == "draw";
  return false;
}

std::vector<Shot> drawShots(const std::string &path, const std::string &text) {
  const Plan plan = Reader(path, text).read();
  std::vector<Shot> shots;
  shots.reserve(std::size_t(plan.shots));
  for (std::int64_t i = 0; i < plan.shots; ++i)
    shots.push_back(draw(plan, i));
  return shots;
}

} // namespace nanobragg
