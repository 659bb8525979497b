#include "runtime/simulator/QuadratureSource.h"

#include "lib/Choose/AverageDraws.h"
#include "lib/Experiment/Formatted.h"
#include "lib/Program/Parameters.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <unordered_map>

namespace nanobragg {
namespace {

constexpr std::int64_t fewDraws = 64;
constexpr std::int64_t mostDraws = 1 << 20;

/// Pixels fainter than this part of the brightest of all are no spots.
constexpr double faintest = 1e-2;

Experiment withDraws(const Experiment &experiment, std::int64_t first, std::int64_t draws) {
  Experiment e = experiment;
  e.variant.averaging = Averaging::Drawn;
  drawAverage(e.variant, first, draws, e.average);
  return e;
}

/// Spots of other shapes are narrower than these but for their tails.
Experiment inClosedForm(const Experiment &experiment) {
  constexpr double wider = 3;
  Experiment e = experiment;
  e.variant.averaging = Averaging::Closed;
  if (rowOf(e.variant.shape).profile != SpotProfile::Gaussian) {
    e.variant.shape = CrystalShape::Gauss;
    e.crystal.fudge = 1;
    for (double &cells : e.crystal.ncells)
      cells /= wider;
  }
  return e;
}

std::vector<double> gathered(std::span<const double> image, std::span<const std::size_t> pixels) {
  std::vector<double> numbers;
  for (const std::size_t pixel : pixels)
    numbers.push_back(image[pixel]);
  return numbers;
}

void scatter(std::span<const double> numbers, std::span<const std::size_t> pixels,
             std::span<double> image) {
  for (std::size_t i = 0; i != pixels.size(); ++i)
    image[pixels[i]] = numbers[i];
}

bool isImage(std::string_view parameter) {
  return findParameter(parameter)->kind() == NB_PARAMETER_IMAGE;
}

} // namespace

/// Squares of pixels, each with the largest number that was seen in it.
class QuadratureSource::Cells {
public:
  Cells(const QuadratureSource &quadrature, std::int64_t edge, std::size_t pixels)
      : cellOf(pixels) {
    for (std::size_t i = 0; i != pixels; ++i) {
      const PixelIndex p = quadrature.pixelAt(i);
      cellOf[i] = numberOf({p.panel, p.slow / edge, p.fast / edge});
    }
  }
  void clear() { std::ranges::fill(largest, 0.0); }
  void see(std::size_t pixel, double value) {
    double &most = largest[cellOf[pixel]];
    most = std::max(most, value);
  }
  /// Each square takes over what those around it have seen.
  void widen() {
    std::vector<double> wide;
    for (const PixelIndex &middle : cells) {
      double most = 0;
      for (std::int64_t i = -1; i <= 1; ++i)
        for (std::int64_t j = -1; j <= 1; ++j)
          if (const auto found = numbers.find({middle.panel, middle.slow + i, middle.fast + j});
              found != numbers.end())
            most = std::max(most, largest[found->second]);
      wide.push_back(most);
    }
    largest = std::move(wide);
  }
  double at(std::size_t pixel) const { return largest[cellOf[pixel]]; }

private:
  struct Hash {
    std::size_t operator()(const PixelIndex &p) const {
      return std::hash<std::int64_t>()((p.panel * 65537 + p.slow) * 65537 + p.fast);
    }
  };
  std::size_t numberOf(const PixelIndex &cell) {
    const auto [at, isNew] = numbers.try_emplace(cell, cells.size());
    if (isNew) {
      cells.push_back(cell);
      largest.push_back(0);
    }
    return at->second;
  }

  std::vector<std::size_t> cellOf;
  std::vector<PixelIndex> cells;
  std::vector<double> largest;
  std::unordered_map<PixelIndex, std::size_t, Hash> numbers;
};

QuadratureSource::QuadratureSource(const Experiment &experiment, const ListedPixels &listed,
                                   const SimulatorOptions &options)
    : all(experiment, listed, options),
      few(withDraws(experiment, 0, std::min(fewDraws, experiment.drawCount())), listed, options),
      again(withDraws(experiment, few.experiment.drawCount(), few.experiment.drawCount()), listed,
            options) {}
QuadratureSource::~QuadratureSource() = default;

void QuadratureSource::set(const Parameter &parameter, std::span<const double> values) {
  for (ProgramSource *source : {&all, &few, &again})
    source->set(parameter, values);
  groups.clear();
}

void QuadratureSource::setStructureFactors(const std::shared_ptr<const HklGrid> &grid) {
  for (ProgramSource *source : {&all, &few, &again})
    source->setStructureFactors(grid);
  groups.clear();
}

double QuadratureSource::samples() const {
  return samplesOfImage > 0 ? samplesOfImage : few.samples();
}

std::size_t QuadratureSource::placeOf(std::size_t pixel) const {
  return few.listed.any() ? few.listed.places[pixel] : pixel;
}

PixelIndex QuadratureSource::pixelAt(std::size_t pixel) const {
  const std::size_t place = placeOf(pixel);
  return place == ListedPixels::none
             ? PixelIndex{-1, 0, 0}
             : nanobragg::pixelAt(few.experiment.detector, few.listed.any(), place);
}

std::unique_ptr<ProgramSource> QuadratureSource::sourceOf(const Places &pixels, std::int64_t first,
                                                          std::int64_t draws) const {
  Experiment e = withDraws(few.experiment, first, draws);
  Places places;
  for (const std::size_t pixel : pixels)
    places.push_back(placeOf(pixel));
  const ListedPixels list = listPlaces(e, places);
  return std::make_unique<ProgramSource>(e, list, few.options);
}

//===----------------------------------------------------------------------===//
// Images
//===----------------------------------------------------------------------===//

RunResult QuadratureSource::render(CallersImage image, const RunOptions &run,
                                   const Instruments &look) {
  if (look.any())
    return all.render(image, run, look);
  Pixels pixels(few.pixels());
  RunResult result = renderPixels(pixels, run);
  std::visit([&](auto to) { std::ranges::copy(pixels, to.begin()); }, image);
  return result;
}

std::vector<std::uint8_t> QuadratureSource::litPixels(Cells &spots) {
  constexpr double dark = 1e-3; // as a part of the peak near by
  ProgramSource guide(inClosedForm(few.experiment), few.listed, few.options);
  std::vector<std::uint8_t> lit;
  std::span<const double> light;
  try {
    light = guide.value({});
  } catch (const std::runtime_error &) {
    // Nearly every reflection lights every pixel, of which it makes no lists.
    return std::vector<std::uint8_t>(few.pixels(), 1);
  }
  spots.clear();
  for (std::size_t i = 0; i != light.size(); ++i)
    spots.see(i, light[i]);
  spots.widen();
  for (std::size_t i = 0; i != light.size(); ++i)
    lit.push_back(light[i] > dark * spots.at(i));
  return lit;
}

RunResult QuadratureSource::renderPixels(std::span<double> image, const RunOptions &run) {
  groups.clear();
  samplesOfImage = 0;
  RunResult result;
  double done = 0; // how many rounds there will be is not known
  RunOptions part = run;
  if (run.progress)
    part.progress = [&](double fraction) { run.progress(done + fraction * (1 - done) / 2); };
  const auto add = [&](ProgramSource &source, std::span<double> pixels) {
    const RunResult one = source.render(pixels, part, {});
    const double prepare = result.prepareSeconds + one.prepareSeconds,
                 seconds = result.runSeconds + one.runSeconds;
    result = one;
    result.prepareSeconds = prepare;
    result.runSeconds = seconds;
    samplesOfImage += source.samples();
    done += (1 - done) / 2;
    return !one.cancelled;
  };

  Pixels drawn(image.size());
  if (!add(few, image) || !add(again, drawn))
    return result;
  const double tolerance = few.experiment.average.tolerance;
  const std::int64_t seeing = all.experiment.drawCount(); // as many draws see a spot
  std::int64_t draws = few.experiment.drawCount();        // in either half
  Cells spots(*this, 8, image.size()), off(*this, 4, image.size());
  Places open;
  for (std::size_t i = 0; i != image.size(); ++i)
    if (placeOf(i) != ListedPixels::none)
      open.push_back(i);
  drawn = gathered(drawn, open);
  const std::vector<std::uint8_t> lit =
      seeing > fewDraws ? litPixels(spots) : std::vector<std::uint8_t>(image.size());
  Pixels error(image.size());
  double worst = 0;
  while (true) {
    for (std::size_t i = 0; i != open.size(); ++i) {
      double &pixel = image[open[i]];
      error[open[i]] = std::max(std::fabs(pixel - drawn[i]), error[open[i]] / 2);
      pixel = (pixel + drawn[i]) / 2;
    }
    draws *= 2;
    double brightest = 0;
    spots.clear();
    for (std::size_t i = 0; i != image.size(); ++i) {
      spots.see(i, std::fabs(image[i]));
      brightest = std::max(brightest, std::fabs(image[i]));
    }
    spots.widen();
    off.clear();
    for (const std::size_t i : open)
      if (error[i] > 0)
        off.see(i, error[i] / std::max(spots.at(i), faintest * brightest));
    off.widen();
    Group settled;
    settled.draws = draws;
    Places rest;
    for (const std::size_t i : open)
      (off.at(i) > tolerance || (lit[i] && draws < 2 * seeing) ? rest : settled.pixels)
          .push_back(i);
    const bool last = rest.empty() || 2 * draws > mostDraws;
    if (last) {
      for (const std::size_t i : rest)
        worst = std::max(worst, off.at(i));
      settled.pixels.insert(settled.pixels.end(), rest.begin(), rest.end());
    }
    if (!settled.pixels.empty())
      groups.push_back(std::move(settled));
    if (last)
      break;
    open = std::move(rest);
    const auto source = sourceOf(open, draws, draws);
    drawn.resize(open.size());
    if (!add(*source, drawn)) {
      groups.clear();
      return result;
    }
  }
  if (run.progress)
    run.progress(1);
  if (groups.empty()) // no pixel is rendered
    return result;
  result.quadrature =
      formatted("quadrature: %lld to %lld draws a pixel, %.0f in the mean",
                (long long)groups.front().draws, (long long)groups.back().draws,
                std::accumulate(groups.begin(), groups.end(), 0.0, [](double sum, const Group &g) {
                  return sum + double(g.draws) * double(g.pixels.size());
                }) / double(image.size()));
  if (worst > 0) {
    result.shortfall =
        formatted("at the limit of %lld draws, %zu pixels may be off by up to %.1g of "
                  "the spot's peak (--average-tolerance %g)",
                  (long long)draws, groups.back().pixels.size(), worst, tolerance);
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Derivatives
//===----------------------------------------------------------------------===//

template <typename Each>
void QuadratureSource::forEachGroup(Each each) {
  if (groups.empty()) {
    Pixels image(few.pixels());
    if (renderPixels(image, {}).cancelled)
      throw Cancelled();
  }
  for (Group &group : groups) {
    if (!group.source)
      group.source = sourceOf(group.pixels, 0, group.draws);
    each(group, *group.source);
  }
}

void QuadratureSource::add(std::vector<Gradient> &to, const Group &group,
                           std::vector<Gradient> more) const {
  const Places &places = group.source->listed.places;
  for (Gradient &gradient : more) {
    const auto found = std::ranges::find(to, gradient.parameter, &Gradient::parameter);
    if (isImage(gradient.parameter)) {
      std::vector<double> image(std::size_t(few.experiment.pixelCount()));
      for (std::size_t i = 0; i != places.size(); ++i)
        if (places[i] != ListedPixels::none)
          image[placeOf(group.pixels[i])] = gradient.values[places[i]];
      gradient.values = std::move(image);
    }
    if (found == to.end())
      to.push_back(std::move(gradient));
    else
      for (std::size_t i = 0; i != gradient.values.size(); ++i)
        found->values[i] += gradient.values[i];
  }
}

std::vector<Direction> QuadratureSource::directionIn(const Group &group,
                                                     std::span<const Direction> of) const {
  std::vector<Direction> direction(of.begin(), of.end());
  for (Direction &d : direction)
    if (isImage(d.parameter)) {
      Pixels values;
      for (const std::size_t pixel : group.pixels)
        values.push_back(placeOf(pixel) == ListedPixels::none ? 0 : d.values[placeOf(pixel)]);
      d.values = group.source->listed.scatter(values);
    }
  return direction;
}

std::vector<Gradient> QuadratureSource::reverse(const Derivative &derivative,
                                                const Cotangent &cotangent,
                                                std::span<const Direction> direction,
                                                const RunOptions &run) {
  const std::span<const double> whole = onHost(cotangent);
  const RunOptions part = withoutProgress(run);
  std::vector<Gradient> sum;
  forEachGroup([&](const Group &group, ProgramSource &source) {
    const Pixels pixels = gathered(whole, group.pixels);
    add(sum, group, source.reverse(derivative, pixels, directionIn(group, direction), part));
  });
  if (groups.empty()) // no pixel is rendered, and all are zero
    return few.reverse(derivative, cotangent, direction, part);
  return sum;
}

void QuadratureSource::forward(const Derivative &derivative, Directions directions, Images images,
                               const RunOptions &run) {
  for (const std::span<double> image : images)
    std::ranges::fill(image, 0.0);
  forEachGroup([&](const Group &group, ProgramSource &source) {
    std::vector<std::vector<Direction>> inGroup;
    for (const std::vector<Direction> &direction : directions)
      inGroup.push_back(directionIn(group, direction));
    std::vector<Pixels> part(images.size(), Pixels(group.pixels.size()));
    source.forward(derivative, inGroup, spansOf(part), withoutProgress(run));
    for (std::size_t i = 0; i != images.size(); ++i)
      scatter(part[i], group.pixels, images[i]);
  });
}

} // namespace nanobragg
