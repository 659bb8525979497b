// Derivatives by moving a number.
//
// Central differences of an image, extrapolated to a vanishing step (Richardson; Ridders' choice of
// the order), with an estimate of what is wrong with the result: it judges the analytic derivative,
// so it has to know how far it can be trusted itself.
#ifndef NANOBRAGG_GRADCHECK_FINITEDIFFERENCES_H
#define NANOBRAGG_GRADCHECK_FINITEDIFFERENCES_H

#include "nanobragg/Simulator.h"

#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace nanobragg {

/// A way to change an experiment: one number, or several along a direction.
struct Variation {
  std::string name;
  double scale = 1; ///< a change by this much is a large one
  /// Moves to distance t from the start, returns the distance that the numbers could represent.
  std::function<double(double t)> move;
};

/// A finite difference of sum(weights * image).
struct Estimate {
  double value = 0;
  double error = 0;           ///< the value's, estimated
  double rounding = 0;        ///< the image's, which may make a difference of this size out of none
  double step = 0;            ///< the largest one, in the unit of the variation
  std::vector<double> pixels; ///< the difference of the image, where that was asked for
  double pixelError = 0;      ///< the worst of them, estimated
  double pixelRounding = 0;   ///< the brightest pixel's
  std::vector<std::uint8_t> used; ///< 0: the pixel was left out; empty: none was
  std::int64_t leftOut = 0;
};

class FiniteDifferences {
public:
  struct Options {
    double tolerance = 1e-7; ///< relative error at which no smaller step is tried
    double step = 0;         ///< the largest one as a fraction of the scale; 0: chosen
    int steps = 8;           ///< each half of the one before
    /// The image jumps where a sample passes from one reflection to the next: pixels in which that
    /// happens within the step are left out.
    bool jumps = false;
    bool pixels = false; ///< the difference of the image is wanted too
  };

  /// Differences of `simulator`'s image; it is left with the numbers that it came with.
  FiniteDifferences(Simulator &simulator, std::vector<double> weights, const Options &options);

  Estimate first(const Variation &variation);
  /// Mixed second difference; of one variation with itself too.
  Estimate second(const Variation &a, const Variation &b);

  /// Images that were computed.
  std::int64_t evaluations() const { return images; }

private:
  using Stencil = std::function<std::vector<double>(double fraction)>;
  std::vector<double> image();
  const std::vector<double> &atStart();
  std::vector<double> moved(const Variation &variation, double &t);
  double findSensitivity(const Variation &variation);
  double sensitivity(const Variation &variation);
  double firstStep(const Variation &variation, double reach);
  void leaveOutJumps(std::span<const double> coarse, std::span<const double> middle,
                     std::span<const double> fine, double sharpness, Estimate &estimate);
  double findRounding(const Variation &variation);
  double roundingOf(const Variation &variation);
  /// `sharpness`: what the largest step multiplies changes of the image by, to the power -`order`
  /// of it. `seen`: what roundings do to the loss.
  Estimate extrapolate(const Stencil &stencil, double step, double sharpness, int order,
                       double seen);
  double sizeOfTerms();
  double weigh(std::span<const double> pixels, std::span<const std::uint8_t> used) const;

  Simulator &simulator;
  std::vector<double> weights;
  Loss loss;
  Options options;
  std::vector<double> start; ///< the image where nothing is moved, once it was needed
  std::map<std::string, double> sensitivities, roundings; ///< found so far, by names of variations
  std::int64_t images = 0;
};

} // namespace nanobragg
#endif
