// Experiments to start from.
#ifndef NANOBRAGG_TEST_EXPERIMENT_SUPPORT_H
#define NANOBRAGG_TEST_EXPERIMENT_SUPPORT_H

#include "lib/Choose/Defaults.h"
#include "test/FlagUnits.h"

#include <gtest/gtest.h>

#include <numbers>

namespace nanobragg {

inline constexpr double degree = std::numbers::pi / 180;

/// A crystal that any experiment here can do with; options here have the numbers of flags.
inline Options cubic() {
  Options options;
  options.cell = {{100, 100, 100, 90, 90, 90}};
  options.defaultF = 100;
  options.na = options.nb = options.nc = 5;
  return options;
}

/// The detector of the check values: 1000 x 900 pixels of 0.1 mm at 100 mm.
inline Options withPlate(Convention convention) {
  Options options = cubic();
  options.convention = convention;
  options.fastPixels = 1000;
  options.slowPixels = 900;
  options.pixelSize = 0.1;
  options.distance = 100;
  return options;
}

inline CompleteExperiment completeRight(const Options &options, const Inputs &inputs = {}) {
  return chooseDefaults(fromFlagUnits(options), inputs, Semantics::right());
}
inline CompleteExperiment completeC(const Options &options, const Inputs &inputs = {}) {
  return chooseDefaults(fromFlagUnits(options), inputs, Semantics::c());
}

inline void expectNear(const Vec3 &actual, const Vec3 &expected, double tolerance) {
  for (int i = 0; i < 3; ++i)
    EXPECT_NEAR(actual[i], expected[i], tolerance) << "component " << i;
}

/// Some warning contains this text.
inline bool warns(const CompleteExperiment &complete, const std::string &text) {
  for (const std::string &warning : complete.warnings)
    if (warning.find(text) != std::string::npos)
      return true;
  return false;
}

inline bool notes(const CompleteExperiment &complete, const std::string &name) {
  for (const std::string &notice : complete.notices)
    if (notice == name)
      return true;
  return false;
}

} // namespace nanobragg
#endif
