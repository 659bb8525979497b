#include "tools/nb-sim/SpotLabels.h"

#include "lib/Experiment/PhysicalConstants.h"
#include "lib/Experiment/Units.h"
#include "lib/Experiment/VectorAlgebra.h"
#include "lib/Spots/Prediction.h"
#include "lib/Spots/Summation.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

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
  size.mosaic = e.crystal.mosaicSpread;
  if (still) // what rotates during its exposure is spread about the middle
    size.mosaic += std::max(complete.report.osc, 0.0) / 2;
  size.divergence = std::max(e.beam.hdivRange, e.beam.vdivRange) / 2;
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
  row.spot.intensity += seen.spot.intensity;
  row.spot.variance += seen.spot.variance;
  row.images = {std::min(row.images[0], seen.images[0]), std::max(row.images[1], seen.images[1])};
  for (int i = 0; i < 4; i += 2) {
    row.spot.box[i] = std::min(row.spot.box[i], seen.spot.box[i]);
    row.spot.box[i + 1] = std::max(row.spot.box[i + 1], seen.spot.box[i + 1]);
  }
}

} // namespace

SpotLabels::SpotLabels(const RunSetup &setup, std::int64_t count, bool stills)
    : stills(stills), frameSlow(setup.complete.experiment.detector.slowPixels),
      nexus(setup.line.outputs.nexusFile.has_value()) {
  const OutputOptions &o = setup.line.outputs;
  if (!o.reflFile && !o.streamFile)
    return;
  images.resize(std::size_t(count));
  if (o.reflFile)
    table.emplace(*o.reflFile);
  if (o.streamFile)
    stream.emplace(*o.streamFile);
}

void SpotLabels::add(std::int64_t image, const CompleteExperiment &complete,
                     const io::DialsExperiment &model, std::span<const float> photons) {
  const Experiment &e = complete.experiment;
  const SpotSize size = sizeOf(complete, !model.scan);
  std::vector<Spot> spots =
      predictSpots(model, {size, e.variant.dmin ? e.dmin * 1e10 : 0, shining(e.crystal)});
  const SpotImage pixels{photons, e.detector.fastPixels, e.detector.slowPixels,
                         e.waterSize > 0 || e.variant.background};
  for (Spot &spot : spots)
    sumSpot(spot, model, pixels);
  // Masked, outside of the region that was computed, or without light for another reason.
  std::erase_if(spots, [](const Spot &spot) { return !(spot.intensity > 0); });
  const std::lock_guard lock(mutex);
  images[std::size_t(image)].size = size;
  images[std::size_t(image)].crystals.push_back({model, std::move(spots)});
}

std::vector<TableRow> SpotLabels::rows(std::int64_t firstImage) const {
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
        TableRow row{spot, stillsBefore + std::int32_t(c), double(here) + part, {here, here + 1}};
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
      stillsBefore += std::int32_t(crystals.size());
  }
  if (!stills) // what crosses the sphere before or after, DIALS does not count
    std::erase_if(all, [&](const TableRow &row) {
      return row.z < double(firstImage) ||
             row.z >= double(firstImage + std::int64_t(images.size()));
    });
  return all;
}

void SpotLabels::write(const std::function<ImageName(std::int64_t)> &name,
                       std::int64_t firstImage) {
  if (stream) {
    CrystfelStream writer(*stream, frameSlow, nexus ? "/entry/data/data" : "");
    writer.begin(images.front().crystals.front().model);
    for (std::size_t i = 0; i < images.size(); ++i) {
      const auto [file, event] = name(std::int64_t(i));
      writer.add({file, event, std::int64_t(i) + 1, images[i].size, images[i].crystals});
    }
  }
  if (table)
    writeReflectionTable(*table, rows(firstImage));
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
