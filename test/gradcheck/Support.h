// Simulators to check.
#ifndef NANOBRAGG_TEST_GRADCHECK_SUPPORT_H
#define NANOBRAGG_TEST_GRADCHECK_SUPPORT_H

#include "lib/Runs/ExperimentOf.h"
#include "runtime/kernels/KernelProvider.h"
#include "tools/nb-gradcheck/Check.h"

#include <gtest/gtest.h>

#include <sstream>
#include <string>

namespace nanobragg {

/// One for all tests, without the cache of the user.
inline KernelProvider &kernels() {
  static KernelProvider provider;
  return provider;
}

inline SimulatorOptions on(Engine engine) {
  SimulatorOptions options;
  options.engine = engine;
  options.fallback = false;
  options.kernels = &kernels();
  return options;
}

inline Experiment experimentFrom(const std::string &flags) {
  std::istringstream words(flags);
  return experimentOf({std::istream_iterator<std::string>(words), {}});
}

inline const char *nameOf(Engine engine) {
  return engine == Engine::Fused ? "fused" : "interpreter";
}

/// A triclinic crystal, turned, on a tilted detector, with everything that has a derivative.
inline const char *everything =
    "-cell 30 40 50 80 95 105 -misset 10 20 30 -default_F 10 -N 4 -lambda 1 -distance 60 -pixel 2 "
    "-detpixels 24 -mosaic 1 -mosaic_domains 3 -phi 3 -osc 2 -phisteps 2 -dispersion 2 -dispsteps "
    "2 "
    "-hdivrange 5 -hdivsteps 2 -vdivrange 5 -vdivsteps 2 -detector_rotx 5 -detector_roty 7 "
    "-detector_rotz 3 -twotheta 10 -detector_abs 300 -detector_thick 400 -detector_thicksteps 2 "
    "-water 0.001 -oversample 1";

inline void expectPassed(const CheckResult &result) {
  EXPECT_NE(result.loss, 0);
  EXPECT_FALSE(result.derivatives.empty());
  for (const CheckedDerivative &d : result.derivatives)
    EXPECT_TRUE(d.verdict == Verdict::Passed || d.verdict == Verdict::Dead)
        << d.name << ": analytic " << d.analytic << ", difference " << d.difference
        << " with an error of " << d.differenceError << ", relative difference " << d.relativeError
        << ", step " << d.step << ", worst pixel " << d.worstPixel;
}

} // namespace nanobragg
#endif
