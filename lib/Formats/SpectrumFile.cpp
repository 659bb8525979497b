#include "lib/Formats/SpectrumFile.h"

#include "lib/Experiment/Philox.h"
#include "lib/Experiment/Units.h"
#include "lib/Files/FileContents.h"
#include "lib/Files/FileError.h"
#include "lib/Files/TextScanner.h"
#include "lib/Formats/NexusFile.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <complex>
#include <filesystem>
#include <fstream>
#include <numbers>
#include <optional>
#include <stdexcept>
#include <system_error>
#include <utility>
#include <vector>

namespace nanobragg::io {
namespace {

/// In A. Gamma rays and light are not diffracted by crystals.
constexpr double shortest = 1e-3, longest = 1e3;

bool isOfXRays(double wavelength) { return wavelength >= shortest && wavelength <= longest; }

std::string notOfXRays(double wavelength) {
  return "has the wavelength " + shortNumber(wavelength) + " A, and X-rays have 0.001 to 1000; " +
         "numbers above 100 are energies in eV";
}

/// "file.nxs:7" as a name and the number of a shot.
std::pair<std::string, std::optional<std::size_t>> fileAndShot(const std::string &named) {
  const std::size_t colon = named.rfind(':');
  std::error_code ignored;
  if (colon == std::string::npos || std::filesystem::exists(named, ignored))
    return {named, {}};
  std::size_t shot = 0;
  const char *const begin = named.data() + colon + 1, *const end = named.data() + named.size();
  const auto [stop, error] = std::from_chars(begin, end, shot);
  if (begin == end || stop != end || error != std::errc())
    return {named, {}};
  return {named.substr(0, colon), shot};
}

/// Files of images are large; others are read whole.
bool beginsHdf5(const std::string &path) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored))
    return false;
  std::array<char, 8> bytes{};
  std::ifstream(path, std::ios::binary).read(bytes.data(), bytes.size());
  return isHdf5({bytes.data(), bytes.size()});
}

} // namespace

Spectrum readSpectrumFile(const std::string &named, std::optional<std::size_t> shotOfSeries) {
  if (auto shape = spectrumOfShape(named, shotOfSeries.value_or(0)))
    return *std::move(shape);
  const auto [path, shot] = fileAndShot(named);
  if (std::error_code ignored;
      named.find(':') != std::string::npos && !std::filesystem::exists(path, ignored))
    throw FileError(named, "is neither a file nor a shape, such as " + examplesOfShapes());
  const bool isNexus = beginsHdf5(path);
  if (shot && !isNexus)
    throw FileError(path, "has one spectrum; leave out ':" + std::to_string(*shot) + "'");
  if (isNexus) {
    auto spectrum = readNexusSpectrum(path, shot ? shot : shotOfSeries);
    if (spectrum.empty())
      throw FileError(path, "has no spectrum (incident_wavelength_1Dspectrum and its weights)");
    for (const auto &[wavelength, weight] : spectrum)
      if (!isOfXRays(wavelength))
        throw FileError(path, notOfXRays(wavelength));
    return {std::move(spectrum), false, false, !shot};
  }
  constexpr double smallestEnergy = 100; // eV; wavelengths are smaller
  Spectrum spectrum;
  spectrum.isByEnergy = true;
  forEachRow(
      path, readMaybeCompressed(path), 3,
      [&](std::size_t line, const std::vector<double> &numbers) {
        if (numbers.size() != 2)
          throw FileError(path, line,
                          "has " + std::to_string(numbers.size()) +
                              " numbers; lines have wavelength (A) or energy (eV), and a weight");
        auto [wavelength, weight] = std::array{numbers[0], numbers[1]};
        if (weight < 0)
          throw FileError(path, line,
                          "has the weight " + shortNumber(weight) + "; weights are 0 or above");
        if (wavelength > smallestEnergy)
          wavelength = units::wavelengthFromEnergy(wavelength) * 1e10;
        else
          spectrum.isByEnergy = false;
        if (!isOfXRays(wavelength))
          throw FileError(path, line, notOfXRays(wavelength));
        spectrum.points.push_back({wavelength, weight});
      });
  if (std::ranges::none_of(spectrum.points, [](const auto &point) { return point[1] > 0; }))
    throw FileError(path, "has no point with a weight above 0");
  return spectrum;
}

namespace {

using Numbers = std::vector<double>;
using Density = std::vector<double>;

/// Energies (eV) in equal steps from one to the other.
Numbers grid(double from, double to, double step) {
  constexpr double most = 50000;
  const double steps = std::ceil((to - from) / step);
  if (!(steps < most))
    throw std::invalid_argument("it needs more than 50000 points; take a narrower spectrum or "
                                "wider lines");
  Numbers energies;
  for (double i = 0; i <= steps; ++i)
    energies.push_back(from + (to - from) * i / steps);
  return energies;
}

/// The standard deviation of a Gaussian of this full width at half maximum.
double sigmaOf(double fwhm) { return fwhm / std::sqrt(8 * std::numbers::ln2); }

double gaussian(double x) { return std::exp(-x * x / 2); }

Spectrum spectrumOf(const Numbers &energies, const Density &photons) {
  Spectrum spectrum;
  spectrum.isByEnergy = spectrum.isShape = true;
  for (std::size_t i = 0; i != energies.size(); ++i)
    spectrum.points.push_back(
        {units::wavelengthFromEnergy(energies[i]) / units::angstrom, photons[i]});
  return spectrum;
}

Spectrum flat(const Numbers &n, std::size_t) {
  const double from = n[0], to = n[1];
  if (!(from < to))
    throw std::invalid_argument("the first energy is the lower one");
  const Numbers energies = grid(from, to, (to - from) / 1000);
  return spectrumOf(energies, Density(energies.size(), 1));
}

constexpr double reach = 5;     ///< standard deviations of a Gaussian on each side
constexpr double fineness = 40; ///< points to one of these

void requireAboveZero(double energy, double sigma) {
  if (!(reach * sigma < 0.9 * energy))
    throw std::invalid_argument("the spectrum extends below 0 eV; use a smaller width");
}

Spectrum gaussianOf(const Numbers &n, std::size_t) {
  const double sigma = sigmaOf(n[1] / 100 * n[0]);
  requireAboveZero(n[0], sigma);
  const Numbers energies = grid(n[0] - reach * sigma, n[0] + reach * sigma, sigma / fineness);
  Density photons;
  for (const double energy : energies)
    photons.push_back(gaussian((energy - n[0]) / sigma));
  return spectrumOf(energies, photons);
}

/// On the axis of a planar undulator, from electrons of one energy without emittance: odd harmonics
/// n of the strength F_n(K) (K.-J. Kim, X-ray Data Booklet, eqs. 13 and 14), each as wide as the
/// periods make it, sinc^2(pi periods (E / fundamental - n)).
Spectrum undulator(const Numbers &n, std::size_t) {
  const double fundamental = n[0], periods = n[1], K = n[2], to = n[3];
  if (!(periods >= 2 && periods == std::round(periods)))
    throw std::invalid_argument("the number of periods is a whole number from 2 on");
  const double from = 0.6 * fundamental;
  if (!(from < to))
    throw std::invalid_argument("the highest energy is below the fundamental");
  std::vector<double> strength; // harmonics 1, 3, ...
  for (double h = 1; h <= to / fundamental + 1; h += 2) {
    const double half = 1 + K * K / 2, x = h * K * K / (4 * half);
    const double bessel = std::cyl_bessel_j((h - 1) / 2, x) - std::cyl_bessel_j((h + 1) / 2, x);
    strength.push_back(h * h * K * K / (half * half) * bessel * bessel);
  }
  constexpr double pointsOfLine = 16;
  const Numbers energies = grid(from, to, fundamental / (pointsOfLine * periods));
  Density photons;
  for (const double energy : energies) {
    double sum = 0;
    for (std::size_t i = 0; i != strength.size(); ++i) {
      const double at = std::numbers::pi * periods * (energy / fundamental - double(2 * i + 1));
      const double sinc = at == 0 ? 1 : std::sin(at) / at;
      sum += strength[i] * sinc * sinc;
    }
    photons.push_back(sum * fundamental / energy); // an undulator's flux is that of a bandwidth
  }
  return spectrumOf(energies, photons);
}

/// Chaotic light: the square of complex noise that is as smooth as the spikes are wide, under a
/// Gaussian envelope.
Spectrum sase(const Numbers &n, std::size_t shot) {
  const double energy = n[0], seed = n[3];
  const double sigma = sigmaOf(n[1] / 100 * energy), spike = sigmaOf(n[2] / 100 * energy);
  if (!(spike < sigma))
    throw std::invalid_argument("a spike is narrower than the spectrum");
  requireAboveZero(energy, sigma);
  if (!(seed == std::round(seed) && seed < 0x1p32))
    throw std::invalid_argument("the seed is a whole number below 2^32");
  constexpr double pointsOfSpike = 10, reachOfSpike = 4;
  constexpr double use = 4; // envelopes are dark farther out
  const double step = spike / pointsOfSpike;
  const Numbers energies = grid(energy - use * sigma, energy + use * sigma, step);
  const auto tail = std::ptrdiff_t(reachOfSpike * pointsOfSpike);
  const Philox philox{std::uint32_t(seed), std::uint32_t(shot)};
  std::vector<std::complex<double>> noise;
  for (std::size_t i = 0; i != energies.size() + 2 * std::size_t(tail); ++i) {
    const auto [a, b, c, d] = philox({std::uint32_t(i), 0, 0, 0});
    noise.push_back(std::polar(std::sqrt(-2 * std::log(uniformOf(a, b))),
                               2 * std::numbers::pi * uniformOf(c, d)));
  }
  Density photons;
  for (std::size_t i = 0; i != energies.size(); ++i) {
    std::complex<double> field = 0;
    for (std::ptrdiff_t k = -tail; k <= tail; ++k)
      field += gaussian(double(k) / pointsOfSpike) * noise[i + std::size_t(tail + k)];
    photons.push_back(std::norm(field) * gaussian((energies[i] - energy) / sigma));
  }
  Spectrum spectrum = spectrumOf(energies, photons);
  spectrum.isOfShots = true;
  return spectrum;
}

struct Shape {
  const char *name, *numbers, *example;
  std::size_t count;
  Spectrum (*make)(const Numbers &, std::size_t shot);
};
constexpr Shape shapes[] = {
    {"flat", "FROM,TO (eV)", "flat:5000,27000", 2, flat},
    {"gaussian", "ENERGY,WIDTH (eV; full width at half maximum, %)", "gaussian:12400,3", 2,
     gaussianOf},
    {"undulator", "FUNDAMENTAL,PERIODS,K,TO (energies in eV)", "undulator:4000,80,1.6,22000", 4,
     undulator},
    {"sase", "ENERGY,WIDTH,SPIKE,SEED (eV; full widths at half maximum, %)", "sase:9500,0.3,0.01,1",
     4, sase},
};

} // namespace

std::string examplesOfShapes() {
  std::string examples;
  for (const Shape &shape : shapes)
    examples += (examples.empty() ? "" : ", ") + std::string(shape.example);
  return examples;
}

std::optional<Spectrum> spectrumOfShape(const std::string &text, std::size_t shot) {
  const std::size_t colon = text.find(':');
  const auto shape = std::ranges::find(shapes, text.substr(0, colon), &Shape::name);
  if (colon == std::string::npos || shape == std::end(shapes))
    return std::nullopt;
  const auto refuse = [&](const std::string &why) {
    throw std::invalid_argument(why + "; it is " + std::string(shape->name) + ":" + shape->numbers +
                                ", such as " + shape->example);
  };
  Numbers numbers;
  const char *at = text.data() + colon + 1, *const end = text.data() + text.size();
  for (bool more = true; more;) {
    double value = 0;
    const char *const stop = parseNumber(at, end, value);
    if (!stop || stop == at || !std::isfinite(value) || value < 0)
      refuse("'" + std::string(at, end) + "' does not begin with a number from 0 on");
    numbers.push_back(value);
    more = stop != end && *stop == ',';
    at = more ? stop + 1 : stop;
  }
  if (at != end || numbers.size() != shape->count)
    refuse(at != end ? "'" + std::string(at, end) + "' follows the numbers"
                     : "it has " + std::to_string(numbers.size()) + " numbers");
  constexpr double least = 100, most = 1e6; // eV
  if (!(numbers[0] >= least && numbers[0] <= most && numbers[1] > 0 &&
        numbers[2 % numbers.size()] > 0))
    refuse("energies are from 100 to 1000000 eV, and widths above 0");
  try {
    return shape->make(numbers, shot);
  } catch (const std::invalid_argument &error) {
    refuse(error.what());
  }
  return std::nullopt;
}

} // namespace nanobragg::io
