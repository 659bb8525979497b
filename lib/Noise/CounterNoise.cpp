#include "lib/Noise/CounterNoise.h"

#include "lib/Parallel/Vectorized.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <numbers>

// All levels of the instruction set round alike, and so draw alike.
#ifdef __clang__
#pragma clang fp contract(off)
#endif

namespace nanobragg::io {
namespace {

constexpr double leastOfRejection = 10;

/// log(x) of a positive, normal x, to 1e-16 of the larger of itself and 1. `aboveOne` is x - 1 over
/// x + 1 where that is known better than x says; it counts for x near 1.
[[gnu::always_inline]] inline double logarithm(double x, double aboveOne) {
  const std::uint64_t bits = std::bit_cast<std::uint64_t>(x);
  // x = m 2^e with m from sqrt(1/2) to sqrt(2).
  constexpr std::uint64_t rootHalf = 0x3FE6A09E667F3BCD;
  const int e = int(std::int32_t(std::uint32_t((bits - rootHalf) >> 32)) >> 20);
  const double m = std::bit_cast<double>(bits - (std::uint64_t(std::int64_t(e)) << 52));
  const double s = e == 0 ? aboveOne : (m - 1) / (m + 1);
  const double square = s * s;
  double sum = 1. / 21;
  sum = sum * square + 1. / 19;
  sum = sum * square + 1. / 17;
  sum = sum * square + 1. / 15;
  sum = sum * square + 1. / 13;
  sum = sum * square + 1. / 11;
  sum = sum * square + 1. / 9;
  sum = sum * square + 1. / 7;
  sum = sum * square + 1. / 5;
  sum = sum * square + 1. / 3;
  return e * std::numbers::ln2 + 2 * s * (1 + square * sum);
}
[[gnu::always_inline]] inline double logarithm(double x) { return logarithm(x, (x - 1) / (x + 1)); }

/// The remainder of Stirling's formula: log(k!) = k log k - k + log(2 pi k) / 2 + this. For k = 0,
/// the last logarithm is that of 2 pi.
constexpr std::array<double, 16> stirlingRests = {
    -0.91893853320467278,  0.081061466795327261,  0.041340695955409297,  0.027677925684998338,
    0.020790672103765093,  0.016644691189821193,  0.013876128823070748,  0.01189670994589177,
    0.010411265261972096,  0.0092554621827127329, 0.0083305634333628708, 0.0075736754879518406,
    0.0069428401072095299, 0.0064089941880042071, 0.0059513701127588475, 0.0055547335519628011};

[[gnu::always_inline]] inline double stirlingRest(double k) {
  const double r = 1 / (k > 16 ? k : 16), s = r * r;
  const double series = r * (1. / 12 - s * (1. / 360 - s * (1. / 1260 - s * (1. / 1680))));
  return k < 16 ? stirlingRests[std::size_t(k < 0 ? 0 : k)] : series;
}

/// Logarithm of Poisson's probability of k >= 0. Written so that nothing large cancels.
[[gnu::always_inline]] inline double logProbability(double k, double mean) {
  const double some = k > 1 ? k : 1, away = k - mean;
  return away - k * logarithm(some / mean, (some - mean) / (some + mean)) -
         0.5 * logarithm(2 * std::numbers::pi * some) - stirlingRest(k);
}

/// An attempt of PTRS, with its names.
struct Attempt {
  double v, mu, a, b, us, k;
};

[[gnu::always_inline]] inline Attempt attemptOf(double u, double v, double mu) {
  const double b = 0.931 + 2.53 * std::sqrt(mu), a = -0.059 + 0.02483 * b;
  const double us = 0.5 - std::fabs(u - 0.5);
  return {v, mu, a, b, us, std::floor((2 * a / us + b) * (u - 0.5) + mu + 0.43)};
}

/// The photons, or -1 where that takes a closer look.
[[gnu::always_inline]] inline double atOnce(const Attempt &t) {
  return ((t.us >= 0.07) & (t.v <= 0.9277 - 3.6224 / (t.b - 2))) ? t.k : -1;
}

/// The photons where there are none at once, or -1 where the attempt is rejected.
[[gnu::always_inline]] inline double afterAll(const Attempt &t) {
  const double inverseAlpha = 1.1239 + 1.1328 / (t.b - 3.4);
  const bool never = (t.k < 0) | ((t.us < 0.013) & (t.v > t.us));
  const double some = t.k < 0 ? 0 : t.k;
  const bool within =
      logarithm(t.v * inverseAlpha / (t.a / (t.us * t.us) + t.b)) <= logProbability(some, t.mu);
  return (within & !never) ? t.k : -1;
}

/// exp(-x) for 0 <= x <= leastOfRejection, to 1e-14.
[[gnu::always_inline]] inline double exponential(double x) {
  const double y = x * (-1. / 64);
  double sum = 1;
  sum = 1 + sum * y * (1. / 10);
  sum = 1 + sum * y * (1. / 9);
  sum = 1 + sum * y * (1. / 8);
  sum = 1 + sum * y * (1. / 7);
  sum = 1 + sum * y * (1. / 6);
  sum = 1 + sum * y * (1. / 5);
  sum = 1 + sum * y * (1. / 4);
  sum = 1 + sum * y * (1. / 3);
  sum = 1 + sum * y * (1. / 2);
  sum = 1 + sum * y;
  for (int i = 0; i != 6; ++i)
    sum *= sum;
  return sum;
}

constexpr int lanes = 16;

/// Poisson's law by inversion: how many of the cumulative probabilities are below u.
NB_VECTORIZED
void invertLanes(const double *__restrict u, const double *__restrict mean,
                 double *__restrict photons) {
  double probability[lanes], cumulated[lanes], count[lanes];
  for (int i = 0; i != lanes; ++i) {
    probability[i] = cumulated[i] = exponential(mean[i]);
    count[i] = 0;
  }
  // Rounding leaves u above all of them once in 1e15; no mean below 10 gives a hundred photons.
  for (int k = 1; k != 100; ++k) {
    const double inverse = 1. / k;
    std::uint64_t left = 0;
    for (int i = 0; i != lanes; ++i) {
      const bool more = u[i] > cumulated[i];
      count[i] += more ? 1 : 0;
      left |= more ? 1 : 0;
      probability[i] *= mean[i] * inverse;
      cumulated[i] += probability[i];
    }
    if (left == 0)
      break;
  }
  for (int i = 0; i != lanes; ++i)
    photons[i] = count[i];
}

NB_VECTORIZED
void attemptsAtOnce(const double *__restrict u, const double *__restrict v,
                    const double *__restrict means, double *__restrict photons, std::size_t count) {
  for (std::size_t i = 0; i != count; ++i)
    photons[i] = atOnce(attemptOf(u[i], v[i], means[i]));
}

NB_VECTORIZED
void attemptsAfter(const double *__restrict u, const double *__restrict v,
                   const double *__restrict means, double *__restrict photons, std::size_t count) {
  for (std::size_t i = 0; i != count; ++i)
    photons[i] = afterAll(attemptOf(u[i], v[i], means[i]));
}

/// Two random numbers between 0 and 1 for each pixel; every attempt has others.
NB_VECTORIZED
void drawUniform(Philox generator, const std::uint64_t *__restrict pixels, std::uint32_t attempt,
                 std::uint32_t purpose, double *__restrict u, double *__restrict v,
                 std::size_t count) {
  for (std::size_t i = 0; i != count; ++i) {
    const Philox::Words w =
        generator({std::uint32_t(pixels[i]), std::uint32_t(pixels[i] >> 32), attempt, purpose});
    u[i] = uniformOf(w[0], w[1]);
    v[i] = uniformOf(w[2], w[3]);
  }
}

template <std::size_t n>
[[gnu::always_inline]] inline double polynomial(const std::array<double, n> &coefficients,
                                                double x) {
  double sum = 0;
  for (std::size_t i = n; i-- != 0;)
    sum = sum * x + coefficients[i];
  return sum;
}

// Coefficients of AS 241, PPND16: numerators and denominators of the middle, of the tails, and of
// the far tails.
constexpr std::array middleOver = {3.3871328727963666080e0,  1.3314166789178437745e+2,
                                   1.9715909503065514427e+3, 1.3731693765509461125e+4,
                                   4.5921953931549871457e+4, 6.7265770927008700853e+4,
                                   3.3430575583588128105e+4, 2.5090809287301226727e+3};
constexpr std::array middleUnder = {1.,
                                    4.2313330701600911252e+1,
                                    6.8718700749205790830e+2,
                                    5.3941960214247511077e+3,
                                    2.1213794301586595867e+4,
                                    3.9307895800092710610e+4,
                                    2.8729085735721942674e+4,
                                    5.2264952788528545610e+3};
constexpr std::array tailOver = {1.42343711074968357734e0,  4.63033784615654529590e0,
                                 5.76949722146069140550e0,  3.64784832476320460504e0,
                                 1.27045825245236838258e0,  2.41780725177450611770e-1,
                                 2.27238449892691845833e-2, 7.74545014278341407640e-4};
constexpr std::array tailUnder = {1.,
                                  2.05319162663775882187e0,
                                  1.67638483018380384940e0,
                                  6.89767334985100004550e-1,
                                  1.48103976427480074590e-1,
                                  1.51986665636164571966e-2,
                                  5.47593808499534494600e-4,
                                  1.05075007164441684324e-9};
constexpr std::array farOver = {6.65790464350110377720e0,  5.46378491116411436990e0,
                                1.78482653991729133580e0,  2.96560571828504891230e-1,
                                2.65321895265761230930e-2, 1.24266094738807843860e-3,
                                2.71155556874348757815e-5, 2.01033439929228813265e-7};
constexpr std::array farUnder = {1.,
                                 5.99832206555887937690e-1,
                                 1.36929880922735805310e-1,
                                 1.48753612908506148525e-2,
                                 7.86869131145613259100e-4,
                                 1.84631831751005468180e-5,
                                 1.42151175831644588870e-7,
                                 2.04426310338993978564e-15};

[[gnu::always_inline]] inline double middleQuantile(double q) {
  const double r = 0.180625 - q * q;
  return q * polynomial(middleOver, r) / polynomial(middleUnder, r);
}

NB_VECTORIZED
void middleQuantiles(const double *__restrict u, double *__restrict deviates, std::size_t count) {
  for (std::size_t i = 0; i != count; ++i)
    deviates[i] = middleQuantile(u[i] - 0.5);
}

bool isInTail(double p) { return std::fabs(p - 0.5) > 0.425; }

constexpr double farthestTail = 1.4e-11; // exp(-25)

/// Quantiles of probabilities in the tails, down to farthestTail.
NB_VECTORIZED
void tailQuantiles(const double *__restrict p, double *__restrict deviates, std::size_t count) {
  for (std::size_t i = 0; i != count; ++i) {
    const double out = p[i] < 0.5 ? p[i] : 1 - p[i];
    const double r = std::sqrt(-logarithm(out)) - 1.6;
    const double x = polynomial(tailOver, r) / polynomial(tailUnder, r);
    deviates[i] = p[i] < 0.5 ? -x : x;
  }
}

/// A random number between 0 and 1 for each pixel from `first` on.
NB_VECTORIZED
void drawRow(Philox generator, std::uint64_t first, std::uint32_t purpose, double *__restrict u,
             std::size_t count) {
  for (std::size_t i = 0; i != count; ++i) {
    const std::uint64_t pixel = first + i;
    const Philox::Words w =
        generator({std::uint32_t(pixel), std::uint32_t(pixel >> 32), 0, purpose});
    u[i] = uniformOf(w[0], w[1]);
  }
}

} // namespace

double normalQuantile(double p) {
  if (!isInTail(p))
    return middleQuantile(p - 0.5);
  const double r = std::sqrt(-std::log(std::min(p, 1 - p)));
  const double x = r <= 5 ? polynomial(tailOver, r - 1.6) / polynomial(tailUnder, r - 1.6)
                          : polynomial(farOver, r - 5) / polynomial(farUnder, r - 5);
  return p < 0.5 ? -x : x;
}

/// Up to `block` pixels and what belongs to them.
struct CounterNoise::Batch {
  std::array<std::uint64_t, block> pixel;
  std::array<double, block> u, v, mean, photons;
  std::size_t count = 0;

  void add(std::uint64_t which, double about) {
    pixel[count] = which;
    mean[count++] = about;
  }

  /// Writes photons to their pixels and keeps those that have none yet, without a branch that
  /// cannot be predicted.
  void settle(std::uint64_t first, double *out) {
    std::size_t open = 0;
    for (std::size_t i = 0; i != count; ++i) {
      out[pixel[i] - first] = photons[i];
      pixel[open] = pixel[i];
      mean[open] = mean[i];
      u[open] = u[i];
      v[open] = v[i];
      open += photons[i] < 0;
    }
    count = open;
  }
};

void CounterNoise::draw(Batch &batch, std::uint32_t attempt) const {
  drawUniform(generator, batch.pixel.data(), attempt, purpose, batch.u.data(), batch.v.data(),
              batch.count);
}

void CounterNoise::reject(Batch &batch, std::uint64_t first, double *photons) const {
  for (std::uint32_t attempt = 0; batch.count != 0; ++attempt) {
    draw(batch, attempt);
    for (const auto some : {attemptsAtOnce, attemptsAfter}) {
      some(batch.u.data(), batch.v.data(), batch.mean.data(), batch.photons.data(), batch.count);
      batch.settle(first, photons);
    }
  }
}

void CounterNoise::invert(Batch &batch, std::uint64_t first, double *photons) const {
  draw(batch, 0);
  for (std::size_t at = 0; at < batch.count; at += lanes) {
    const std::size_t count = std::min<std::size_t>(batch.count - at, lanes);
    std::fill_n(&batch.mean[at + count], lanes - count, 0.0);
    std::fill_n(&batch.u[at + count], lanes - count, 0.0);
    invertLanes(&batch.u[at], &batch.mean[at], &batch.photons[at]);
  }
  for (std::size_t i = 0; i != batch.count; ++i)
    photons[batch.pixel[i] - first] = batch.photons[i];
}

void CounterNoise::poisson(std::uint64_t first, std::span<const double> means,
                           std::span<double> photons) const {
  Batch small, large;
  for (std::size_t begin = 0; begin < means.size(); begin += block) {
    small.count = large.count = 0;
    for (std::size_t i = begin; i != std::min(begin + block, means.size()); ++i) {
      if (means[i] > 0 && means[i] < leastOfRejection)
        small.add(first + i, means[i]);
      else if (means[i] > 0 && std::isfinite(means[i]))
        large.add(first + i, means[i]);
      else
        photons[i] = means[i] <= 0 ? 0 : means[i];
    }
    invert(small, first, photons.data());
    reject(large, first, photons.data());
  }
}

void CounterNoise::normal(std::uint64_t first, std::span<double> deviates) const {
  std::array<double, block> u, tail, ofTail;
  std::array<std::uint16_t, block> place;
  for (std::size_t begin = 0; begin < deviates.size(); begin += block) {
    const std::size_t count = std::min(block, deviates.size() - begin);
    double *out = &deviates[begin];
    drawRow(generator, first + begin, purpose, u.data(), count);
    middleQuantiles(u.data(), out, count);
    std::size_t tails = 0; // without a branch that cannot be predicted
    for (std::size_t i = 0; i != count; ++i) {
      tail[tails] = u[i];
      place[tails] = std::uint16_t(i);
      tails += isInTail(u[i]);
    }
    tailQuantiles(tail.data(), ofTail.data(), tails);
    for (std::size_t i = 0; i != tails; ++i) {
      const bool far = std::min(tail[i], 1 - tail[i]) < farthestTail;
      out[place[i]] = far ? normalQuantile(tail[i]) : ofTail[i];
    }
  }
}

double CounterNoise::uniform(std::uint64_t pixel) const {
  const Philox::Words w = generator({std::uint32_t(pixel), std::uint32_t(pixel >> 32), 0, purpose});
  return uniformOf(w[0], w[1]);
}

} // namespace nanobragg::io
