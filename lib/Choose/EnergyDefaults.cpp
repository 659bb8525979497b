#include "lib/Choose/DefaultsChooser.h"
#include "lib/Experiment/CheckedSize.h"
#include "lib/Experiment/Units.h"
#include "lib/Experiment/VectorAlgebra.h"

#include <cmath>
#include <complex>
#include <numbers>
#include <stdexcept>

namespace nanobragg {
namespace {

constexpr std::size_t mostEntries = 65536; // that nb.table_position can search

/// exp(2 pi i x h) for h from `first` to `last`.
std::vector<std::complex<double>> wavesOf(double x, std::int64_t first, std::int64_t last) {
  std::vector<std::complex<double>> waves;
  for (std::int64_t h = first; h <= last; ++h)
    waves.push_back(std::polar(1.0, 2 * std::numbers::pi * x * double(h)));
  return waves;
}

/// For each node of the box the sum over the atoms of that kind of occ exp(-B / 4 d^2)
/// exp(2 pi i h x). `reciprocal`: 1/A.
std::vector<std::complex<double>> sumOverAtoms(const std::vector<AnomalousAtom> &atoms, int kind,
                                               const HklGrid &box,
                                               const std::array<Vec3, 3> &reciprocal) {
  const auto lines = std::size_t(box.kMax - box.kMin + 1),
             columns = std::size_t(box.lMax - box.lMin + 1);
  std::vector<std::complex<double>> total(std::size_t(box.hMax - box.hMin + 1) * lines * columns);
  std::vector<double> quarterOfSquare; // (1/d)^2 / 4
  quarterOfSquare.reserve(total.size());
  for (std::int64_t h = box.hMin; h <= box.hMax; ++h)
    for (std::int64_t k = box.kMin; k <= box.kMax; ++k)
      for (std::int64_t l = box.lMin; l <= box.lMax; ++l) {
        const Vec3 q = sum(scaled(reciprocal[0], double(h)),
                           sum(scaled(reciprocal[1], double(k)), scaled(reciprocal[2], double(l))));
        quarterOfSquare.push_back(dot(q, q) / 4);
      }
  for (const AnomalousAtom &atom : atoms) {
    if (atom.kind != kind)
      continue;
    const auto alongH = wavesOf(atom.position[0], box.hMin, box.hMax);
    const auto alongK = wavesOf(atom.position[1], box.kMin, box.kMax);
    const auto alongL = wavesOf(atom.position[2], box.lMin, box.lMax);
    std::size_t i = 0;
    for (const auto &h : alongH)
      for (const auto &k : alongK)
        for (const auto &l : alongL) {
          total[i] += atom.occupancy * std::exp(-atom.b * quarterOfSquare[i]) * (h * k * l);
          ++i;
        }
  }
  return total;
}

} // namespace

std::vector<double> sourceEnergies(const Experiment &experiment) {
  const Beam &beam = experiment.beam;
  if (experiment.variant.bandwidth == Bandwidth::Spectrum) {
    const std::vector<double> &wavelengths = beam.spectrumWavelength.values;
    return {units::wavelengthFromEnergy(1) / wavelengths.back(),
            units::wavelengthFromEnergy(1) / wavelengths.front()};
  }
  const bool listed = experiment.variant.sources == Sources::Listed;
  std::vector<double> energies;
  for (std::size_t i = 0; i < beam.sourceWeight.size(); ++i) {
    const double wavelength =
        listed ? beam.wavelengthOffset + beam.wavelengthScale * beam.sourceWavelength[i]
               : beam.wavelength * (1 + beam.dispersion * beam.unitDispersion[i]);
    energies.push_back(units::wavelengthFromEnergy(1) / wavelength);
  }
  return energies;
}

void DefaultsChooser::chooseFactorsByEnergy() {
  if (!inputs.byEnergy)
    return;
  if (said(&O::interpolate).value_or(false))
    throw std::invalid_argument("-interpolate: structure factors by energy are those of the "
                                "nearest reflection; leave one of the two out");
  if (inputs.byEnergy->channels)
    chooseChannels();
  else
    chooseAnomalous();
}

void DefaultsChooser::chooseEnergyNodes() {
  const std::vector<double> &energies = inputs.byEnergy->energies;
  if (energies.size() > mostEntries)
    throw std::invalid_argument(inputs.byEnergy->file + ": has " + std::to_string(energies.size()) +
                                " energies and may have 65536; leave out every other one");
  for (const double energy : energies)
    experiment.crystal.energyNodes.values.push_back(energy / units::wavelengthFromEnergy(1));
}

void DefaultsChooser::chooseChannels() {
  const FactorsByEnergy &given = *inputs.byEnergy;
  Crystal &crystal = experiment.crystal;
  experiment.variant.structureFactors =
      said(&O::betweenChannels) ? StructureFactors::BetweenChannels : StructureFactors::Channels;
  crystal.sheetStep = double(crystal.grid->hMax - crystal.grid->hMin + 1);
  crystal.sheets = given.channels;
  chooseEnergyNodes();
}

void DefaultsChooser::chooseAnomalous() {
  const FactorsByEnergy &given = *inputs.byEnergy;
  Crystal &crystal = experiment.crystal;
  const HklGrid &box = *crystal.grid;
  experiment.variant.structureFactors = StructureFactors::Anomalous;
  experiment.variant.anomalousKinds = int(given.kinds.size());
  auto sheets = std::make_shared<HklGrid>(stackedBounds(box, 2 + 2 * given.kinds.size()));
  std::vector<double> &values = sheets->values;
  values.reserve((2 + 2 * given.kinds.size()) * box.values.size());
  values.insert(values.end(), given.real.begin(), given.real.end());
  values.insert(values.end(), given.imaginary.begin(), given.imaginary.end());
  // Reflections that no list has do not disperse.
  std::vector<std::size_t> unlisted;
  for (std::size_t node = 0; node < given.imaginary.size(); ++node)
    if (std::isnan(given.imaginary[node]))
      unlisted.push_back(node);
  for (const std::size_t node : unlisted)
    values[given.real.size() + node] = 0;
  for (std::size_t kind = 0; kind < given.kinds.size(); ++kind) {
    auto total = sumOverAtoms(given.atoms, int(kind), box, report.reciprocalCell.vectors);
    for (const std::size_t node : unlisted)
      total[node] = 0;
    for (const std::complex<double> &value : total)
      values.push_back(value.real());
    for (const std::complex<double> &value : total)
      values.push_back(value.imag());
  }
  crystal.sheetStep = double(box.hMax - box.hMin + 1);
  crystal.sheets = std::move(sheets);
  crystal.fPrime = given.fPrime;
  crystal.fDoublePrime = given.fDoublePrime;
  chooseEnergyNodes();
  const std::vector<double> &table = given.energies;
  // eV, of what was a wavelength in between, and of a spectrum that ends steeply.
  constexpr double rounding = 0.1;
  for (const double energy : sourceEnergies(experiment))
    if (table.size() > 1 && (energy < table.front() - rounding || energy > table.back() + rounding))
      throw std::invalid_argument(
          (given.file.empty() ? "f' and f'' without --anomalous-table are known"
                              : "--anomalous-table " + given.file + ": goes") +
          " from " + text(table.front()) + " to " + text(table.back()) + " eV, and a source has " +
          text(energy) + " eV; " +
          (given.file.empty() ? "give a table that reaches it" : "add lines that reach it"));
}

} // namespace nanobragg
