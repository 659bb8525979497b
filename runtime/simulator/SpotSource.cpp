#include "runtime/simulator/SpotSource.h"

#include "lib/Choose/AverageNodes.h"
#include "lib/Experiment/Formatted.h"
#include "lib/Program/ParameterElements.h"
#include "lib/Program/Parameters.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <ranges>
#include <stdexcept>
#include <string>
#include <utility>

namespace nanobragg {
namespace {

using Mode = Derivative::Mode;

/// A column of the table, the parameter of the picture that it is, and the picture's list.
struct Column {
  std::string_view column;
  const char *parameter;
  std::vector<double> SpotTable::*list;
};
constexpr std::array<Column, 10> columns = {
    {{"photons", "spot_photons", &SpotTable::photons},
     {"fast", "spot_fast", &SpotTable::fast},
     {"slow", "spot_slow", &SpotTable::slow},
     {"covariance_ff", "spot_fast_fast", &SpotTable::fastFast},
     {"covariance_fs", "spot_fast_slow", &SpotTable::fastSlow},
     {"covariance_ss", "spot_slow_slow", &SpotTable::slowSlow},
     {"skew_fff", "spot_skew_fff", &SpotTable::skewFff},
     {"skew_ffs", "spot_skew_ffs", &SpotTable::skewFfs},
     {"skew_fss", "spot_skew_fss", &SpotTable::skewFss},
     {"skew_sss", "spot_skew_sss", &SpotTable::skewSss}}};

std::size_t numberOf(std::string_view column) {
  return std::size_t(std::ranges::find(programColumns, column, &ReflectionColumn::name) -
                     programColumns.begin());
}

/// Reflections with less of their light than this part of the tolerance are left out: the others
/// end there (lib/Culling/Estimate.cpp).
constexpr double partOfTolerance = 1e-2;
/// The list of spots goes on to whole multiples of so many, and other sizes are rare.
constexpr std::size_t spotsAtOnce = 256;

/// Directions along which a table is differentiated in one run.
constexpr std::size_t mostAtOnce = 4;
/// The quadratures of so many nodes and fewer are in the picture's tables.
constexpr double mostNodes = 64;
/// By this times the fourth cumulant a Gaussian differs from the light, in parts of its peak.
constexpr double ofFourth = 3.0 / 24;

/// How many nodes each spot wants. 0 for spots that are wide enough for the rule of equidistant
/// nodes (EmitSpots.cpp), which of 3,000 random spots was off by at most 4e-10 of the peak times
/// the tenth power of the pixel's edge in standard deviations along it.
///
/// A thin spot over a pixel is a Gaussian along fast with edges along slow, which are sharp where
/// it is slanted. For an interval of so many of its widths these nodes were off by a tenth of the
/// tolerance, of 12,000 random spots at worst.
std::vector<double> nodesFor(const Average &average, const SpotTable &spots) {
  const double digits = -std::log10(average.tolerance);
  const double longest = std::min(4.5, std::pow(0.1 * average.tolerance / 4e-10, 0.1));
  const double leastOfRule = 1 / (longest * longest);
  std::vector<double> nodes(spots.photons.size());
  for (std::size_t i = 0; i != nodes.size(); ++i) {
    const double ff = spots.fastFast[i], slope = spots.fastSlow[i] / ff,
                 slow = spots.slowSlow[i] - slope * spots.fastSlow[i];
    // The variances along one edge at one place along the other.
    if (slow >= leastOfRule && ff * slow >= leastOfRule * spots.slowSlow[i])
      continue;
    const double interval = std::min(1.0, std::sqrt(8 * average.exponent * ff));
    const double widths = interval * std::sqrt(1 / ff + slope * slope / slow);
    nodes[i] = std::ceil(1.5 + 0.5 * digits + (0.8 + 0.13 * std::max(0.0, digits - 3)) * widths);
  }
  return nodes;
}

bool isOfSpectrum(const Experiment &e) { return e.variant.bandwidth == Bandwidth::Spectrum; }

/// By which errors count at a wavelength where the spectrum has this part of its highest density:
/// not at all where all light is well below the tolerance.
double weightOf(double density, const Average &average) {
  return density > 0.1 * average.tolerance ? std::sqrt(std::min(density, 1.0)) : 0;
}

/// The errors of all spots in parts of the peak of their reflection, or of the brightest of its
/// parts: the square of what the skew changes, since terms of that order are left out (measured:
/// docs/reflections.md), what the fourth cumulant changes, or too few nodes. 0 of spots that are
/// faint beside others than the direct beam.
std::vector<double> errorsOf(const Experiment &e, const SpotTable &spots,
                             const ReflectionTable &rows, std::span<const std::size_t> wholes) {
  const std::span<const double> excess = rows.column("excess"), density = rows.column("brightest");
  constexpr double ofSquare = 20, ofFewNodes = 0.1, ofPixel = 1.0 / 12;
  const double faintest = isOfSpectrum(e) ? 1e-6 : 1e-3; // part of the brightest one's peak
  const auto squared = [](double x) { return x * x; };
  std::vector<double> peaks(wholes.size()), peakOfWhole, errors(wholes.size());
  if (!wholes.empty())
    peakOfWhole.resize(std::ranges::max(wholes) + 1);
  double brightest = 0;
  for (std::size_t i = 0; i != wholes.size(); ++i) {
    peaks[i] =
        spots.photons[i] / std::sqrt((spots.fastFast[i] + ofPixel) * (spots.slowSlow[i] + ofPixel) -
                                     squared(spots.fastSlow[i]));
    peakOfWhole[wholes[i]] = std::max(peakOfWhole[wholes[i]], peaks[i]);
    if (rows.millerIndex[i] != std::array<std::int32_t, 3>{})
      brightest = std::max(brightest, peaks[i]);
  }
  for (std::size_t i = 0; i != wholes.size(); ++i) {
    // As the pixels see it: they blur a thin spot.
    const double ff = spots.fastFast[i], rest = spots.slowSlow[i] - squared(spots.fastSlow[i]) / ff,
                 f = ff / (ff + ofPixel), s = rest / (rest + ofPixel);
    const double skew =
        f * f * f * squared(spots.skewFff[i]) + f * f * s * squared(spots.skewFfs[i]) +
        f * s * s * squared(spots.skewFss[i]) + s * s * s * squared(spots.skewSss[i]);
    if (std::isnan(skew + excess[i] + peaks[i] + spots.nodes[i]))
      errors[i] = INFINITY;
    else if (peaks[i] > faintest * brightest)
      errors[i] = std::max({ofSquare * skew, ofFourth * std::fabs(excess[i]),
                            spots.nodes[i] > mostNodes ? ofFewNodes : 0}) *
                  (peaks[i] / peakOfWhole[wholes[i]]) *
                  (isOfSpectrum(e) ? weightOf(density[i], e.average) : 1);
  }
  return errors;
}

constexpr double leastMotion = 0.05; ///< widths, by which a spot moves that has parts

/// The parts of the way of each spot in a rotation step or a spectrum so that each moves by about
/// its own width: with sharp ends, a uniform distribution over so many widths has a fourth cumulant
/// as large as the tolerance allows. One where that is the error already, or the spot does not
/// move.
///
/// Where the spectrum varies within a part, its third cumulant is a tenth of the cube of the widths
/// if it is partly dark, and less in proportion to how much it varies.
std::vector<int> partsOf(const Experiment &e, std::span<const double> errors,
                         const ReflectionTable &rows) {
  const bool ofSpectrum = isOfSpectrum(e);
  const double mostParts = ofSpectrum ? 256 : 64;
  const double sigmas = 2 * std::sqrt(2 * e.average.exponent);
  const auto excess = rows.column("excess"), motion = rows.column("motion"),
             brightest = rows.column("brightest");
  std::vector<int> parts(errors.size(), 1);
  for (std::size_t i = 0; i != errors.size(); ++i)
    if (errors[i] > e.average.tolerance && motion[i] > leastMotion * leastMotion) {
      const double asked =
          e.average.tolerance / (ofSpectrum ? weightOf(brightest[i], e.average) : 1);
      double widths = std::pow(960 * asked, 0.25);
      if (ofSpectrum)
        widths = std::min(widths, std::cbrt(40 * asked / std::min(excess[i], 1.0)));
      parts[i] = int(std::min(std::ceil(sigmas * std::sqrt(motion[i]) / widths), mostParts));
    }
  return parts;
}

/// The quadratures of all numbers of nodes, one behind the other.
const Average &quadratures() {
  static const Average rules = [] {
    Average all;
    all.nodes.clear();
    all.weights.clear();
    for (int n = 1; n <= mostNodes; ++n) {
      Average one;
      chooseNodes(n, one);
      all.nodes.insert(all.nodes.end(), one.nodes.begin(), one.nodes.end());
      all.weights.insert(all.weights.end(), one.weights.begin(), one.weights.end());
    }
    return all;
  }();
  return rules;
}

/// Smaller images are not worth kernels that take longer to compile, those made once even less.
/// Pixels that are listed mostly have light, and are rendered often.
constexpr double fewestPixels = 1 << 18, fewestListed = 1 << 13, fewestOfOneRun = 4e6;
/// With more sources times layers of a sensor the table takes too much memory.
constexpr std::int64_t mostSources = 500;

Experiment pictureOf(Experiment e) {
  e.variant.averaging = Averaging::Spots;
  e.variant.sweep = false; // stills and rotations have one program
  return e;
}

} // namespace

std::string SpotSource::refusal(const Experiment &e, const SimulatorOptions &options) {
  const ProgramVariant &v = e.variant;
  const bool isPlain = v.curvature == Curvature::Flat && v.water != Water::C && !v.diffuse;
  const bool compiles = options.engine != Engine::Interpreter && !compilationDisabled() &&
                        options.kernelFile.empty() && !options.kernel && !options.passes.any() &&
                        !options.anyNumbers && options.dumpIR.empty();
  if (v.bandwidth == Bandwidth::Spectrum) {
    if (!isPlain || !options.kernelFile.empty() || options.kernel || options.passes.any())
      throw std::invalid_argument(
          "an image of a continuous spectrum is made from a table of reflections: without diffuse "
          "scattering, on flat panels, by built-in programs; without --spectrum-between=linear, "
          "the spectrum consists of lines");
    return {};
  }
  if (v.averaging != Averaging::Closed)
    return "its averages have no closed form";
  if (!isPlain || v.dmin)
    return "a table of reflections has no curved detector, diffuse scattering, resolution limit or "
           "water of -compat c";
  if (!compiles || (options.cull && options.cull->isOff()))
    return "the program is interpreted, given, changed by flags, or looks at all reflections";
  if (e.sourceCount() * e.detector.layers > mostSources)
    return "it has more than 500 sources times layers of the sensor";
  const double fewest = v.pixelList ? fewestListed : fewestPixels;
  if (samplesOf(e) < (options.once ? fewestOfOneRun : fewest))
    return "kernels of tables take longer to compile, and the image is small";
  return {};
}

SpotSource::SpotSource(const Experiment &experiment, const ListedPixels &listed,
                       const SimulatorOptions &options)
    : all(experiment, listed, options), table(experiment, options, ReflectionSource::Rows::Spots),
      picture(pictureOf(experiment), listed, options) {}

void SpotSource::set(const Parameter &parameter, std::span<const double> values) {
  // An optimizer asks for image and derivatives at one place, and the table is that of both.
  const auto isAsBefore = [&](std::size_t i) {
    return element(all.experiment, parameter, i) == values[i];
  };
  if (isTabulated && parameter.kind() != NB_PARAMETER_HKL_GRID &&
      std::ranges::all_of(std::views::iota(std::size_t(0), values.size()), isAsBefore))
    return;
  all.set(parameter, values);
  picture.set(parameter, values);
  isTabulated = false;
}

void SpotSource::setStructureFactors(const std::shared_ptr<const HklGrid> &grid) {
  all.setStructureFactors(grid);
  picture.setStructureFactors(grid);
  isTabulated = false;
}

void SpotSource::tabulate(const RunOptions &run) {
  if (isTabulated)
    return;
  const ReflectionLimits limits{.partiality = partOfTolerance * all.experiment.average.tolerance,
                                .ofImage = true};
  // No more rows than pixels, lest the table takes longer than an average of each pixel.
  if (!hasSpectrum() &&
      ReflectionSource::hasMoreRows(all.experiment, limits, double(all.experiment.pixelCount()))) {
    isWithinTolerance = false;
    areTooMany = isTabulated = true;
    return;
  }
  areTooMany = false;
  const ReflectionTable wholes = table.table(all.experiment, limits, withoutProgress(run));
  take(wholes);
  const std::vector<int> parts = partsOf(all.experiment, errors, wholes);
  if (std::ranges::any_of(parts, [](int n) { return n > 1; }))
    take(table.split(wholes, parts, limits, withoutProgress(run)));
  error = errors.empty() ? 0 : std::ranges::max(errors);
  // The interpreter would look at all spots for each pixel.
  isWithinTolerance =
      hasSpectrum() || (!table.isInterpreted() && error <= all.experiment.average.tolerance);
  isTabulated = true;
}

void SpotSource::take(const ReflectionTable &rows) {
  spots = rows.panel.size();
  const std::size_t needed = (spots / spotsAtOnce + 1) * spotsAtOnce;
  SpotTable &to = picture.experiment.spots;
  // A table of nearly the same length stays bound; the entries behind its spots are dark.
  const std::size_t had = to.photons.size();
  const std::size_t room = had >= needed && had <= 2 * needed ? had : needed;
  if (had != room)
    picture.unbind();
  to = {};
  for (const auto &[column, parameter, list] : columns) {
    const double dark = (to.*list).front();
    (to.*list).assign(room, dark);
    std::ranges::copy(rows.columns[numberOf(column)], (to.*list).begin());
  }
  to.panel.assign(room, -1);
  std::ranges::copy(rows.panel, to.panel.begin());
  to.depth.assign(room, 0);
  std::ranges::transform(rows.column("brightest"), to.depth.begin(),
                         [](double share) { return std::max(0.0, -std::log(share)); });
  to.nodes = nodesFor(all.experiment.average, to);
  errors = errorsOf(all.experiment, to, rows, table.wholes());
  for (double &nodes : to.nodes)
    nodes = std::fmin(nodes, mostNodes);
  to.node = quadratures().nodes;
  to.weight = quadratures().weights;
}

/// Makes the table, and decides who makes images of it.
ProgramSource &SpotSource::imaging(const RunOptions &run) {
  tabulate(run);
  return isWithinTolerance ? picture : all;
}

std::string SpotSource::averages() const {
  if (!isTabulated)
    return {};
  if (areTooMany)
    return "of each pixel, since there are more reflections than pixels";
  return formatted("%s %zu spots of a table of reflections, off by %.1g of a peak",
                   isWithinTolerance ? "the sum of"
                                     : "of each pixel, since they would be the sum of",
                   spots, error);
}

BoundProgram &SpotSource::program(ImageType pixels) { return imaging({}).program(pixels); }

RunResult SpotSource::render(CallersImage image, const RunOptions &run, const Instruments &look) {
  if (look.any() && !hasSpectrum())
    return all.render(image, run, look);
  RunResult result = imaging(run).render(image, run, look);
  if (hasSpectrum() && !(error <= all.experiment.average.tolerance)) {
    result.shortfall =
        formatted("spots of the continuous spectrum are off by up to %.2g of their peaks, more "
                  "than the %.1g of --average-tolerance",
                  error, all.experiment.average.tolerance);
  }
  return result;
}

namespace {
[[noreturn]] void refuseOfSpectrum(const char *what) {
  throw std::invalid_argument(std::string(what) + " of a continuous spectrum are not available; "
                                                  "leave out --spectrum-between=linear");
}
} // namespace

std::string SpotSource::trace(const PixelIndex &pixel, ImageType pixels) const {
  if (hasSpectrum())
    refuseOfSpectrum("traces of pixels");
  return all.trace(pixel, pixels);
}

EngineComparison SpotSource::compareEngines(const ComparisonOptions &options) {
  if (hasSpectrum())
    refuseOfSpectrum("comparisons of engines");
  return all.compare(options);
}

std::span<const double> SpotSource::value(const RunOptions &run) { return imaging(run).value(run); }

std::optional<DeviceMemory> SpotSource::imageOnDevice(ImageType pixels, const RunOptions &run) {
  return imaging(run).imageOnDevice(pixels, run);
}

/// The parameters that the picture depends on otherwise than by its spots.
ImageSource::Names SpotSource::namesBeside(const Names &parameters) const {
  const ProgramVariant &v = picture.experiment.variant;
  if (v.water == Water::None && !v.background && !v.hasResponse())
    return {};
  return namesUsedBy(v, parameters);
}

std::vector<std::vector<Direction>>
SpotSource::ofSpots(const Names &parameters, Directions directions, const RunOptions &run) {
  // A kernel of several takes longer to compile, and two of different numbers longer still.
  const std::size_t atOnce = directions.size() < mostAtOnce ? 1 : mostAtOnce;
  const Derivative some{Mode::JVP, namesUsedBy(table.variant(), parameters), int(atOnce)};
  std::vector<std::vector<Direction>> changes(directions.size());
  if (some.parameters.empty())
    return changes;
  for (std::size_t begin = 0; begin < directions.size(); begin += atOnce) {
    std::vector<std::vector<Direction>> along(atOnce);
    for (std::size_t i = 0; i != std::min(atOnce, directions.size() - begin); ++i)
      along[i] = partOf(directions[begin + i], some.parameters);
    std::vector<ReflectionNumbers> moved = table.jvps(some, along, run);
    for (std::size_t i = begin; i != std::min(begin + atOnce, directions.size()); ++i)
      for (const auto &[column, parameter, list] : columns) {
        std::vector<double> change = std::move(moved[i - begin][numberOf(column)]);
        change.resize((picture.experiment.spots.*list).size());
        changes[i].push_back({parameter, std::move(change)});
      }
  }
  return changes;
}

void SpotSource::forward(const Derivative &derivative, Directions given, Images images,
                         const RunOptions &run) {
  if (&imaging(run) == &all)
    return all.forward(derivative, given, images, run);
  std::vector<std::vector<Direction>> units;
  if (derivative.mode == Mode::Jacobian)
    for (const std::string &name : derivative.parameters)
      units.push_back({{name, {1.0}}});
  const Directions directions = units.empty() ? given : Directions(units);
  std::vector<std::vector<Direction>> changes =
      ofSpots(derivative.parameters, directions, withoutProgress(run));
  Names names = namesBeside(derivative.parameters);
  for (std::size_t i = 0; i != directions.size(); ++i)
    std::ranges::copy(partOf(directions[i], names), std::back_inserter(changes[i]));
  if (!namesUsedBy(table.variant(), derivative.parameters).empty())
    for (const Column &column : columns)
      names.push_back(column.parameter);
  picture.forward({Mode::JVP, names, int(changes.size())}, changes, images, run);
}

std::vector<Gradient> SpotSource::reverse(const Derivative &derivative, const Cotangent &cotangent,
                                          std::span<const Direction> direction,
                                          const RunOptions &run) {
  // Second derivatives are those of averages of each pixel, which differ by less than the
  // tolerance.
  if (derivative.mode == Mode::HVP && hasSpectrum())
    refuseOfSpectrum("second derivatives of images");
  if (&imaging(run) == &all || derivative.mode == Mode::HVP)
    return all.reverse(derivative, cotangent, direction, run);
  Names names = namesBeside(derivative.parameters);
  for (const Column &column : columns)
    names.push_back(column.parameter);
  const std::vector<Gradient> ofPicture =
      picture.reverse({Mode::VJP, names}, cotangent, {}, withoutProgress(run));
  const auto found = [&](std::string_view name) {
    return std::ranges::find(ofPicture, name, &Gradient::parameter);
  };
  ReflectionNumbers cotangents;
  for (const auto &[column, parameter, list] : columns)
    cotangents[numberOf(column)].assign(found(parameter)->values.begin(),
                                        found(parameter)->values.begin() + std::ptrdiff_t(spots));
  std::vector<Gradient> gradients = zeroGradients(all.experiment, derivative.parameters);
  const auto addAll = [&](const std::vector<Gradient> &more) {
    for (Gradient &gradient : gradients)
      if (const auto part = std::ranges::find(more, gradient.parameter, &Gradient::parameter);
          part != more.end())
        std::ranges::transform(gradient.values, part->values, gradient.values.begin(),
                               std::plus<>());
  };
  if (const Names names = namesUsedBy(table.variant(), derivative.parameters); !names.empty())
    addAll(table.gradient({Mode::VJP, names}, cotangents, withoutProgress(run)));
  addAll(ofPicture);
  return gradients;
}

} // namespace nanobragg
