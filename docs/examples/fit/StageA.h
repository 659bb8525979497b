#ifndef FIT_STAGEA_H
#define FIT_STAGEA_H

#include <cmath>
#include <cstdlib>
#include <numbers>
#include <vector>

/// How an unbounded variable, delta, is mapped to a plausible value of a physical quantity.
enum class Mapping { Scale, Add, Tanh };
struct Variable {
  const char *parameter;
  Mapping mapping;
  double range; ///< largest change of Tanh, unit of Add; SI; unused by Scale
  double rate;  ///< learning rate of Adam at the start
  double truth; ///< delta of the simulated data

  double apply(double start, double delta) const {
    switch (mapping) {
    case Mapping::Scale:
      return start * std::exp(delta);
    case Mapping::Add:
      return start + range * delta;
    case Mapping::Tanh:
      return start + range * std::tanh(delta);
    }
    std::abort();
  }
  /// The derivative of apply() with respect to delta.
  double slope(double start, double delta) const {
    switch (mapping) {
    case Mapping::Scale:
      return start * std::exp(delta);
    case Mapping::Add:
      return range;
    case Mapping::Tanh:
      return range / (std::cosh(delta) * std::cosh(delta));
    }
    std::abort();
  }
};

inline constexpr const char *refined =
    "cell,misset,distance,detector_rotx,detector_roty,detector_rotz,twotheta,beam_center,fluence";

inline std::vector<Variable> stageA(double pixelSize) {
  constexpr double degree = std::numbers::pi / 180;
  return {{"cell_a", Mapping::Scale, 0, 0.0006, 0.003},
          {"cell_b", Mapping::Scale, 0, 0.0006, -0.002},
          {"cell_c", Mapping::Scale, 0, 0.0006, 0.002},
          {"cell_alpha", Mapping::Add, degree, 0.04, 0.2},
          {"cell_beta", Mapping::Add, degree, 0.04, -0.15},
          {"cell_gamma", Mapping::Add, degree, 0.04, 0.1},
          {"misset_x", Mapping::Tanh, 10 * degree, 0.004, 0.02},
          {"misset_y", Mapping::Tanh, 10 * degree, 0.004, -0.02},
          {"misset_z", Mapping::Tanh, 10 * degree, 0.004, 0.02},
          {"distance", Mapping::Scale, 0, 0.0006, 0.002},
          {"detector_rotx", Mapping::Tanh, 5 * degree, 0.006, 0.03},
          {"detector_roty", Mapping::Tanh, 5 * degree, 0.006, -0.03},
          {"detector_rotz", Mapping::Tanh, 5 * degree, 0.006, 0.02},
          {"twotheta", Mapping::Tanh, 5 * degree, 0.006, -0.02},
          {"beam_center_fast", Mapping::Tanh, 5 * pixelSize, 0.02, 0.1},
          {"beam_center_slow", Mapping::Tanh, 5 * pixelSize, 0.02, -0.1},
          {"fluence", Mapping::Scale, 0, 0.02, 0.1}};
}

#endif
