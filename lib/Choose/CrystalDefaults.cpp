#include "lib/Choose/DefaultsChooser.h"

#include "lib/Choose/Steps.h"
#include "lib/Choose/WholeNumber.h"
#include "lib/Experiment/CellGeometry.h"
#include "lib/Experiment/RandomOrientation.h"
#include "lib/Experiment/Units.h"
#include "lib/Experiment/VectorAlgebra.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <tuple>

namespace nanobragg {

void DefaultsChooser::chooseGoniometer() {
  Goniometer &g = experiment.goniometer;
  g.phi0 = said(&O::phi).value_or(given.phi.value_or(0));
  const auto osc = said(&O::osc) ? said(&O::osc) : given.osc;
  const auto step = said(&O::phiStep);
  const bool stepAlone = !osc && step.value_or(0) > 0;
  const auto steps = stepAlone ? std::nullopt : said(&O::phiSteps);
  const StepRange phi =
      chosenSteps([&](Rule rule) { return choosePhiSteps(osc, step, steps, rule); });
  if (phi.steps > 10000000)
    throw std::invalid_argument("-phisteps: " + std::to_string(phi.steps) +
                                " steps are too many; use fewer or enlarge -phistep");
  if (!isSampled())
    return chooseAveragedSweep();
  g.phiSteps = phi.steps;
  // Steps of a size of their own over an empty range are a fraction of themselves.
  g.osc = phi.range != 0 ? phi.range : phi.step;
  g.phiStepFraction = g.osc != 0 ? phi.step / g.osc : 0;
  report.phi0 = g.phi0;
  report.osc = phi.range;
  for (std::int64_t i = 0; i < phi.steps; ++i)
    report.phiSteps.push_back(g.phi0 + phi.step * double(i));
}

void DefaultsChooser::chooseOrientation() {
  Crystal &crystal = experiment.crystal;
  ProgramVariant &variant = experiment.variant;
  if (!said(&O::cell) && !inputs.hasMatrix())
    throw std::invalid_argument(noUnitCell);

  std::optional<UnitCell> cell;
  std::array<Vec3, 3> reciprocal{};
  if (said(&O::cell)) {
    cell = unitCellOf(*said(&O::cell));
    std::tie(crystal.cellA, crystal.cellB, crystal.cellC, crystal.cellAlpha, crystal.cellBeta,
             crystal.cellGamma) = std::tuple_cat(*said(&O::cell));
    reciprocal = defaultSetting(*cell, semantics.cellSetting);
    variant.cellSource = CellSource::Cell;
    variant.cellSetting = semantics.cellSetting;
    const double right = defaultSetting(*cell, Rule::Right)[2][2];
    const double likeC = defaultSetting(*cell, Rule::C)[2][2];
    if (!inputs.hasMatrix() && std::fabs(likeC - right) > 1e-9 * right)
      note(&Semantics::cellSetting);
  }
  if (inputs.hasMatrix()) {
    variant.cellSource = cell ? CellSource::CellAndMatrix : CellSource::Matrix;
    variant.cellSetting = Rule::Right;
    const double scale = units::angstrom / experiment.beam.wavelength;
    for (int row = 0; row < 3; ++row)
      for (int column = 0; column < 3; ++column) {
        const std::size_t i = std::size_t(3 * row + column);
        double &inAngstroms = reciprocal[column][row];
        inAngstroms = inputs.matrix ? (*inputs.matrix)[i] * units::angstrom
                                    : (*inputs.mosflmMatrix)[i] * scale;
        crystal.reciprocalMatrix[i] =
            inputs.matrix ? (*inputs.matrix)[i] : inAngstroms / units::angstrom;
      }
    const double volume = dot(reciprocal[0], cross(reciprocal[1], reciprocal[2]));
    const double box = length(reciprocal[0]) * length(reciprocal[1]) * length(reciprocal[2]);
    if (!(std::fabs(volume) > 1e-6 * box) || !std::isfinite(volume))
      throw std::invalid_argument("-mat: the three reciprocal vectors lie in a plane; the file "
                                  "holds rows x, y, z and columns a*, b*, c*");
  }

  if (said(&O::missetRandom)) {
    said(&O::missetSeed);
    crystal.misset = drawOrientation(semantics.randomMisset, complete.random, missetSeed);
    report.randomMisset = crystal.misset;
    note(&Semantics::randomMisset);
  } else if (said(&O::misset)) {
    crystal.misset = *said(&O::misset);
  }
  auto oriented = [&](std::array<Vec3, 3> vectors) {
    for (Vec3 &vector : vectors)
      vector = rotatedXYZ(crystal.misset, vector);
    return latticeOf(vectors, cell ? &*cell : nullptr);
  };
  const Lattice lattice = oriented(reciprocal);
  report.cell = lattice.real;
  report.reciprocalCell = lattice.reciprocal;
  report.volume = lattice.volume;
  cellEdges = lattice.edges;
  cellEdgesOfC =
      inputs.hasMatrix() ? lattice.edges : oriented(defaultSetting(*cell, Rule::C)).edges;
}

void DefaultsChooser::chooseCrystalSize() {
  Crystal &crystal = experiment.crystal;
  constexpr std::array cells{&O::na, &O::nb, &O::nc};
  constexpr std::array sizes{&O::sampleX, &O::sampleY, &O::sampleZ};
  const char *clipped[] = {"", "high", "wide"}; // the C program's words for y and z
  for (int i = 0; i < 3; ++i) {
    double n = 1;
    if (said(sizes[i])) {
      double size = *said(sizes[i]);
      if (i > 0 && beamSize() < size) {
        warn("clipping sample (" + text(size) + " m " + clipped[i] + ") with beam (" +
             text(beamSize()) + " m)");
        size = beamSize();
      }
      n = wholeNumber(size / cellEdges[i], size / cellEdgesOfC[i]);
    } else {
      n = double(said(cells[i]).value_or(1));
    }
    crystal.ncells[i] = std::max(n, 1.0);
    report.crystalSize[i] = cellEdges[i] * crystal.ncells[i];
  }
  report.largestCrystalSize = *std::ranges::max_element(report.crystalSize);
  const auto &[x, y, z] = report.crystalSize;
  const auto &[na, nb, nc] = crystal.ncells;
  constexpr double density = 1.2e6; // g/m^3
  report.approximateMolecularWeight = x * y * z * density * constants::avogadro / (na * nb * nc);

  experiment.variant.shape = said(&O::shape);
  const CrystalShapeRow &shape = rowOf(experiment.variant.shape);
  if (shape.profile != SpotProfile::Grating)
    crystal.fudge = said(&O::fudge).value_or(1);
  if (said(&O::ncellsDef))
    return chooseWidthMatrix();
  if (shape.hasRadiusOfC) {
    experiment.variant.spotMetric = semantics.spotMetric;
    note(&Semantics::spotMetric);
  }
}

/// The radius of a spot is that in units of Miller indices, |N delta|; the C program's knows no
/// directions.
void DefaultsChooser::chooseWidthMatrix() {
  Crystal &crystal = experiment.crystal;
  if (said(&O::shape) != CrystalShape::Gauss)
    throw std::invalid_argument("-Ncells_def needs -gauss_xtal: only Gaussian spots can have "
                                "widths along other directions than a*, b* and c*");
  if (semantics.spotMetric == Rule::C)
    throw std::invalid_argument("-Ncells_def is not possible with -compat c, where the radius of a "
                                "spot is the same for all directions; leave out -compat c");
  const auto [d, e, f] = *said(&O::ncellsDef);
  const auto [a, b, c] = crystal.ncells;
  const double minor = a * b - d * d;
  const double determinant = c * minor + 2 * d * e * f - a * e * e - b * f * f;
  if (!(minor > 0) || !(determinant > 0))
    throw std::invalid_argument("-Ncells_def: the widths [[" + text(a) + ", " + text(d) + ", " +
                                text(f) + "], [" + text(d) + ", " + text(b) + ", " + text(e) +
                                "], [" + text(f) + ", " + text(e) + ", " + text(c) +
                                "]] are not positive in all directions; make D, E and F smaller");
  crystal.ncellsCross = {d, e, f};
  const double widths[] = {std::hypot(a, d, f), std::hypot(d, b, e), std::hypot(f, e, c)};
  report.largestCrystalSize = 0;
  for (int i = 0; i < 3; ++i)
    report.largestCrystalSize =
        std::max(report.largestCrystalSize, report.cell.lengths[i] * units::angstrom * widths[i]);
  experiment.variant.shape = CrystalShape::GaussMatrix;
}

void DefaultsChooser::chooseOversample() {
  Detector &d = experiment.detector;
  constexpr std::int64_t most = 10000;
  const auto refuseMoreThanMost = [&](const char *what) {
    if (d.oversample > most)
      throw std::invalid_argument("-oversample: " + std::to_string(d.oversample) +
                                  " sub-pixels along each edge are " + what);
  };
  if (!isSampled()) {
    d.oversample = said(&O::oversample).value_or(1); // the area of a sub-pixel is averaged
    return refuseMoreThanMost("too many; use fewer");
  }
  report.reciprocalPixelSize = experiment.beam.wavelength * report.detector.distance / d.pixelSize;
  report.oversampleAutoSelected = !said(&O::oversample);
  auto subpixelsOver = [&](const std::array<double, 3> &edges) {
    double largest = 0;
    for (int i = 0; i < 3; ++i)
      largest = std::max(largest, edges[i] * experiment.crystal.ncells[i]);
    return 3.0 * largest / report.reciprocalPixelSize;
  };
  // A recommendation that is not followed is no difference to announce.
  const double ratio = subpixelsOver(cellEdges);
  const double wanted = report.oversampleAutoSelected
                            ? wholeNumber(ratio, subpixelsOver(cellEdgesOfC))
                            : roundedUp(ratio, semantics.exactRatios);
  // Neither a detector behind the sample nor one that the beam does not meet has a recommendation.
  report.recommendedOversample =
      wanted > 0 && std::isfinite(wanted) ? std::int64_t(std::min(wanted, 1e9)) : 1;
  d.oversample = said(&O::oversample).value_or(report.recommendedOversample);
  refuseMoreThanMost(report.oversampleAutoSelected
                         ? "needed for this crystal, too many; give -oversample or fewer cells"
                         : "too many; use fewer");
}

/// How many domains a crystal has with a mosaic spread, which `flag` says.
std::int64_t DefaultsChooser::mosaicDomains(const std::string &flag) {
  said(&O::mosaicSeed);
  const std::optional<std::int64_t> domains = said(&O::mosaicDomains);
  if (!domains)
    warn(flag + " without -mosaic_domains: using 10 mosaic domains");
  if (domains.value_or(0) > 10000000)
    throw std::invalid_argument("-mosaic_domains: " + std::to_string(*domains) +
                                " domains are too many; use fewer");
  return domains.value_or(10);
}

void DefaultsChooser::chooseMosaicFrame(std::int64_t domains) {
  const bool inLab = domains > 1 ? said(&O::mosaicInLab) : said.unread().mosaicInLab;
  if (semantics.mosaicFrame == Rule::Right && !inLab)
    experiment.variant.mosaicity = Mosaicity::CrystalBall;
  if (domains == 1 || inLab)
    return;
  // Where the crystal's frame is the laboratory's both are the same.
  const auto &stars = report.reciprocalCell.vectors;
  const Vec3 x = unit(stars[0]), z = unit(cross(stars[0], stars[1]));
  constexpr double aligned = 1e-12;
  const Goniometer &g = experiment.goniometer;
  if (length(difference(x, {1, 0, 0})) > aligned || length(difference(z, {0, 0, 1})) > aligned ||
      g.phi0 != 0 || (g.osc != 0 && g.phiSteps > 1))
    note(&Semantics::mosaicFrame);
}

void DefaultsChooser::chooseMosaic() {
  Crystal &crystal = experiment.crystal;
  if (!said(&O::mosaicAbc))
    crystal.mosaicSpread = said(&O::mosaicSpread).value_or(0);
  if (!isSampled())
    return chooseMosaicBlocks();
  if (said(&O::mosaicAbc))
    return chooseMosaicEllipsoid();
  const std::int64_t domains = crystal.mosaicSpread > 0 ? mosaicDomains("-mosaic") : 1;
  chooseMosaicFrame(domains); // also of one: a kernel is for any number
  crystal.mosaicAxis.clear();
  crystal.mosaicUnitAngle.clear();
  for (std::int64_t i = 0; i < domains; ++i) {
    const AxisAngle rotation =
        drawMosaicRotation(crystal.mosaicSpread, complete.random, mosaicSeed);
    crystal.mosaicAxis.push_back(rotation.axis);
    // The first domain draws its numbers and then stays aligned.
    crystal.mosaicUnitAngle.push_back(i == 0 ? 0 : rotation.angle / crystal.mosaicSpread);
  }
}

void DefaultsChooser::chooseStructureFactors() {
  Crystal &crystal = experiment.crystal;
  crystal.grid = inputs.grid;
  crystal.defaultF = said(&O::defaultF);
  if (!crystal.grid && crystal.defaultF == 0 && inputs.backgrounds.empty())
    throw std::invalid_argument(noStructureFactors);

  const auto thin = [](double n) { return n <= 2; };
  const bool byFinal = crystal.isThin();
  const bool byFlags = std::ranges::any_of(std::array{&O::na, &O::nb, &O::nc}, [&](auto n) {
    return thin(double((said.unread().*n).value_or(1)));
  });
  const bool automatic = semantics.interpolationChoice == Rule::C ? byFlags : byFinal;
  if (!said.unread().interpolate) {
    report.interpolationAutoSelected = automatic;
    if (crystal.grid && byFlags != byFinal)
      note(&Semantics::interpolationChoice);
  }
  StructureFactors &factors = experiment.variant.structureFactors;
  if (!crystal.grid) {
    factors = StructureFactors::Constant;
    return;
  }
  if (inputs.byEnergy) { // chooseFactorsByEnergy() does the rest
    factors = StructureFactors::Nearest;
    return;
  }
  factors = said(&O::interpolate).value_or(automatic) ? StructureFactors::Tricubic
                                                      : StructureFactors::Nearest;
}

void DefaultsChooser::chooseCrystal() {
  chooseOrientation();
  chooseCrystalSize();
  chooseOversample();
  chooseMosaic();
  chooseDiffuse();
  chooseStructureFactors();
}

} // namespace nanobragg
