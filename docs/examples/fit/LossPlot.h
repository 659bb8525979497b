#ifndef FIT_LOSSPLOT_H
#define FIT_LOSSPLOT_H

#include <string>
#include <vector>

/// The course of a fit: reduced chi-square after each step, one curve per stage.
struct LossCurve {
  std::string name;
  std::vector<double> losses;
};

/// Writes the curves as an SVG picture, losses on a logarithmic scale. Throws std::runtime_error
/// when the file cannot be written.
void plotLosses(const std::string &path, const std::vector<LossCurve> &curves);

#endif
