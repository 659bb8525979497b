#include "tools/nb-sim/ReportHeader.h"

#include "lib/Experiment/DetectorGeometry.h"
#include "lib/Experiment/Units.h"

namespace nanobragg {

io::SmvHeader headerOf(const CompleteExperiment &complete, const CommandLine &line,
                       std::int64_t panel, std::optional<double> intScale) {
  const Experiment &experiment = complete.experiment;
  const Detector &detector = experiment.detector;
  const bool several = !detector.panels.empty();
  const DetectorReport d =
      several ? placePanel(detector, experiment.beam.direction, complete.report.detector,
                           detector.panels[std::size_t(panel)])
              : complete.report.detector;
  const double pixel = detector.pixelSize;
  const bool c = line.semantics.isC();
  constexpr double mm = 1000;

  io::SmvHeader header;
  header.form = c ? Rule::C : Rule::Right;
  header.fastPixels =
      several ? detector.panels[std::size_t(panel)].fastPixels : detector.fastPixels;
  header.slowPixels =
      several ? detector.panels[std::size_t(panel)].slowPixels : detector.slowPixels;
  header.pixelSize = pixel * mm;
  header.distance = d.distance * mm;
  header.closeDistance = d.closeDistance * mm;
  header.wavelength = complete.report.wavelength * 1e10;
  if (c && !several) { // the C program has no panels
    header.beamCenterX = d.xBeam * mm;
    header.beamCenterY = d.yBeam * mm;
  } else {
    io::setDxtbxBeamCenter(header, d.fBeam * mm, d.sBeam * mm);
    header.adcOffset = line.options.adcOffset;
    header.intScale = intScale;
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
