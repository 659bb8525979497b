#include "lib/Estimate/SamplingError.h"

#include "lib/Estimate/RepresentativePlaces.h"
#include "lib/Estimate/SpotSampling.h"

#include "lib/Experiment/VectorAlgebra.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace nanobragg {
namespace {

Spreads spreadsOf(const Experiment &e, const Report &r) {
  const Goniometer &g = e.goniometer;
  const Beam &beam = e.beam;
  Spreads spreads;
  spreads[0] = {std::fabs(g.osc * g.phiStepFraction) * double(g.phiSteps), Spacing::Cells};
  if (e.variant.sources == Sources::Generated) {
    const auto divergence = [](const DivergenceReport &s, double sigma) {
      return sigma > 0 ? Spread{sigma, Spacing::Normal} : Spread{s.range, Spacing::Ends};
    };
    spreads[1] = divergence(r.hdiv, beam.hdivSigma);
    spreads[2] = divergence(r.vdiv, beam.vdivSigma);
    spreads[3] = {r.dispersion.range, Spacing::Ends};
    return spreads;
  }
  double weights = 0, mean = 0, square = 0;
  for (std::size_t i = 0; i < beam.sourceWeight.size(); ++i) {
    const double w = beam.sourceWeight[i], x = beam.sourceWavelength[i] / r.wavelength;
    weights += w;
    mean += w * x;
    square += w * x * x;
  }
  mean /= weights;
  // A row of the same standard deviation.
  const double variance = std::max(0.0, square / weights - mean * mean);
  if (e.sourceCount() > 1)
    spreads[3] = {std::sqrt(12 * variance), Spacing::Cells};
  return spreads;
}

std::vector<SpotSampling> placesOf(const Experiment &e, const Report &r) {
  std::vector<SpotSampling> places;
  for (const DetectorPlace &place : representativePlaces(e, r))
    places.emplace_back(e, r, place.panel, place.position);
  return places;
}

double meanError(const std::vector<SpotSampling> &places, const SampleCounts &counts,
                 const Spreads &spreads) {
  double total = 0;
  for (const SpotSampling &place : places)
    total += place.squaredError(counts, spreads);
  return places.empty() ? 0 : std::sqrt(total / double(places.size()));
}

struct Knob {
  std::int64_t SampleCounts::*count;
  const char *flag;
  double cost; ///< the cost of twice as many
  std::int64_t most;
};
constexpr Knob knobs[] = {{&SampleCounts::oversample, "-oversample", 4, 100},
                          {&SampleCounts::phiSteps, "-phisteps", 2, 100000},
                          {&SampleCounts::domains, "-mosaic_domains", 2, 1000000},
                          {&SampleCounts::hdiv, "-hdivsteps", 2, 1000},
                          {&SampleCounts::vdiv, "-vdivsteps", 2, 1000},
                          {&SampleCounts::wavelengths, "-dispsteps", 2, 10000}};

/// One digit is what the estimate is good for.
std::string percent(double error) {
  if (error >= 1 || !std::isfinite(error))
    return "more than 100 %";
  if (error < 0.01)
    return "less than 1 %";
  const double digit = error < 0.095 ? 1 : 10;
  return "about " + std::to_string(std::lround(100 * error / digit) * std::lround(digit)) + " %";
}

/// a, b and c
std::string enumeration(const std::vector<std::string> &words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i)
    text += (i == 0 ? "" : i + 1 == words.size() ? " and " : ", ") + words[i];
  return text;
}

} // namespace

SampleCounts sampleCountsOf(const Experiment &e, const Report &r) {
  SampleCounts counts{e.detector.oversample, e.goniometer.phiSteps, e.mosaicDomains()};
  if (e.variant.sources == Sources::Listed) {
    counts.wavelengths = e.sourceCount();
  } else {
    counts.hdiv = r.hdiv.steps;
    counts.vdiv = r.vdiv.steps;
    counts.wavelengths = r.dispersion.steps;
  }
  return counts;
}

double samplingError(const Experiment &e, const Report &r, const SampleCounts &counts) {
  return meanError(placesOf(e, r), counts, spreadsOf(e, r));
}

std::optional<std::string> coarseSampling(const Experiment &e, const Report &r) {
  if (!e.variant.isSampled())
    return {};
  constexpr double tolerated = 0.05, wanted = 0.03;
  const std::vector<SpotSampling> places = placesOf(e, r);
  const Spreads spreads = spreadsOf(e, r);
  const SampleCounts before = sampleCountsOf(e, r);
  const double error = meanError(places, before, spreads);
  if (!(error > tolerated))
    return {};
  SampleCounts counts = before;
  double now = error;
  const bool moves[] = {true,
                        spreads[0].width > 0,
                        e.crystal.widestMosaicSpread() > 0,
                        spreads[1].width > 0,
                        spreads[2].width > 0,
                        spreads[3].width > 0};
  // The counts that buy most for their cost, one after another.
  for (int round = 0; round < 24 && now > wanted; ++round) {
    double best = 0, then = now;
    SampleCounts next = counts;
    for (std::size_t i = 0; i < std::size(knobs); ++i) {
      const std::int64_t most = knobs[i].most;
      if (!moves[i] || counts.*knobs[i].count >= most)
        continue;
      SampleCounts more = counts;
      more.*knobs[i].count = std::min(most, 2 * (counts.*knobs[i].count));
      const double with = meanError(places, more, spreads);
      const double gain = std::log(now / with) / std::log(knobs[i].cost);
      if (gain > best) {
        best = gain;
        next = more;
        then = with;
      }
    }
    if (best < 1e-3)
      break;
    counts = next;
    now = then;
  }
  std::vector<std::string> few, mended;
  for (const Knob &knob : knobs)
    if (counts.*knob.count != before.*knob.count) {
      const bool listed =
          e.variant.sources == Sources::Listed && knob.count == &SampleCounts::wavelengths;
      const auto say = [&](const SampleCounts &c) {
        return listed ? std::to_string(c.*knob.count) + " wavelengths"
                      : knob.flag + (" " + std::to_string(c.*knob.count));
      };
      few.push_back(say(before));
      mended.push_back(say(counts));
    }
  if (few.empty())
    return {};
  return "undersampled: samples are farther apart than spots are wide (" + enumeration(few) +
         "): the photons of a spot are uncertain by " + percent(error) + "; " +
         enumeration(mended) + " would reduce that to " + percent(now) +
         (rowOf(e.variant.shape).profile == SpotProfile::Gaussian
              ? "; --average=closed needs no samples"
              : "; --average=quadrature takes as many as each pixel needs");
}

} // namespace nanobragg
