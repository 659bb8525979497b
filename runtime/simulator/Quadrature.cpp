#include "runtime/simulator/Quadrature.h"

#include "lib/Experiment/AverageDraws.h"
#include "lib/Experiment/Parameters.h"
#include "runtime/simulator/State.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numeric>
#include <unordered_map>

namespace nanobragg {
namespace {

constexpr std::int64_t fewDraws = 64;
constexpr std::int64_t mostDraws = 1 << 20;

/// What is fainter than this part of the brightest pixel of all is no spot.
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

Simulator simulatorFor(const Experiment &experiment, const ListedPixels &listed,
                       const SimulatorOptions &options) {
  return listed.any() ? Simulator::ofListed(experiment, listed, options)
                      : Simulator(experiment, options);
}

std::string joined(const std::vector<std::string> &names) {
  std::string list;
  for (const std::string &name : names)
    list += (list.empty() ? "" : ",") + name;
  return list;
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
class Quadrature::Cells {
public:
  Cells(const Quadrature &quadrature, std::int64_t edge, std::size_t pixels) : cellOf(pixels) {
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

Quadrature::Quadrature(const Experiment &experiment, const ListedPixels &listed,
                       const SimulatorOptions &options)
    : listed(listed), options(options), seeing(experiment.drawCount()),
      few(simulatorFor(withDraws(experiment, 0, std::min(fewDraws, seeing)), listed, options)),
      again(simulatorFor(
          withDraws(experiment, few.experiment().drawCount(), few.experiment().drawCount()), listed,
          options)) {}
Quadrature::~Quadrature() = default;

void Quadrature::set(std::string_view name, std::span<const double> values) {
  for (Simulator *simulator : {&few, &again})
    simulator->set(name, values);
  groups.clear();
}

void Quadrature::setStructureFactors(const nb_hkl_grid &grid) {
  for (Simulator *simulator : {&few, &again})
    simulator->setStructureFactors(grid);
  groups.clear();
}

double Quadrature::samples() const { return samplesOfImage > 0 ? samplesOfImage : few.samples(); }

std::size_t Quadrature::placeOf(std::size_t pixel) const {
  return listed.any() ? listed.places[pixel] : pixel;
}

PixelIndex Quadrature::pixelAt(std::size_t pixel) const {
  const std::size_t place = placeOf(pixel);
  return place == ListedPixels::none
             ? PixelIndex{-1, 0, 0}
             : nanobragg::pixelAt(few.experiment().detector, listed.any(), place);
}

std::unique_ptr<Simulator> Quadrature::simulatorOf(const Places &pixels, std::int64_t first,
                                                   std::int64_t draws) const {
  Experiment e = withDraws(few.experiment(), first, draws);
  Places places;
  for (const std::size_t pixel : pixels)
    places.push_back(placeOf(pixel));
  const ListedPixels list = listPlaces(e, places);
  return std::unique_ptr<Simulator>(
      new Simulator(std::make_unique<Simulator::State>(e, list, options)));
}

Simulator &Quadrature::simulatorOf(Group &group) const {
  if (!group.simulator)
    group.simulator = simulatorOf(group.pixels, 0, group.draws);
  return *group.simulator;
}

//===----------------------------------------------------------------------===//
// Images
//===----------------------------------------------------------------------===//

template <typename T>
RunResult Quadrature::render(std::span<T> image, const RunOptions &run) {
  Pixels pixels(few.pixels());
  RunResult result = renderPixels(pixels, run);
  if (image.size() != pixels.size())
    throw std::invalid_argument("the image holds " + std::to_string(image.size()) +
                                " pixels but the experiment has " + std::to_string(pixels.size()));
  std::ranges::copy(pixels, image.begin());
  return result;
}
template RunResult Quadrature::render(std::span<float>, const RunOptions &);
template RunResult Quadrature::render(std::span<double>, const RunOptions &);

std::vector<std::uint8_t> Quadrature::litPixels(Cells &spots) {
  constexpr double dark = 1e-3; // as a part of the peak near by
  Simulator guide = simulatorFor(inClosedForm(few.experiment()), listed, options);
  std::vector<std::uint8_t> lit;
  std::span<const double> light;
  try {
    light = guide.value();
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

RunResult Quadrature::renderPixels(std::span<double> image, const RunOptions &run) {
  groups.clear();
  samplesOfImage = 0;
  RunResult result;
  double done = 0; // how many rounds there will be is not known
  RunOptions part = run;
  if (run.progress)
    part.progress = [&](double fraction) { run.progress(done + fraction * (1 - done) / 2); };
  const auto add = [&](Simulator &simulator, std::span<double> pixels) {
    const RunResult one = simulator.render(pixels, part);
    const double prepare = result.prepareSeconds + one.prepareSeconds,
                 seconds = result.runSeconds + one.runSeconds;
    result = one;
    result.prepareSeconds = prepare;
    result.runSeconds = seconds;
    samplesOfImage += simulator.samples();
    done += (1 - done) / 2;
    return !one.cancelled;
  };

  Pixels drawn(image.size());
  if (!add(few, image) || !add(again, drawn))
    return result;
  const double tolerance = few.experiment().average.tolerance;
  std::int64_t draws = few.experiment().drawCount(); // in either half
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
    const auto simulator = simulatorOf(open, draws, draws);
    drawn.resize(open.size());
    if (!add(*simulator, drawn)) {
      groups.clear();
      return result;
    }
  }
  if (run.progress)
    run.progress(1);
  if (groups.empty()) // no pixel is rendered
    return result;
  char text[200];
  std::snprintf(text, sizeof text, "quadrature: %lld to %lld draws a pixel, %.0f in the mean",
                (long long)groups.front().draws, (long long)groups.back().draws,
                std::accumulate(groups.begin(), groups.end(), 0.0, [](double sum, const Group &g) {
                  return sum + double(g.draws) * double(g.pixels.size());
                }) / double(image.size()));
  result.quadrature = text;
  if (worst > 0) {
    std::snprintf(text, sizeof text,
                  "with %lld draws, and more are not taken, %zu pixels may be off by up to %.1g of "
                  "the spot's peak (--average-tolerance %g)",
                  (long long)draws, groups.back().pixels.size(), worst, tolerance);
    result.shortfall = text;
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Derivatives
//===----------------------------------------------------------------------===//

template <typename Each>
void Quadrature::forEachGroup(Each each) {
  if (groups.empty()) {
    Pixels image(few.pixels());
    if (renderPixels(image, {}).cancelled)
      throw Cancelled();
  }
  for (Group &group : groups)
    each(group, simulatorOf(group));
}

void Quadrature::add(std::vector<Gradient> &to, const Group &group,
                     std::vector<Gradient> more) const {
  const Places &places = group.simulator->listed().places;
  for (Gradient &gradient : more) {
    const auto found = std::ranges::find(to, gradient.parameter, &Gradient::parameter);
    if (isImage(gradient.parameter)) {
      std::vector<double> image(std::size_t(few.experiment().pixelCount()));
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

std::vector<Direction> Quadrature::directionIn(const Group &group,
                                               std::span<const Direction> of) const {
  std::vector<Direction> direction(of.begin(), of.end());
  for (Direction &d : direction)
    if (isImage(d.parameter)) {
      Pixels values;
      for (const std::size_t pixel : group.pixels)
        values.push_back(placeOf(pixel) == ListedPixels::none ? 0 : d.values[placeOf(pixel)]);
      d.values = group.simulator->listed().scatter(values);
    }
  return direction;
}

std::vector<Gradient> Quadrature::gradient(const Names &parameters,
                                           std::span<const double> cotangent) {
  std::vector<Gradient> sum;
  forEachGroup([&](const Group &group, Simulator &simulator) {
    add(sum, group, simulator.gradient(joined(parameters), gathered(cotangent, group.pixels)));
  });
  if (groups.empty()) // no pixel is rendered, and all are zero
    return few.gradient(joined(parameters), cotangent);
  return sum;
}

std::vector<DerivativeImage> Quadrature::jacobian(const Names &parameters) {
  std::vector<DerivativeImage> images;
  for (const std::string &name : parameters)
    images.push_back({name, findParameter(name)->unit, Pixels(few.pixels())});
  forEachGroup([&](const Group &group, Simulator &simulator) {
    const auto part = simulator.jacobian(joined(parameters));
    for (std::size_t i = 0; i != images.size(); ++i)
      scatter(part[i].pixels, group.pixels, images[i].pixels);
  });
  return images;
}

void Quadrature::jvps(const Names &parameters, Directions directions, Images images) {
  for (const std::span<double> image : images)
    std::ranges::fill(image, 0.0);
  forEachGroup([&](const Group &group, Simulator &simulator) {
    std::vector<std::vector<Direction>> inGroup;
    for (const std::vector<Direction> &direction : directions)
      inGroup.push_back(directionIn(group, direction));
    const auto part = simulator.jvps(joined(parameters), inGroup);
    for (std::size_t i = 0; i != images.size(); ++i)
      scatter(part[i], group.pixels, images[i]);
  });
}

std::vector<Gradient> Quadrature::hvp(const Names &parameters, std::span<const Direction> direction,
                                      std::span<const double> cotangent) {
  std::vector<Gradient> sum;
  forEachGroup([&](const Group &group, Simulator &simulator) {
    add(sum, group,
        simulator.hvp(joined(parameters), directionIn(group, direction),
                      gathered(cotangent, group.pixels)));
  });
  if (groups.empty())
    return few.hvp(joined(parameters), direction, cotangent);
  return sum;
}

} // namespace nanobragg
