#include "tools/nb-sim/ReportHeader.h"

#include "lib/Experiment/Units.h"

namespace nanobragg {

io::SmvHeader headerOf(const CompleteExperiment &complete, const CommandLine &line) {
  const Experiment &experiment = complete.experiment;
  const DetectorReport &d = complete.report.detector;
  const double pixel = experiment.detector.pixelSize;
  const bool c = line.semantics == Semantics::c();
  constexpr double mm = 1000;

  io::SmvHeader header;
  header.form = c ? Rule::C : Rule::Right;
  header.fastPixels = experiment.detector.fastPixels;
  header.slowPixels = experiment.detector.slowPixels * experiment.panelCount();
  header.pixelSize = pixel * mm;
  header.distance = d.distance * mm;
  header.closeDistance = d.closeDistance * mm;
  header.wavelength = complete.report.wavelength * 1e10;
  if (c) {
    header.beamCenterX = d.xBeam * mm;
    header.beamCenterY = d.yBeam * mm;
  } else {
    // dxtbx takes these as ADXV's numbers, one pixel off along both axes.
    header.beamCenterX = (d.fBeam - pixel) * mm;
    header.beamCenterY = (d.detSizeSlow - d.sBeam + pixel) * mm;
    header.adcOffset = line.outputs.adcOffset;
  }
  header.adxvCenterX = d.fBeam * mm;
  header.adxvCenterY = (d.detSizeSlow - d.sBeam) * mm;
  header.mosflmCenterX = (d.sBeam - 0.5 * pixel) * mm;
  header.mosflmCenterY = (d.fBeam - 0.5 * pixel) * mm;
  header.denzoBeamX = d.sBeam * mm;
  header.denzoBeamY = d.fBeam * mm;
  header.dialsOrigin = d.dialsOrigin;
  header.xdsOrgX = d.orgX;
  header.xdsOrgY = d.orgY;
  header.phi = units::degrees(complete.report.phi0);
  header.oscRange = units::degrees(complete.report.osc);
  header.twotheta = units::degrees(complete.report.twotheta);
  return header;
}

} // namespace nanobragg
