#include "lib/Experiment/DefaultsChooser.h"

#include "lib/Experiment/Steps.h"
#include "lib/Experiment/Units.h"

#include <cmath>
#include <limits>
#include <stdexcept>

namespace nanobragg {

void DefaultsChooser::chooseSensor() {
  const Options &o = options;
  Detector &d = experiment.detector;
  ProgramVariant &variant = experiment.variant;
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if (o.thickness)
    requireNotNegative(*o.thickness, "-detector_thick", "um");
  if (o.attenuationDepth && !(*o.attenuationDepth >= 0))
    throw std::invalid_argument("-detector_abs: must be a depth in um, 0 or inf, not " +
                                text(*o.attenuationDepth));

  const double stated = units::fromMicrometres(o.thickness.value_or(0));
  const bool transparent =
      o.attenuationDepth && (*o.attenuationDepth == 0 || std::isinf(*o.attenuationDepth));
  const double thicknessC = o.absorptionOffAfterThickness ? 0 : stated;
  const double thicknessRight = transparent ? 0 : stated;
  // The last case: nothing is absorbed of a sensor without a thickness.
  if (thicknessC != thicknessRight || (o.oversampleThick && thicknessRight == 0))
    note(&Semantics::noAbsorption);
  const bool likeC = semantics.noAbsorption == Rule::C;
  double thickness = likeC ? thicknessC : thicknessRight;

  d.attenuationDepth = infinity;
  if (transparent) {
    report.sensorMu = 0;
  } else if (o.attenuationDepth) {
    d.attenuationDepth = units::fromMicrometres(*o.attenuationDepth);
    report.sensorMu = 1.0 / d.attenuationDepth;
  } else if (thickness > 0) {
    d.attenuationDepth = thickness;
    report.sensorMu = 1.0 / thickness;
    warn("-detector_thick without -detector_abs: the attenuation depth is set to the thickness, " +
         text(thickness) + " m");
  }

  if (thickness > 0) {
    Layers layers = chooseLayers(o.thickSteps, semantics.layerSpacing);
    if (layers != chooseLayers(o.thickSteps, Rule::C))
      note(&Semantics::layerSpacing);
    d.sensorThickness = thickness;
    d.layers = layers.count;
    d.layerFraction = layers.fraction;
    variant.capture = o.oversampleThick                       ? Capture::Each
                      : semantics.layerCapture == Rule::Right ? Capture::Sum
                                                              : Capture::Last;
    if (!o.oversampleThick)
      note(&Semantics::layerCapture);
  } else if (o.oversampleThick) {
    variant.capture = likeC ? Capture::Each : Capture::None;
    if (likeC)
      warn("-oversample_thick without a thickness: nothing is absorbed, the image will be black");
  }
  report.sensorThickness = d.sensorThickness;
  for (std::int64_t i = 0; i < d.layers; ++i)
    report.layerDepths.push_back(d.sensorThickness * d.layerFraction * double(i));
}

} // namespace nanobragg
