// Flags from the table of quantities.
#include "lib/CommandLine/Flag.h"
#include "lib/Experiment/Units.h"

#include <stdexcept>

namespace nanobragg {
namespace {

void setQuantity(CommandLine &line, const Values &v) {
  const Quantity &row = *v.flag.quantity;
  try {
    std::vector<double> numbers;
    if (row.field().kind == Field::Kind::Choice && v.size() > 0)
      numbers.push_back(row.choice(v.text()));
    else
      for (std::size_t i = 0; i != v.size(); ++i)
        numbers.push_back(row.unit->inSI(v.number(i), i));
    row.check(numbers);
    row.set(line.options, numbers);
  } catch (const std::invalid_argument &error) {
    v.refuse(error.what());
  }
}

void setMisset(CommandLine &line, const Values &v) {
  if (v.size() == 1)
    line.options.missetRandom = true;
  else
    setQuantity(line, v);
}

/// The C program takes the word for -misset too, whatever the next two words are.
void setMissetSeed(CommandLine &line, const Values &v) {
  setQuantity(line, v);
  if (line.semantics.flagPrefixes != Rule::C || v.following().size() < 3)
    return;
  line.options.misset =
      Vec3{units::radians(v.number()), units::radians(leadingNumber(v.following()[1])),
           units::radians(leadingNumber(v.following()[2]))};
  line.options.missetRandom = false;
  line.warnings.push_back("-misset_seed also sets -misset, as in the C program; put it before "
                          "-misset, or last");
}

/// The C program takes the word for -twotheta too.
void setTwothetaAxis(CommandLine &line, const Values &v) {
  setQuantity(line, v);
  if (line.semantics.flagPrefixes != Rule::C)
    return;
  line.options.twotheta = units::radians(v.number());
  line.options.pivot = Pivot::Sample;
  line.warnings.push_back(
      "-twotheta_axis also sets -twotheta, as in the C program; put -twotheta after it");
}

Flag flagOf(const Quantity &row) {
  Flag flag{.spellings = {},
            .values = row.values,
            .unit = row.unit->name,
            .fallback = row.fallback,
            .help = row.meaning,
            .range = row.range,
            .apply = setQuantity,
            .quantity = &row,
            .with = row.more.with,
            .without = row.more.without};
  for (std::string_view rest = row.flags; !rest.empty();) {
    flag.spellings.push_back(rest.substr(0, rest.find(' ')));
    rest.remove_prefix(std::min(rest.size(), flag.spellings.back().size() + 1));
  }
  if (flag.name() == "-misset") {
    flag.alone = [](std::string_view word) { return word.find("rand") != word.npos; };
    flag.apply = setMisset;
  } else if (flag.name() == "-seed") {
    flag.idle = {&idle::noNoiseImage};
  } else if (flag.name() == "-misset_seed") {
    flag.apply = setMissetSeed;
  } else if (flag.name() == "-twotheta_axis") {
    flag.apply = setTwothetaAxis;
  }
  return flag;
}

} // namespace

FlagGroup groupOf(std::string_view title, std::vector<Flag> flags, std::span<const Quantity> rows,
                  std::vector<Flag> others) {
  for (const Quantity &row : rows)
    flags.push_back(flagOf(row));
  flags.insert(flags.end(), others.begin(), others.end());
  for (Flag &flag : flags)
    if (flag.fallback.empty())
      flag.fallback = flag.values.empty() ? "off" : "none";
  return {title, std::move(flags)};
}

FlagGroup crystalFlags() {
  return groupOf(
      "Crystal", {}, crystalQuantities(),
      {{.spellings = {"-mat", "-matrix"},
        .values = "FILE",
        .help = "MOSFLM orientation matrix: columns a*, b*, c* (1/A), times the wavelength (A)",
        .apply = stores<&CommandLine::files, &InputFiles::matrix>}});
}

FlagGroup beamFlags() {
  return groupOf("Beam", {}, beamQuantities(),
                 {{.spellings = {"-coherent"},
                   .help = "without effect: samples are always added incoherently",
                   .apply = [](CommandLine &, const Values &) {},
                   .idle = {&idle::always}}});
}

FlagGroup detectorFlags() { return groupOf("Detector", {}, detectorQuantities()); }

FlagGroup geometryFlags() {
  return groupOf("Geometry: conventions, beam centre, vectors", {}, geometryQuantities());
}

} // namespace nanobragg
