// Metamorphic relations: the same experiment said in another way.
#include "test/random/Trial.h"

#include "lib/Experiment/RandomOrientation.h"
#include "lib/Experiment/VectorAlgebra.h"

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>

namespace nanobragg::random_test {
namespace {

/// Image of `experiment` = factor * image of the original, pixel source(i) for pixel i. Parameters
/// are the original ones but for those in `scaled`, which are so many times as large, and in
/// `other`.
struct Change {
  Experiment experiment;
  double factor = 1;
  std::map<std::string, double> scaled{};
  std::vector<std::string> other{};
  std::function<std::size_t(std::size_t)> source{};
};

struct Relation {
  const char *name;
  bool (*applies)(const Experiment &);
  void (*apply)(Change &, Draws &);
};

bool always(const Experiment &) { return true; }
/// A point's solid angle shrinks with distance, the C program's background does not.
bool scalesWithCamera(const Experiment &e) {
  return e.variant.solidAngle == SolidAngle::Pixel || e.variant.water != Water::C;
}
/// The C program multiplies the background by the fluence twice, and divides it by the number of
/// steps.
bool withoutWaterOfC(const Experiment &e) { return e.variant.water != Water::C; }
bool crystalAlone(const Experiment &e) {
  return e.variant.water == Water::None && !e.variant.background;
}
/// The C program bends a detector about the lab's Y and Z.
bool notBentByC(const Experiment &e) { return e.variant.curvature != Curvature::C; }
/// The C program's size of a spot counts in Angstrom.
bool withoutAngstrom(const Experiment &e) {
  const bool spot =
      e.variant.shape == CrystalShape::Gauss || e.variant.shape == CrystalShape::Tophat;
  return !spot || e.variant.spotMetric == Rule::Right;
}
/// Has the experiment no lengths of its own but the cell's, and no angles that a table counts?
bool scalesWithCell(const Experiment &e) {
  return withoutAngstrom(e) && !e.variant.background && !e.variant.diffuse;
}

Vec3 turned(const Mat3 &r, const Vec3 &v) {
  Vec3 result{};
  for (int i = 0; i != 3; ++i)
    for (int j = 0; j != 3; ++j)
      result[i] += r[3 * i + j] * v[j];
  return result;
}

Mat3 product(const Mat3 &a, const Mat3 &b) {
  Mat3 result{};
  for (int i = 0; i != 3; ++i)
    for (int j = 0; j != 3; ++j)
      for (int k = 0; k != 3; ++k)
        result[3 * i + j] += a[3 * i + k] * b[3 * k + j];
  return result;
}

Mat3 transposed(const Mat3 &m) { return {m[0], m[3], m[6], m[1], m[4], m[7], m[2], m[5], m[8]}; }

Mat3 matrixXYZ(const Vec3 &angles) {
  Mat3 result = rotationMatrix({{1, 0, 0}, angles[0]});
  result = product(rotationMatrix({{0, 1, 0}, angles[1]}), result);
  return product(rotationMatrix({{0, 0, 1}, angles[2]}), result);
}

void turnEverything(Change &change, Draws &draws) {
  Experiment &e = change.experiment;
  const Vec3 axis = unit({draws.uniform(-1, 1), draws.uniform(-1, 1), draws.uniform(0.1, 1)});
  const Mat3 r = rotationMatrix({axis, draws.uniform(-3, 3)});
  const auto turn = [&](Vec3 &v) { v = turned(r, v); };
  for (Vec3 *v :
       {&e.beam.direction, &e.beam.polarizationAxis, &e.goniometer.spindleAxis,
        &e.detector.fastAxis, &e.detector.slowAxis, &e.detector.normal, &e.detector.twothetaAxis})
    turn(*v);
  for (Vec3 &v : e.beam.sourceDirection)
    turn(v);
  if (e.variant.mosaicity == Mosaicity::Ball) // an ellipsoid's are those of the crystal
    for (Vec3 &v : e.crystal.mosaicAxis)
      turn(v);
  for (Panel &panel : e.detector.panels)
    for (Vec3 *v : {&panel.offset, &panel.fastAxis, &panel.slowAxis, &panel.normal})
      turn(*v);
  // Angles that turn after others about lab axes become other angles.
  e.crystal.misset = anglesXYZ(product(r, matrixXYZ(e.crystal.misset)));
  e.detector.rotation =
      anglesXYZ(product(product(r, matrixXYZ(e.detector.rotation)), transposed(r)));
  change.other = {"misset_x",      "misset_y",      "misset_z",
                  "detector_rotx", "detector_roty", "detector_rotz"};
}

void scaleFluence(Change &change, Draws &draws) {
  change.factor = draws.uniform(0.1, 10);
  change.experiment.beam.fluence *= change.factor;
  change.scaled["fluence"] = change.factor;
}

void scaleStructureFactors(Change &change, Draws &draws) {
  const double s = draws.uniform(0.1, 10);
  Crystal &crystal = change.experiment.crystal;
  crystal.defaultF *= s;
  if (crystal.grid) {
    HklGrid grid = *crystal.grid;
    for (double &f : grid.values)
      f *= s;
    crystal.grid = std::make_shared<HklGrid>(std::move(grid));
  }
  change.factor = s * s;
  change.scaled = {{"default_F", s}, {"F", s}};
}

std::vector<std::size_t> order(std::size_t count, Draws &draws) {
  std::vector<std::size_t> result(count);
  std::iota(result.begin(), result.end(), std::size_t(0));
  for (std::size_t i = count; i > 1; --i)
    std::swap(result[i - 1], result[std::size_t(draws.integer(0, std::int64_t(i) - 1))]);
  return result;
}

template <typename T>
void reorder(std::vector<T> &values, const std::vector<std::size_t> &order) {
  std::vector<T> result;
  for (std::size_t i : order)
    result.push_back(values[i]);
  values = std::move(result);
}

void reorderDomains(Change &change, Draws &draws) {
  Crystal &crystal = change.experiment.crystal;
  const auto found = order(crystal.mosaicAxis.size(), draws);
  reorder(crystal.mosaicAxis, found);
  reorder(crystal.mosaicUnitAngle, found);
}

void doubleDomains(Change &change, Draws &) {
  Crystal &crystal = change.experiment.crystal;
  const auto append = [](auto &values) {
    const auto copy = values;
    values.insert(values.end(), copy.begin(), copy.end());
  };
  append(crystal.mosaicAxis);
  append(crystal.mosaicUnitAngle);
}

void takeSources(Beam &beam, const std::vector<std::size_t> &which) {
  for (auto *values : {&beam.unitHdiv, &beam.unitVdiv, &beam.unitDispersion, &beam.sourceWavelength,
                       &beam.sourceWeight})
    reorder(*values, which);
  reorder(beam.sourceDirection, which);
}

/// A polarization factor that is taken once per pixel is that of the first source; so is the
/// background's.
bool eachSourceAlike(const Experiment &e) {
  return e.variant.polarization == Evaluation::None ||
         (e.variant.polarization == Evaluation::Each && e.variant.water != Water::Right);
}

void reorderSources(Change &change, Draws &draws) {
  takeSources(change.experiment.beam, order(change.experiment.beam.sourceWeight.size(), draws));
}

void splitSource(Change &change, Draws &draws) {
  Beam &beam = change.experiment.beam;
  const std::size_t count = beam.sourceWeight.size();
  const auto split = std::size_t(draws.integer(0, std::int64_t(count) - 1));
  std::vector<std::size_t> which(count + 1, split);
  std::iota(which.begin(), which.begin() + std::ptrdiff_t(count), std::size_t(0));
  takeSources(beam, which);
  const double part = draws.uniform(0.1, 0.9);
  beam.sourceWeight[count] *= part;
  beam.sourceWeight[split] *= 1 - part;
}

/// The polarization of a pixel is that of the first sample that the resolution cutoff lets through,
/// which may be one of a source without weight.
bool firstSampleIsKept(const Experiment &e) {
  return !(e.variant.polarization == Evaluation::Once && e.variant.dmin);
}

void addDarkSource(Change &change, Draws &draws) {
  Beam &beam = change.experiment.beam;
  std::vector<std::size_t> which(beam.sourceWeight.size());
  std::iota(which.begin(), which.end(), std::size_t(0));
  which.push_back(0);
  takeSources(beam, which);
  beam.sourceWeight.back() = 0;
  beam.sourceWavelength.back() *= draws.uniform(0.8, 1.2);
}

void scaleWeights(Change &change, Draws &draws) {
  const double s = draws.uniform(0.1, 10);
  for (double &weight : change.experiment.beam.sourceWeight)
    weight *= s;
}

bool severalPanels(const Experiment &e) { return e.detector.panels.size() > 1; }

void reorderPanels(Change &change, Draws &draws) {
  Detector &detector = change.experiment.detector;
  const auto found = order(detector.panels.size(), draws);
  reorder(detector.panels, found);
  const std::size_t pixels = std::size_t(detector.fastPixels * detector.slowPixels);
  change.source = [=](std::size_t i) { return found[i / pixels] * pixels + i % pixels; };
  const auto reorderPixels = [&](auto &values) {
    const auto original = values;
    for (std::size_t i = 0; i != values.size(); ++i)
      values[i] = original[change.source(i)];
  };
  reorderPixels(detector.mask);
  reorderPixels(detector.gainMap.values);
}

/// And nothing counts along the crystal's own axes.
bool orientedByMatrix(const Experiment &e) {
  return e.variant.cellSource == CellSource::Matrix && e.variant.mosaicity == Mosaicity::Ball &&
         !e.variant.diffuse;
}

/// a, b, c become b, c, a.
void reorderAxes(Change &change, Draws &) {
  Crystal &c = change.experiment.crystal;
  const Mat3 m = c.reciprocalMatrix;
  for (int row = 0; row != 3; ++row)
    for (int column = 0; column != 3; ++column)
      c.reciprocalMatrix[3 * row + column] = m[3 * row + (column + 1) % 3];
  std::rotate(c.ncells.begin(), c.ncells.begin() + 1, c.ncells.end());
  std::rotate(c.ncellsCross.begin(), c.ncellsCross.begin() + 1, c.ncellsCross.end());
  change.other = {"ncells_a", "ncells_b", "ncells_c", "ncells_d", "ncells_e", "ncells_f", "F"};
  if (!c.grid)
    return;
  const HklGrid &g = *c.grid;
  HklGrid other = {g.kMin, g.kMax, g.lMin, g.lMax, g.hMin, g.hMax, {}};
  const std::int64_t ks = g.kMax - g.kMin + 1, ls = g.lMax - g.lMin + 1;
  for (std::int64_t k = 0; k != ks; ++k)
    for (std::int64_t l = 0; l != ls; ++l)
      for (std::int64_t h = 0; h <= g.hMax - g.hMin; ++h)
        other.values.push_back(g.values[std::size_t((h * ks + k) * ls + l)]);
  c.grid = std::make_shared<HklGrid>(std::move(other));
}

void scaleCamera(Change &change, Draws &draws) {
  const double s = draws.uniform(0.3, 3);
  Detector &d = change.experiment.detector;
  for (double *length : {&d.distance, &d.closeDistance, &d.pixelSize, &d.beamCenterFast,
                         &d.beamCenterSlow, &d.attenuationDepth, &d.sensorThickness})
    *length *= s;
  for (Panel &panel : d.panels)
    panel.offset = scaled(panel.offset, s);
  // A point has no area that would grow as the square of the distance.
  if (change.experiment.variant.solidAngle == SolidAngle::Point)
    change.factor = 1 / (s * s);
  for (const char *name : {"distance", "close_distance", "pixel_size", "beam_center_fast",
                           "beam_center_slow", "attenuation_depth", "sensor_thickness"})
    change.scaled[name] = s;
}

/// Bragg's law knows ratios of lengths only.
void scaleCrystalAndWavelength(Change &change, Draws &draws) {
  const double s = draws.uniform(0.5, 2);
  Experiment &e = change.experiment;
  for (double *length : {&e.crystal.cellA, &e.crystal.cellB, &e.crystal.cellC, &e.beam.wavelength,
                         &e.beam.wavelengthOffset, &e.dmin})
    *length *= s;
  for (double &element : e.crystal.reciprocalMatrix)
    element /= s;
  for (double &wavelength : e.beam.sourceWavelength)
    wavelength *= s;
  for (const char *name : {"cell_a", "cell_b", "cell_c", "wavelength", "wavelength_offset"})
    change.scaled[name] = s;
}

const Relation relations[] = {
    {"everything turned together", notBentByC, turnEverything},
    {"more fluence", withoutWaterOfC, scaleFluence},
    {"larger structure factors", crystalAlone, scaleStructureFactors},
    {"mosaic domains in another order", always, reorderDomains},
    {"each mosaic domain twice", withoutWaterOfC, doubleDomains},
    {"sources in another order", eachSourceAlike, reorderSources},
    {"a source in two parts", always, splitSource},
    {"a source without weight", firstSampleIsKept, addDarkSource},
    {"weights of another sum", withoutWaterOfC, scaleWeights},
    {"panels in another order", severalPanels, reorderPanels},
    {"axes in cyclic order", orientedByMatrix, reorderAxes},
    {"a larger camera", scalesWithCamera, scaleCamera},
    {"a larger cell and wavelength", scalesWithCell, scaleCrystalAndWavelength},
};

void checkImage(Trial &trial, const Relation &relation, const Change &change) {
  const auto image = trial.imageOf(change.experiment, optionsOf(Engine::Fused));
  std::vector<double> expected = trial.image();
  if (image.size() == expected.size() && change.source)
    for (std::size_t i = 0; i != expected.size(); ++i)
      expected[i] = trial.image()[change.source(i)];
  for (double &value : expected)
    value *= change.factor;
  trial.compareImages(relation.name, image, expected, {});
}

/// Not an entry of a table of sources, which may have another length now.
bool isSingleNumber(const Gradient &gradient) {
  return gradient.values.size() == 1 && !gradient.parameter.starts_with("source_");
}

/// Gradients with respect to the numbers that both ways of saying it have.
void checkGradient(Trial &trial, const Relation &relation, const Change &change,
                   const std::vector<Gradient> &original) {
  std::vector<double> weights = trial.weights();
  if (change.source)
    for (std::size_t i = 0; i != weights.size(); ++i)
      weights[i] = trial.weights()[change.source(i)];
  const auto changed = trial.gradientOf(change.experiment, optionsOf(Engine::Fused), weights);
  for (std::size_t i = 0; i != original.size(); ++i) {
    const std::string &name = original[i].parameter;
    if ((!isSingleNumber(original[i]) && name != "F") || std::ranges::count(change.other, name))
      continue;
    const auto found = change.scaled.find(name);
    const double factor = change.factor / (found == change.scaled.end() ? 1 : found->second);
    for (std::size_t k = 0; k != original[i].values.size(); ++k)
      trial.compareDerivatives(std::string(relation.name) + ", gradient with respect to " + name,
                               name, changed[i].values[k] / factor, original[i].values[k]);
  }
}

/// A region is the sum of its halves: images to the bit, gradients but for the order of adding.
void splitRegion(Trial &trial, const std::vector<Gradient> &original) {
  Experiment low = trial.experiment(), high = low;
  Detector &d = low.detector;
  if (d.roiSlowMin == d.roiSlowMax)
    return;
  const std::int64_t middle = trial.draws().integer(d.roiSlowMin, d.roiSlowMax - 1);
  low.detector.roiSlowMax = middle;
  high.detector.roiSlowMin = middle + 1;
  const auto fused = optionsOf(Engine::Fused);
  std::vector<double> both = trial.imageOf(low, fused);
  const std::vector<double> other = trial.imageOf(high, fused);
  for (std::size_t i = 0; i != both.size(); ++i)
    both[i] += other[i];
  trial.compareImages("region in two parts", both, trial.image(), {0, 0, 0});
  const auto a = trial.gradientOf(low, fused, trial.weights());
  const auto b = trial.gradientOf(high, fused, trial.weights());
  for (std::size_t i = 0; i != a.size(); ++i)
    for (std::size_t k = 0; k != a[i].values.size(); ++k)
      trial.compareDerivatives("region in two parts, gradient with respect to " + a[i].parameter,
                               a[i].parameter, a[i].values[k] + b[i].values[k],
                               original[i].values[k]);
}

} // namespace

void checkRelations(Trial &trial) {
  const auto gradient =
      trial.gradientOf(trial.experiment(), optionsOf(Engine::Fused), trial.weights());
  splitRegion(trial, gradient);
  for (const Relation &relation : relations) {
    if (!relation.applies(trial.experiment()))
      continue;
    Change change{trial.experiment()};
    relation.apply(change, trial.draws());
    checkImage(trial, relation, change);
    checkGradient(trial, relation, change, gradient);
  }
}

} // namespace nanobragg::random_test
