#include "tools/nb-sim/SpotLabels.h"

#include "lib/Experiment/PhysicalConstants.h"
#include "lib/Experiment/Units.h"
#include "lib/Experiment/VectorAlgebra.h"
#include "lib/Quantities/UsageError.h"
#include "lib/Spots/Prediction.h"
#include "lib/Spots/ReflectionFile.h"
#include "lib/Spots/Summation.h"
#include "tools/nb-sim/SeriesJournal.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <tuple>
#include <type_traits>
#include <utility>

namespace nanobragg {
namespace {

/// Sightings of a reflection on neighbouring images agree better than that, and its next crossing
/// of the Ewald sphere is farther away; rad.
constexpr double sameCrossing = 0.01;

SpotSize sizeOf(const CompleteExperiment &complete, bool still) {
  const Experiment &e = complete.experiment;
  SpotSize size;
  for (int i = 0; i < 3; ++i)
    size.node = std::max(size.node, 1 / (e.crystal.ncells[i] * complete.report.cell.lengths[i]));
  // exp(-2 r^2 / gaussWidth) is 1 % there; the other shapes are about as wide.
  size.node *= std::sqrt(constants::gaussWidth * std::log(100) / 2 / e.crystal.fudge);
  size.mosaic = e.crystal.widestMosaicSpread();
  if (still) // a spot that rotates during its exposure is spread about the middle
    size.mosaic += std::max(complete.report.osc, 0.0) / 2;
  size.divergence = std::max(e.beam.hdivRange, e.beam.vdivRange) / 2;
  constexpr double sigmas = 3; // as far as a normal distribution is seen
  size.divergence =
      std::max({size.divergence, sigmas * e.beam.hdivSigma, sigmas * e.beam.vdivSigma});
  size.bandwidth = e.beam.dispersion / 2;
  for (const double wavelength : e.beam.sourceWavelength)
    size.bandwidth =
        std::max(size.bandwidth, std::fabs(wavelength / complete.report.wavelength - 1));
  for (const Vec3 &direction : e.beam.sourceDirection)
    size.divergence = std::max(size.divergence,
                               std::acos(std::clamp(-dot(direction, e.beam.direction), -1.0, 1.0)));
  return size;
}

/// Whether a structure factor is not 0.
auto shining(const Crystal &crystal) {
  return [grid = crystal.grid.get(),
          otherwise = crystal.defaultF](const std::array<std::int32_t, 3> &hkl) {
    const auto [h, k, l] = hkl;
    if (!grid || h < grid->hMin || h > grid->hMax || k < grid->kMin || k > grid->kMax ||
        l < grid->lMin || l > grid->lMax)
      return otherwise != 0;
    const std::int64_t row = (h - grid->hMin) * (grid->kMax - grid->kMin + 1) + (k - grid->kMin);
    return grid->values[std::size_t(row * (grid->lMax - grid->lMin + 1) + (l - grid->lMin))] != 0;
  };
}

/// Takes up what another image has of the same reflection.
void join(TableRow &row, const TableRow &seen) {
  const double share = seen.spot.intensity / (row.spot.intensity + seen.spot.intensity);
  row.observed = sum(scaled(row.observed, 1 - share), scaled(seen.observed, share));
  row.spot.intensity += seen.spot.intensity;
  row.spot.variance += seen.spot.variance;
  row.images = {std::min(row.images[0], seen.images[0]), std::max(row.images[1], seen.images[1])};
  for (int i = 0; i < 4; i += 2) {
    row.spot.box[i] = std::min(row.spot.box[i], seen.spot.box[i]);
    row.spot.box[i + 1] = std::max(row.spot.box[i + 1], seen.spot.box[i + 1]);
  }
}

template <typename T>
void put(std::string &text, const T &value) {
  static_assert(std::is_trivially_copyable_v<T>);
  text.append(reinterpret_cast<const char *>(&value), sizeof(T));
}

template <typename T>
T get(const char *&at) {
  T value;
  std::memcpy(&value, at, sizeof(T));
  at += sizeof(T);
  return value;
}

} // namespace

SpotLabels::SpotLabels(const RunSetup &setup, std::int64_t count, bool stills, int part,
                       bool writes)
    : stills(stills), frameSlow(setup.complete.experiment.detector.slowPixels),
      nexus(setup.line.outputs.nexusFile.has_value()) {
  const OutputOptions &o = setup.line.outputs;
  if (!o.reflFile && !o.streamFile)
    return;
  if (o.streamFile && setup.complete.experiment.variant.bandwidth == Bandwidth::Spectrum)
    throw UsageError("--write-stream: a stream has one photon energy, and the spectrum is "
                     "continuous; --write-refl writes the wavelength of each reflection");
  images.resize(std::size_t(count));
  if (o.reflFile && writes)
    table.emplace(partName(*o.reflFile, part));
  if (o.streamFile && writes)
    stream.emplace(partName(*o.streamFile, part));
}

std::string SpotLabels::packed() const {
  std::string text;
  for (std::size_t i = 0; i < images.size(); ++i) {
    const auto &[size, crystals] = images[i];
    if (crystals.empty())
      continue;
    put(text, i);
    put(text, size);
    put(text, crystals.size());
    for (const StreamCrystal &crystal : crystals) {
      put(text, crystal.spots.size());
      for (const Spot &spot : crystal.spots)
        put(text, spot);
    }
  }
  return text;
}

void SpotLabels::take(const std::string &packed,
                      const std::function<io::DialsExperiment(std::int64_t, std::size_t)> &model) {
  const char *at = packed.data(), *end = at + packed.size();
  while (at != end) {
    const auto image = get<std::size_t>(at);
    Lattices &lattices = images[image];
    lattices.size = get<SpotSize>(at);
    lattices.crystals.resize(get<std::size_t>(at));
    for (std::size_t k = 0; k < lattices.crystals.size(); ++k) {
      lattices.crystals[k].model = model(std::int64_t(image), k);
      lattices.crystals[k].spots.resize(get<std::size_t>(at));
      for (Spot &spot : lattices.crystals[k].spots)
        spot = get<Spot>(at);
    }
  }
}

bool SpotLabels::takesTable(const CommandLine &line, const Experiment &experiment) {
  return line.outputs.reflFile && experiment.variant.bandwidth == Bandwidth::Spectrum;
}

void SpotLabels::add(std::int64_t image, const CompleteExperiment &complete,
                     const io::DialsExperiment &model, std::span<const float> photons,
                     const ReflectionTable &table) {
  const Experiment &e = complete.experiment;
  const SpotSize size = sizeOf(complete, !model.scan);
  const SpotImage pixels{photons, e.detector, e.waterSize > 0 || e.variant.background};
  std::vector<Spot> spots;
  if (e.variant.bandwidth == Bandwidth::Spectrum) {
    spots = spotsOf(table, model);
    const auto ff = table.column("covariance_ff"), fs = table.column("covariance_fs"),
               ss = table.column("covariance_ss");
    for (std::size_t i = 0; i != spots.size(); ++i)
      lookAtSpot(spots[i], {ff[i], fs[i], ss[i]}, pixels);
  } else {
    spots = predictSpots(
        model,
        {.size = size, .dmin = e.variant.dmin ? e.dmin * 1e10 : 0, .shines = shining(e.crystal)});
    for (Spot &spot : spots)
      sumSpot(spot, model, pixels);
  }
  // Masked, outside of the region that was computed, or without light for another reason.
  std::erase_if(spots, [](const Spot &spot) { return !(spot.intensity > 0 && spot.peak > 0); });
  const std::lock_guard lock(mutex);
  images[std::size_t(image)].size = size;
  images[std::size_t(image)].crystals.push_back({model, std::move(spots)});
}

std::vector<TableRow> SpotLabels::rows(const std::function<std::size_t(std::int64_t)> &lattices,
                                       std::int64_t firstImage) const {
  std::vector<TableRow> all;
  std::map<std::tuple<std::int32_t, std::array<std::int32_t, 3>, bool>, std::vector<std::size_t>>
      known;
  std::int32_t stillsBefore = 0;
  for (std::size_t i = 0; i < images.size(); ++i) {
    const std::vector<StreamCrystal> &crystals = images[i].crystals;
    for (std::size_t c = 0; c < crystals.size(); ++c) {
      const auto &scan = crystals[c].model.scan;
      for (const Spot &spot : crystals[c].spots) {
        const double turned = scan ? spot.phi - units::radians(scan->start) : 0;
        const double part = scan ? turned / units::radians(scan->width) : 0;
        const std::int64_t here = scan ? firstImage + std::int64_t(i) : 0;
        const auto &[fast, slow] = crystals[c].model.panels[spot.panel].pixelSize;
        TableRow row{spot,
                     stillsBefore + std::int32_t(c),
                     double(here) + part,
                     {fast, slow, scan ? units::radians(scan->width) : 0},
                     {spot.centroid[0], spot.centroid[1], double(here) + 0.5},
                     {here, here + 1}};
        if (stills) {
          all.push_back(row);
          continue;
        }
        auto &same = known[{row.experiment, spot.hkl, spot.entering}];
        const auto found = std::ranges::find_if(same, [&](std::size_t k) {
          return std::fabs(all[k].spot.phi - spot.phi) < sameCrossing;
        });
        if (found == same.end()) {
          same.push_back(all.size());
          all.push_back(row);
        } else {
          join(all[*found], row);
        }
      }
    }
    if (stills)
      stillsBefore += std::int32_t(crystals.empty() ? lattices(std::int64_t(i)) : crystals.size());
  }
  if (!stills) // DIALS does not count spots that cross the sphere before or after
    std::erase_if(all, [&](const TableRow &row) {
      return row.z < double(firstImage) ||
             row.z >= double(firstImage + std::int64_t(images.size()));
    });
  return all;
}

void SpotLabels::write(const std::function<ImageName(std::int64_t)> &name,
                       const std::function<std::size_t(std::int64_t)> &lattices,
                       std::int64_t firstImage) {
  if (stream) {
    CrystfelStream writer(*stream, frameSlow, nexus ? "/entry/data/data" : "", "simulation");
    bool begun = false;
    for (std::size_t i = 0; i < images.size(); ++i) {
      if (images[i].crystals.empty())
        continue; // another shard's
      if (!std::exchange(begun, true))
        writer.begin(images[i].crystals.front().model);
      const auto [file, event] = name(std::int64_t(i));
      writer.add({file, event, std::int64_t(i) + 1, images[i].size, images[i].crystals});
    }
  }
  if (!table)
    return;
  const std::vector<TableRow> all = rows(lattices, firstImage);
  std::vector<TableColumn> more;
  if (std::ranges::any_of(all, [](const TableRow &row) { return row.spot.wavelength > 0; })) {
    more.push_back({"wavelength", {}});
    for (const TableRow &row : all)
      more.back().values.push_back(row.spot.wavelength);
    more.push_back(harmonicsOf(all));
  }
  writeReflectionTable(*table, all, more);
}

void SpotLabels::publish() {
  for (std::optional<io::OutputFile> *file : {&table, &stream})
    if (*file)
      (*file)->commit();
}

std::vector<std::string> SpotLabels::names() const {
  std::vector<std::string> all;
  for (const std::optional<io::OutputFile> *file : {&table, &stream})
    if (*file)
      all.push_back((*file)->path());
  return all;
}

} // namespace nanobragg
