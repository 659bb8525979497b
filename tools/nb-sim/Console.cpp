#include "tools/nb-sim/Console.h"

#include "lib/Experiment/Words.h"

#include <numbers>

namespace nanobragg {
namespace {

constexpr double degrees = 180 / std::numbers::pi;

/// Counts go through long, which every printf knows.
long count(std::int64_t n) { return long(n); }

/// One run's lines. The members follow the order of the output.
class SetupPrinter {
public:
  SetupPrinter(std::FILE *out, const SetupFacts &facts)
      : out(out), facts(facts), experiment(facts.complete.experiment),
        report(facts.complete.report) {}

  void geometry() const {
    std::fprintf(out, "%s convention selected.\n",
                 wordsOf<Convention>[std::size_t(report.convention)]);
    std::fprintf(out, report.pivot == Pivot::Sample
                          ? "pivoting detector around sample\n"
                          : "pivoting detector around direct beam spot\n");
    vector("XDS incident beam:", report.detector.xdsBeam);
    if (report.interpolationAutoSelected)
      std::fprintf(out, *report.interpolationAutoSelected
                            ? "auto-selected tricubic interpolation of structure factors\n"
                            : "auto-selected no interpolation\n");
  }

  void crystal() const {
    reading(facts.names.matrix);
    if (const auto &m = report.randomMisset)
      std::fprintf(out, "random orientation misset angles: %f %f %f deg\n", (*m)[0] * degrees,
                   (*m)[1] * degrees, (*m)[2] * degrees);
    cell("Unit Cell:", report.cell);
    cell("Recp Cell:", report.reciprocalCell);
    std::fprintf(out, "volume = %g A^3\n", report.volume);
    cellVectors("real-space cell vectors (Angstrom):", report.cell, "a", "b", "c");
    cellVectors("reciprocal-space cell vectors (Angstrom^-1):", report.reciprocalCell, "a_star",
                "b_star", "c_star");
    std::fprintf(out, "crystal is %g x %g x %g microns\n", report.crystalSize[0] * 1e6,
                 report.crystalSize[1] * 1e6, report.crystalSize[2] * 1e6);
    if (report.oversampleAutoSelected)
      std::fprintf(out, "auto-selected %ld-fold oversampling\n",
                   count(experiment.detector.oversample));
    std::fprintf(out, "approximate MW = %g\n", report.approximateMolecularWeight);
  }

  void structureFactors() const {
    const char *hkl = facts.names.hkl.c_str();
    if (*hkl) {
      std::fprintf(out, "counting entries in %s\n", hkl);
      if (experiment.crystal.defaultF != 0)
        std::fprintf(out, "initializing to default_F = %g:\ndone initializing:\n",
                     experiment.crystal.defaultF);
      std::fprintf(out, "re-reading %s\n", hkl);
    } else if (!facts.names.dump.empty()) {
      std::fprintf(out, "reading Fs from %s\n", facts.names.dump.c_str());
    }
    if (!facts.dumpWritten.empty())
      std::fprintf(out, "writing dump file for next time: %s\n", facts.dumpWritten.c_str());
    reading(facts.names.stol);
  }

  void sampling() const {
    for (std::size_t i = 0; i != report.layerDepths.size(); ++i)
      std::fprintf(out, "thick%zu = %g um\n", i, report.layerDepths[i] * 1e6);
    for (std::size_t i = 0; i != report.phiSteps.size(); ++i)
      std::fprintf(out, "phi%zu = %g\n", i, report.phiSteps[i] * degrees);
    for (const auto &[h, v] : report.divergenceDeviations)
      std::fprintf(out, "divergence deviation: %g %g\n", h, v);
    for (std::size_t i = 0; i != report.wavelengths.size(); ++i)
      std::fprintf(out, "lambda%zu = %.15g\n", i, report.wavelengths[i]);
    std::fprintf(out, "  created a total of %zu sources:\n", report.sources.size());
    for (const SourceReport &s : report.sources)
      std::fprintf(out, "%g %g %g   %g %g\n", s.position[0], s.position[1], s.position[2],
                   s.intensity, s.wavelength);
    std::fprintf(out, "  created a total of %ld mosaic domains\n",
                 count(experiment.mosaicDomains()));
  }

  void summary() const {
    const Crystal &crystal = experiment.crystal;
    const Detector &detector = experiment.detector;
    std::fprintf(out, "  %zu initialized hkls (all others =%g)\n", facts.reflections,
                 crystal.defaultF);
    std::fprintf(out, "  %s xtal: %.0fx%.0fx%.0f cells\n", rowOf(experiment.variant.shape).name,
                 crystal.ncells[0], crystal.ncells[1], crystal.ncells[2]);
    std::fprintf(out, "  wave=%g meters +/- %g%% in %ld steps\n", report.wavelength,
                 report.dispersion.range * 100, count(report.dispersion.steps));
    if (experiment.variant.polarization == Evaluation::None)
      std::fprintf(out, "  polarization effect disabled\n");
    else
      std::fprintf(out, "  Kahn polarization factor: %f\n", experiment.beam.kahnFactor);
    if (experiment.variant.curvature != Curvature::Flat)
      std::fprintf(out, "  curved detector: all pixels same distance from origin\n");
    if (experiment.variant.solidAngle == SolidAngle::Point)
      std::fprintf(out, "  pixel obliquity effect disabled\n");
    std::fprintf(out, "  incident fluence: %g photons/m^2\n", experiment.beam.fluence);
    std::fprintf(out, "  distance=%g detsize=%gx%g  pixel=%g meters (%ldx%ld pixels)\n",
                 report.detector.distance, report.detector.detSizeFast, report.detector.detSizeSlow,
                 detector.pixelSize, count(detector.fastPixels), count(detector.slowPixels));
    std::fprintf(out, "  sensor is %g m thick in %ld layers with mu= %g\n", report.sensorThickness,
                 count(detector.layers), report.sensorMu);
  }

  void axes() const {
    const DetectorReport &d = report.detector;
    std::fprintf(out, "  Xbeam=%g Ybeam=%g\n", d.xBeam, d.yBeam);
    std::fprintf(out, "  Fbeam=%g Sbeam=%g\n", d.fBeam, d.sBeam);
    std::fprintf(out, "  Xclose=%g Yclose=%g\n", d.xClose, d.yClose);
    std::fprintf(out, "  Fclose=%g Sclose=%g\n", d.fClose, d.sClose);
    vector("  DIRECTION_OF_DETECTOR_X-AXIS=", d.fastAxis);
    vector("  DIRECTION_OF_DETECTOR_Y-AXIS=", d.slowAxis);
    vector("  DIRECTION_OF_DETECTOR_Z-AXIS=", d.normal);
    vector("  INCIDENT_BEAM_DIRECTION=", report.beamDirection);
    vector("  spindle ROTATION_AXIS=", report.spindleAxis);
    vector("  POLARIZATION_PLANE_NORMAL=", report.polarizationPlaneNormal);
    vector("  dials origin=", d.dialsOrigin);
  }

  void steps() const {
    const auto &roi = report.roi;
    std::fprintf(out, "  roi: %ld < x < %ld && %ld < y < %ld\n", count(roi[0]), count(roi[1]),
                 count(roi[2]), count(roi[3]));
    std::fprintf(out, "  hdivrange=%g hdivstep=%g  radians\n", report.hdiv.range, report.hdiv.step);
    std::fprintf(out, "  vdivrange=%g vdivstep=%g  radians\n", report.vdiv.range, report.vdiv.step);
    std::fprintf(out, "  %ld divergence steps\n", count(report.divergenceSteps));
    std::fprintf(out, "  %ld sources\n", count(experiment.sourceCount()));
    std::fprintf(out, "  %ld mosaic domains over mosaic spread of %g degrees\n",
                 count(experiment.mosaicDomains()),
                 experiment.crystal.widestMosaicSpread() * degrees);
    std::fprintf(out, "  %ld phi steps from %g to %g degrees\n",
                 count(experiment.goniometer.phiSteps), report.phi0 * degrees,
                 (report.phi0 + report.osc) * degrees);
    const long oversample = count(experiment.detector.oversample);
    std::fprintf(out, "  %ldx%ld pixel oversample steps%s%s%s\n", oversample, oversample,
                 facts.options.oversampleThick ? " +thick" : "",
                 facts.options.oversamplePolar ? " +polar" : "",
                 facts.options.oversampleOmega ? " +omega" : "");
    if (!facts.names.mask.empty())
      std::fprintf(out, "  skipping zero-flagged pixels in %s\n", facts.names.mask.c_str());
  }

  void noise() const {
    if (!facts.noise)
      return;
    std::fprintf(out, "\n  noise image paramters:\n"); // so spelt in the C program
    std::fprintf(out, "  seed: %ld\n", count(facts.complete.noiseSeed));
    std::fprintf(out, "  water droplet size: %g m\n", experiment.waterSize);
  }

  void reading(const std::string &file) const {
    if (!file.empty())
      std::fprintf(out, "reading %s\n", file.c_str());
  }

private:
  void vector(const char *label, const Vec3 &v) const {
    std::fprintf(out, "%s %g %g %g\n", label, v[0], v[1], v[2]);
  }

  void cell(const char *label, const CellReport &c) const {
    std::fprintf(out, "%s %g %g %g %g %g %g\n", label, c.lengths[0], c.lengths[1], c.lengths[2],
                 c.angles[0] * degrees, c.angles[1] * degrees, c.angles[2] * degrees);
  }

  void cellVectors(const char *title, const CellReport &c, const char *first, const char *second,
                   const char *third) const {
    std::fprintf(out, "%s\n     %-10s  %-10s  %-10s\n", title, first, second, third);
    for (int axis = 0; axis != 3; ++axis)
      std::fprintf(out, "%c: %11.8f %11.8f %11.8f\n", "XYZ"[axis], c.vectors[0][axis],
                   c.vectors[1][axis], c.vectors[2][axis]);
  }

  std::FILE *out;
  const SetupFacts &facts;
  const Experiment &experiment;
  const Report &report;
};

} // namespace

void printSetup(std::FILE *out, const SetupFacts &facts) {
  const SetupPrinter print(out, facts);
  print.reading(facts.names.mask);
  print.reading(facts.names.image);
  std::fprintf(out, "nanoBragg nanocrystal diffraction simulator - James Holton and Ken Frankel "
                    "5-17-17\n");
  print.geometry();
  print.crystal();
  print.structureFactors();
  print.sampling();
  print.summary();
  print.axes();
  print.steps();
  print.noise();
}

} // namespace nanobragg
