#include "runtime/simulator/ReflectionSource.h"

#include "lib/Experiment/PixelList.h"
#include "lib/Experiment/Range.h"
#include "lib/Program/ParameterElements.h"
#include "lib/Program/Parameters.h"
#include "lib/Spots/ExpectedReflections.h"
#include "nanobragg/DerivativeNames.h"
#include "runtime/processor/RowOrder.h"
#include "runtime/simulator/ImageSource.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <utility>

namespace nanobragg {
namespace {

/// All pixels of the detector in place of a list of some.
void takeWholeDetector(Experiment &e) {
  Detector &d = e.detector;
  if (std::exchange(e.variant.pixelList, false)) {
    d.fastPixels = d.wholeFastPixels;
    d.slowPixels = d.wholeSlowPixels;
    d.listPanel = d.listSlow = d.listFast = {};
  }
  d.roiFastMin = d.roiSlowMin = 0;
  d.roiFastMax = d.fastPixels - 1;
  d.roiSlowMax = d.slowPixels - 1;
}

/// The experiment without all that is no spot, with one step of rotation.
Experiment ofReflections(const Experiment &image, bool bySource) {
  Experiment e = image;
  ProgramVariant &v = e.variant;
  v.averaging = Averaging::Reflections;
  v.bySource = bySource && (e.sourceCount() > 1 || e.detector.layers > 1);
  v.imageType = ImageType::F64;
  v.leaveOutResponse();
  v.water = Water::None;
  v.background = v.diffuse = v.mask = v.lightGiven = false;
  Detector &d = e.detector;
  d.mask.clear();
  d.gainMap = d.light = {};
  takeWholeDetector(e);
  d.oversample = 1;
  e.goniometer.phiSteps = 1;
  e.goniometer.phiStepFraction = 1;
  return e;
}

SimulatorOptions optionsOf(SimulatorOptions options) {
  options.precision = Precision::F64;
  options.cull = CullSetting::off();
  options.pixels.clear();
  options.keptSchedule = options.specialize = options.once = false;
  options.kernel = nullptr;
  options.passes = {};
  options.kernelFile.clear();
  return options;
}

void requireClosedForm(const ProgramVariant &variant) {
  if (rowOf(variant.shape).profile != SpotProfile::Gaussian)
    throw std::invalid_argument(
        "a table of reflections is for Gaussian crystals, whose averages have a closed form");
  if (variant.isSampled())
    throw std::invalid_argument("a table of reflections needs averages in closed form, and this "
                                "experiment takes samples; set its averaging to closed");
}

/// The search is coarser than the program.
constexpr double margin = 10;

} // namespace

ReflectionSource::ReflectionSource(const Experiment &image, const SimulatorOptions &options,
                                   Rows rows)
    : options(optionsOf(options)), placement(this->options), rows(rows) {
  requireClosedForm(image.variant);
  const Detector &d = image.detector;
  const bool isWhole = !image.variant.pixelList && !image.variant.mask && d.roiFastMin <= 0 &&
                       d.roiSlowMin <= 0 && d.roiFastMax >= d.fastPixels - 1 &&
                       d.roiSlowMax >= d.slowPixels - 1;
  hasSomePixels = rows == Rows::Spots && !isWhole;
}

std::vector<std::optional<ExpectedReflection>>
ReflectionSource::expected(const ReflectionLimits &limits) const {
  if (limits.rows)
    return askedReflections(experiment, *limits.rows);
  decltype(PredictionLimits::hasPixels) hasPixels;
  if (rendered && limits.ofImage)
    hasPixels = [&](std::size_t panel, const double (&fast)[2], const double (&slow)[2]) {
      return rendered->anyBetween(std::int64_t(panel), fast, slow);
    };
  return expectedReflections(experiment, limits.partiality / margin, limits.ofImage, hasPixels);
}

/// Makes the program's pixels those where reflections are expected.
void ReflectionSource::list(std::span<const std::optional<ExpectedReflection>> expected) {
  programs.clear(); // they are bound to the list that was
  unlisted.clear();
  places.assign(expected.size(), ListedPixels::none);
  whole.resize(expected.size());
  std::iota(whole.begin(), whole.end(), std::size_t(0));
  std::vector<PixelIndex> pixels;
  std::vector<std::int64_t> kinds;
  pixels.reserve(expected.size());
  for (const auto &r : expected)
    if (r) {
      kinds.push_back(r->source * experiment.detector.layers + r->layer);
      pixels.push_back(
          {r->panel,
           std::clamp<std::int64_t>(std::int64_t(r->slow), 0, experiment.detector.slowPixels - 1),
           std::clamp<std::int64_t>(std::int64_t(r->fast), 0, experiment.detector.fastPixels - 1)});
    }
  if (pixels.empty())
    return;
  const ListedPixels listed = listPixels(experiment, pixels, kinds);
  ReflectionList &list = experiment.reflections;
  const std::array maps{&list.h,   &list.k,      &list.l,     &list.turn,      &list.begin,
                        &list.end, &list.source, &list.layer, &list.wavelength};
  for (PixelMap *map : maps)
    map->values.assign(listed.imagePixels, std::nan(""));
  const auto put = [&](std::size_t place, const ExpectedReflection &r) {
    list.h.values[place] = r.hkl[0];
    list.k.values[place] = r.hkl[1];
    list.l.values[place] = r.hkl[2];
    list.turn.values[place] = r.turn;
    list.begin.values[place] = r.begin;
    list.end.values[place] = r.end;
    list.source.values[place] = double(r.source);
    list.layer.values[place] = double(r.layer);
    list.wavelength.values[place] = r.wavelength;
    experiment.detector.listFast.values[place] = r.fast - 0.5;
    experiment.detector.listSlow.values[place] = r.slow - 0.5;
  };
  auto next = listed.places.begin();
  for (std::size_t i = 0; i != expected.size(); ++i)
    if (expected[i])
      put(places[i] = *next++, *expected[i]);
  // Places at the ends of rows repeat the one before.
  for (std::size_t place = 1; place < listed.imagePixels; ++place)
    if (std::isnan(list.h.values[place])) {
      for (PixelMap *map : maps)
        map->values[place] = map->values[place - 1];
      for (PixelMap *map : {&experiment.detector.listFast, &experiment.detector.listSlow})
        map->values[place] = map->values[place - 1];
    }
}

ExpectedReflection ReflectionSource::listedAt(std::size_t place) const {
  const ReflectionList &list = experiment.reflections;
  const Detector &d = experiment.detector;
  const auto whole = [&](const PixelMap &map) { return std::int64_t(map.values[place]); };
  ExpectedReflection r;
  r.hkl = {std::int32_t(whole(list.h)), std::int32_t(whole(list.k)), std::int32_t(whole(list.l))};
  r.panel = std::int32_t(whole(d.listPanel));
  r.fast = d.listFast.values[place] + 0.5;
  r.slow = d.listSlow.values[place] + 0.5;
  r.turn = list.turn.values[place];
  r.begin = list.begin.values[place];
  r.end = list.end.values[place];
  r.wavelength = list.wavelength.values[place];
  r.source = whole(list.source);
  r.layer = whole(list.layer);
  return r;
}

BoundProgram &ReflectionSource::program(const Derivative &derivative) {
  const std::string key = derivative.toString();
  if (const auto found = programs.find(key); found != programs.end())
    return found->second;
  Program placed = placement.place([&](Runner runner) {
    return decide(experiment, options, derivative, ImageType::F64, runner).request;
  });
  return programs.try_emplace(key, std::move(placed), experiment).first->second;
}

bool ReflectionSource::hasRows() const {
  return !unlisted.empty() ||
         std::ranges::any_of(places, [](std::size_t place) { return place != ListedPixels::none; });
}

std::vector<double> ReflectionSource::rowsOf(std::span<const double> output, double none) const {
  std::vector<double> rows;
  rows.reserve(places.size());
  for (const std::size_t place : places)
    rows.push_back(place == ListedPixels::none ? none : output[place]);
  return rows;
}

void ReflectionSource::leaveOut(const ReflectionLimits &limits, const BoundProgram &program) {
  const auto output = [&](std::string_view name) { return program.output(name); };
  const auto partiality = output(limits.ofImage ? "brightest" : "partiality"),
             fast = output("fast"), slow = output("slow"), fastFast = output("covariance_ff"),
             slowSlow = output("covariance_ss");
  const Detector &d = experiment.detector;
  // A structure factor of 0 has no derivative either, but a weight of 0 has.
  const auto photons = output("photons");
  const bool hasDark = limits.ofImage && experiment.variant.bandwidth != Bandwidth::Spectrum &&
                       experiment.sourceCount() == 1 &&
                       std::ranges::any_of(photons, [](double light) { return light > 0; });
  const auto isLeftOut = [&](std::size_t place) {
    if (!(partiality[place] >= limits.partiality) || (hasDark && photons[place] == 0))
      return true;
    const auto panel = std::int64_t(d.listPanel.values[place]);
    double fastPixels = double(d.wholeFastPixels), slowPixels = double(d.wholeSlowPixels);
    if (!d.panels.empty()) {
      fastPixels = double(d.panels[std::size_t(panel)].fastPixels);
      slowPixels = double(d.panels[std::size_t(panel)].slowPixels);
    }
    constexpr double sigmas = 6;
    const double besideFast = limits.ofImage ? sigmas * std::sqrt(fastFast[place]) : 0,
                 besideSlow = limits.ofImage ? sigmas * std::sqrt(slowSlow[place]) : 0;
    if (rendered && limits.ofImage)
      return !rendered->anyBetween(panel, {fast[place] - besideFast, fast[place] + besideFast},
                                   {slow[place] - besideSlow, slow[place] + besideSlow});
    const auto isOn = [](double middle, double beside, double pixels) {
      return middle >= -beside && middle < pixels + beside;
    };
    return !isOn(fast[place], besideFast, fastPixels) || !isOn(slow[place], besideSlow, slowPixels);
  };
  std::vector<std::size_t> rows;
  for (std::size_t row = 0; row != places.size(); ++row)
    if (!isLeftOut(places[row]))
      rows.push_back(row);
  // Neighbours in an image are read one after the other.
  if (limits.ofImage) {
    const std::int64_t height = d.wholeSlowPixels + 2;
    const auto rowOf = [&](std::size_t i) {
      const double middle = std::clamp(slow[places[rows[i]]], -1.0, double(d.wholeSlowPixels));
      return std::int64_t(d.listPanel.values[places[rows[i]]]) * height + std::int64_t(middle + 1);
    };
    std::vector<std::size_t> ordered;
    ordered.reserve(rows.size());
    for (const std::uint32_t i : orderByRow(rows.size(), experiment.panelCount() * height, rowOf))
      ordered.push_back(rows[i]);
    rows = std::move(ordered);
  }
  const auto reorder = [&](std::vector<std::size_t> &of) {
    std::vector<std::size_t> kept;
    kept.reserve(rows.size());
    for (const std::size_t row : rows)
      kept.push_back(of[row]);
    of = std::move(kept);
  };
  reorder(places);
  reorder(whole);
}

bool ReflectionSource::hasMoreRows(const Experiment &image, const ReflectionLimits &limits,
                                   double most) {
  return areMoreReflections(ofReflections(image, limits.ofImage), limits.partiality / margin,
                            limits.ofImage, most);
}

ReflectionTable ReflectionSource::table(const Experiment &image, const ReflectionLimits &limits,
                                        const RunOptions &run) {
  if (!(limits.partiality > 0 && limits.partiality <= 1))
    throw std::invalid_argument("the least partiality of a table of reflections is " +
                                numberText(limits.partiality) +
                                "; it must be greater than 0 and at most 1");
  requireClosedForm(image.variant);
  if (hasSomePixels && !rendered)
    rendered.emplace(image);
  experiment = ofReflections(image, rows == Rows::Spots);
  list(expected(limits));
  return tabulate(limits, run);
}

ReflectionTable ReflectionSource::split(const ReflectionTable &of, std::span<const int> parts,
                                        const ReflectionLimits &limits, const RunOptions &run) {
  const auto turn = of.column("turn"), sigma = of.column("turn_sigma"), slow = of.column("slow");
  const double sigmas = std::sqrt(2 * experiment.average.exponent) + 0.5;
  const bool ofSpectrum = experiment.variant.bandwidth == Bandwidth::Spectrum;
  const double nominal = experiment.beam.wavelength;
  std::vector<std::optional<ExpectedReflection>> divided, kept;
  std::vector<std::size_t> wholeOfDivided, keptRows;
  for (std::size_t row = 0; row != places.size(); ++row) {
    const ExpectedReflection one = listedAt(places[row]);
    if (parts[row] == 1) {
      kept.emplace_back(one);
      keptRows.push_back(row);
      continue;
    }
    const double middle = turn[row], half = sigmas * sigma[row];
    const double first = std::clamp(middle - half, one.begin, one.end),
                 last = std::clamp(middle + half, one.begin, one.end);
    const auto edge = [&](int i) { return first + (last - first) * i / parts[row]; };
    for (int i = 0; i != parts[row]; ++i) {
      ExpectedReflection part = one;
      // The outer parts of a step have no ends of their own.
      if (i != 0 || ofSpectrum)
        part.begin = edge(i);
      if (i + 1 != parts[row] || ofSpectrum)
        part.end = edge(i + 1);
      if (ofSpectrum)
        part.wavelength = nominal * (1 + (part.begin + part.end) / 2);
      else
        part.turn = std::clamp(middle, part.begin, part.end);
      divided.emplace_back(part);
      wholeOfDivided.push_back(row);
    }
  }
  takeWholeDetector(experiment);
  list(divided);
  whole = std::move(wholeOfDivided);
  const ReflectionTable ofParts = tabulate(limits, run);
  // Both are in the order in which neighbours in an image are read one after the other.
  const auto slowOfParts = ofParts.column("slow");
  const std::size_t all = keptRows.size() + places.size();
  std::vector<std::pair<const ReflectionTable *, std::size_t>> rowsOfAll;
  std::vector<std::size_t> wholeOfAll;
  std::vector<std::optional<ExpectedReflection>> expectedOfAll;
  rowsOfAll.reserve(all);
  wholeOfAll.reserve(all);
  expectedOfAll.reserve(all);
  for (std::size_t k = 0, p = 0; k + p != all;) {
    const auto isBefore = [&](std::size_t row, std::size_t part) {
      return std::pair(of.panel[row], slow[row]) <=
             std::pair(ofParts.panel[part], slowOfParts[part]);
    };
    if (p == places.size() || (k != keptRows.size() && isBefore(keptRows[k], p))) {
      rowsOfAll.emplace_back(&of, keptRows[k]);
      wholeOfAll.push_back(keptRows[k]);
      expectedOfAll.push_back(kept[k++]);
    } else {
      rowsOfAll.emplace_back(&ofParts, p);
      wholeOfAll.push_back(whole[p]);
      expectedOfAll.emplace_back(listedAt(places[p++]));
    }
  }
  ReflectionTable table;
  const auto gather = [&](auto &to, const auto &columnOf) {
    to.reserve(all);
    for (const auto &[from, row] : rowsOfAll)
      to.push_back(columnOf(*from)[row]);
  };
  gather(table.panel, [](const ReflectionTable &from) { return from.panel.data(); });
  gather(table.millerIndex, [](const ReflectionTable &from) { return from.millerIndex.data(); });
  for (std::size_t i = 0; i != programColumns.size(); ++i)
    gather(table.columns[i], [i](const ReflectionTable &from) { return from.columns[i].data(); });
  unlisted = std::move(expectedOfAll);
  whole = std::move(wholeOfAll);
  places.assign(all, ListedPixels::none);
  return table;
}

ReflectionTable ReflectionSource::tabulate(const ReflectionLimits &limits, const RunOptions &run) {
  ReflectionTable table;
  BoundProgram *program = hasRows() ? &this->program({}) : nullptr;
  if (program && program->run(withThreads(run, options)).cancelled)
    throw Cancelled();
  if (program && !limits.rows)
    leaveOut(limits, *program);
  const ReflectionList &list = experiment.reflections;
  for (std::size_t row = 0; row != places.size(); ++row) {
    const std::size_t place = places[row];
    const bool isThere = place != ListedPixels::none;
    table.panel.push_back(isThere ? std::int32_t(experiment.detector.listPanel.values[place]) : -1);
    table.millerIndex.push_back(limits.rows ? (*limits.rows)[row].millerIndex
                                            : std::array{std::int32_t(list.h.values[place]),
                                                         std::int32_t(list.k.values[place]),
                                                         std::int32_t(list.l.values[place])});
  }
  for (std::size_t i = 0; i != programColumns.size(); ++i) {
    const std::string_view name = programColumns[i].name;
    const double none = name == "photons" || name == "partiality" ? 0 : NAN;
    table.columns[i] = rowsOf(program ? program->output(name) : std::span<const double>(), none);
  }
  return table;
}

/// Makes the list that of all rows, and of these alone where it is much longer: derivatives look at
/// all of it.
void ReflectionSource::listRowsAlone() {
  std::vector<std::optional<ExpectedReflection>> all = std::exchange(unlisted, {});
  if (all.empty()) {
    if (double(places.size()) > 0.8 * double(experiment.pixelCount()) ||
        !std::ranges::all_of(places, [](std::size_t place) { return place != ListedPixels::none; }))
      return;
    all.reserve(places.size());
    for (const std::size_t place : places)
      all.emplace_back(listedAt(place));
  }
  std::vector<std::size_t> of = std::move(whole);
  takeWholeDetector(experiment);
  list(all);
  whole = std::move(of);
}

std::vector<ReflectionNumbers>
ReflectionSource::jvps(const Derivative &derivative,
                       std::span<const std::vector<Direction>> directions, const RunOptions &run) {
  std::vector<ReflectionNumbers> numbers(directions.size());
  if (!hasRows()) {
    for (ReflectionNumbers &columns : numbers)
      columns.fill(std::vector<double>(places.size()));
    return numbers;
  }
  listRowsAlone();
  BoundProgram &program = this->program(derivative);
  const auto number = [&](std::size_t k) { return numberOfDirection(k, directions.size()); };
  std::vector<std::vector<std::vector<double>>> tangents; // until the program has run
  for (std::size_t k = 0; k != directions.size(); ++k)
    tangents.push_back(bindDirection(program, experiment, derivative, directions[k], number(k)));
  if (program.run(withThreads(run, options)).cancelled)
    throw Cancelled();
  for (std::size_t k = 0; k != directions.size(); ++k)
    for (std::size_t i = 0; i != programColumns.size(); ++i)
      numbers[k][i] = rowsOf(
          program.output(derivativeName(DerivativeKind::JVP, programColumns[i].name, number(k))),
          0);
  return numbers;
}

std::vector<Gradient> ReflectionSource::gradient(const Derivative &derivative,
                                                 const ReflectionNumbers &cotangents,
                                                 const RunOptions &run) {
  if (!hasRows())
    return zeroGradients(experiment, derivative.parameters);
  listRowsAlone();
  BoundProgram &program = this->program(derivative);
  ReflectionNumbers scattered;
  for (std::size_t i = 0; i != programColumns.size(); ++i) {
    scattered[i].resize(std::size_t(experiment.pixelCount()));
    if (!cotangents[i].empty() && cotangents[i].size() != places.size())
      throw std::invalid_argument("the cotangent of " + std::string(programColumns[i].name) +
                                  " has " + std::to_string(cotangents[i].size()) +
                                  " numbers and the table " + std::to_string(places.size()) +
                                  " rows");
    for (std::size_t row = 0; row != cotangents[i].size(); ++row)
      if (places[row] != ListedPixels::none)
        scattered[i][places[row]] += cotangents[i][row];
    program.bind(cotangentName(programColumns[i].name), scattered[i]);
  }
  if (program.run(withThreads(run, options)).cancelled)
    throw Cancelled();
  std::vector<Gradient> gradients;
  for (const std::string &name : derivative.parameters) {
    const auto values = program.output(gradientName(name));
    gradients.push_back({name, findParameter(name)->unit, {values.begin(), values.end()}});
  }
  return gradients;
}

} // namespace nanobragg
