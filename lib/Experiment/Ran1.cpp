#include "lib/Experiment/Ran1.h"

#include <cmath>
#include <cstddef>
#include <numbers>

// A fused multiply-add rounds once where the C program rounds twice, and a rejection test that
// falls the other way changes every later draw.
#ifdef __clang__
#pragma clang fp contract(off)
#endif

namespace nanobragg {
namespace {

constexpr std::int64_t multiplier = 16807, modulus = 2147483647;
constexpr std::int64_t quotient = modulus / multiplier, remainder = modulus % multiplier;

/// multiplier * idum mod modulus without a product beyond 32 bits (Schrage).
std::int64_t step(std::int64_t idum) {
  const std::int64_t k = idum / quotient;
  const std::int64_t next = multiplier * (idum - k * quotient) - remainder * k;
  return next < 0 ? next + modulus : next;
}

/// Logarithm of the gamma function (Lanczos): the precision of Real at both ends, double inside.
template <typename Real>
Real logGamma(Real argument) {
  static constexpr double coefficients[] = {76.18009172947146,     -86.50532032941677,
                                            24.01409824083091,     -1.231739572450155,
                                            0.1208650973866179e-2, -0.5395239384953e-5};
  const double x = argument;
  double shifted = x + 5.5;
  shifted -= (x + 0.5) * std::log(shifted);
  double series = 1.000000000190015;
  double denominator = x;
  for (double c : coefficients)
    series += c / ++denominator;
  return Real(-shifted + std::log(2.5066282746310005 * series / x));
}

} // namespace

template <typename Real>
Real Ran1Of<Real>::uniform(std::int64_t &idum) {
  // Seeds beyond the modulus would index outside the table; the residue gives the same sequence.
  if (idum >= modulus || idum <= -modulus)
    idum %= modulus;
  if (idum <= 0 || last == 0) {
    idum = idum < 0 ? -idum : 1;
    constexpr int warmUp = 8;
    for (int j = int(shuffle.size()) + warmUp - 1; j >= 0; --j) {
      idum = step(idum);
      if (j < int(shuffle.size()))
        shuffle[std::size_t(j)] = idum;
    }
    last = shuffle[0];
  }
  idum = step(idum);
  const std::int64_t divisor = 1 + (modulus - 1) / std::int64_t(shuffle.size());
  const auto j = std::size_t(last / divisor);
  last = shuffle[j];
  shuffle[j] = idum;
  constexpr double largest = 1.0 - 1.2e-7;
  const Real deviate = Real(1.0 / double(modulus) * double(last));
  return deviate > largest ? Real(largest) : deviate;
}

template <typename Real>
Real Ran1Of<Real>::gaussian(std::int64_t &idum) {
  if (hasSpare) {
    hasSpare = false;
    return spareGaussian;
  }
  Real v1, v2, square;
  do {
    v1 = Real(2.0 * uniform(idum) - 1.0);
    v2 = Real(2.0 * uniform(idum) - 1.0);
    square = v1 * v1 + v2 * v2;
  } while (square >= 1 || square == 0);
  const Real factor = Real(std::sqrt(-2.0 * std::log(double(square)) / square));
  spareGaussian = v1 * factor;
  hasSpare = true;
  return v2 * factor;
}

template <typename Real>
Real Ran1Of<Real>::poisson(Real mean, std::int64_t &idum) {
  const double mean64 = mean;
  if (mean64 > 1.0e6)
    return Real(mean64 + std::sqrt(mean64) * gaussian(idum));

  if (mean64 < 12.0) {
    // Waiting times are exponential: multiply uniforms until the product passes exp(-mean).
    const Real limit = Real(std::exp(-mean64));
    Real deviate = -1, product = 1;
    do {
      ++deviate;
      product *= uniform(idum);
    } while (product > limit);
    return deviate;
  }

  // Rejection under a Lorentzian.
  const Real width = Real(std::sqrt(2.0 * mean64));
  const Real logMean = Real(std::log(mean64));
  const Real norm = mean * logMean - logGamma(Real(mean64 + 1.0));
  Real deviate, ratio;
  do {
    Real lorentzian;
    do {
      lorentzian = Real(std::tan(std::numbers::pi * uniform(idum)));
      deviate = width * lorentzian + mean;
    } while (deviate < 0);
    deviate = std::floor(deviate);
    const Real square = lorentzian * lorentzian;
    const Real exponent = deviate * logMean - logGamma(Real(deviate + 1.0)) - norm;
    ratio = Real(0.9 * (1.0 + square) * std::exp(double(exponent)));
  } while (uniform(idum) > ratio);
  return deviate;
}

template class Ran1Of<float>;
template class Ran1Of<double>;

} // namespace nanobragg
