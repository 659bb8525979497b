#include "lib/Choose/DefaultsChooser.h"

#include "lib/Choose/Steps.h"
#include "lib/Experiment/Units.h"

#include <cmath>
#include <limits>

namespace nanobragg {

void DefaultsChooser::chooseSensor() {
  Detector &d = experiment.detector;
  ProgramVariant &variant = experiment.variant;
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const double stated = said(&O::thickness).value_or(0);
  // Without a thickness the depth is printed only.
  const auto depth = stated > 0 ? said(&O::attenuationDepth) : said.unread().attenuationDepth;
  const bool transparent = depth && (*depth == 0 || std::isinf(*depth));
  const double thicknessC = said(&O::absorptionOffAfterThickness) ? 0 : stated;
  const double thicknessRight = transparent ? 0 : stated;
  // The last case: nothing is absorbed of a sensor without a thickness.
  const bool likeC = semantics.noAbsorption == Rule::C;
  const double thickness = likeC ? thicknessC : thicknessRight;
  const bool oversampled =
      thickness > 0 || likeC ? said(&O::oversampleThick) : said.unread().oversampleThick;
  if (thicknessC != thicknessRight || (oversampled && thicknessRight == 0))
    note(&Semantics::noAbsorption);

  d.attenuationDepth = infinity;
  if (transparent) {
    report.sensorMu = 0;
  } else if (depth) {
    d.attenuationDepth = *depth;
    report.sensorMu = 1.0 / d.attenuationDepth;
  } else if (thickness > 0) {
    d.attenuationDepth = thickness;
    report.sensorMu = 1.0 / thickness;
    warn("-detector_thick without -detector_abs: the attenuation depth is set to the thickness, " +
         text(thickness) + " m");
  }

  if (thickness > 0) {
    Layers layers = chooseLayers(said(&O::thickSteps), semantics.layerSpacing);
    if (layers != chooseLayers(said(&O::thickSteps), Rule::C))
      note(&Semantics::layerSpacing);
    d.sensorThickness = thickness;
    d.layers = layers.count;
    d.layerFraction = layers.fraction;
    variant.capture = oversampled                             ? Capture::Each
                      : semantics.layerCapture == Rule::Right ? Capture::Sum
                                                              : Capture::Last;
    if (!oversampled)
      note(&Semantics::layerCapture);
  } else if (oversampled) {
    variant.capture = likeC ? Capture::Each : Capture::None;
    if (likeC)
      warn("-oversample_thick without a thickness: nothing is absorbed, the image will be black");
  }
  report.sensorThickness = d.sensorThickness;
  for (std::int64_t i = 0; i < d.layers; ++i)
    report.layerDepths.push_back(d.sensorThickness * d.layerFraction * double(i));
}

} // namespace nanobragg
