// The mathematics of a square crystal's inner loop, written by hand with vectors of a known width:
// what a kernel can be held against. Built once for each level of x86-64 by hand_written.py, which
// has the command line: WIDTH doubles to a register.
//
//   hand_written f64|mixed constant|nearest DOMAINS
//
// prints nanoseconds per sample, the best of many rows of pixels.
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>
#if WIDTH > 2
#include <immintrin.h>
#endif

namespace {

template <typename T, int N>
using Vector [[gnu::vector_size(sizeof(T) * N)]] = T;
constexpr int W = WIDTH;
using D = Vector<double, W>;
using L = Vector<std::int64_t, W>;
using F = Vector<float, 2 * W>;
using I = Vector<std::int32_t, 2 * W>;

constexpr int cells = 10, pixels = 1024;
constexpr int hMax = 32, kMax = 38, lMax = 44;
constexpr int kSize = 2 * kMax + 1, lSize = 2 * lMax + 1;

// Taylor series would do: what counts is the number of coefficients.
constexpr double sine[] = {3.1415926535897932,   -5.1677127800499706,  2.5501640398773415,
                           -0.59926452932079144, 0.082145886611114819, -0.0073704309456883895,
                           0.00046630278924,     -2.1915353e-05};
constexpr float sineWide[] = {3.1415926f,   -5.1677113f, 2.5501445f,
                              -0.59910804f, 0.08157f,    -0.0065f};

struct Grid {
  std::vector<double> values;
  double fallback = 100;
};

template <typename T>
T polynomial(T z, const auto &c) {
  T p = T{} + c[std::size(c) - 1];
  for (int i = int(std::size(c)) - 2; i >= 0; --i)
    p = p * z + c[i];
  return p;
}

template <typename T>
T larger(T x, T y) {
  return x > y ? x : y;
}

D rounded(D x) { return (x + 0x1.8p52) - 0x1.8p52; }
D sinPi(D x) { return x * polynomial(x * x, sine); }

/// Values at `position` where `inside`, the fallback elsewhere.
D gather(const Grid &grid, Vector<std::int32_t, W> position, L inside) {
#if WIDTH == 8
  const __mmask8 mask = _mm512_movepi64_mask((__m512i)inside);
  return (D)_mm512_mask_i32gather_pd(_mm512_set1_pd(grid.fallback), mask, (__m256i)position,
                                     grid.values.data(), 8);
#elif WIDTH == 4
  return (D)_mm256_mask_i32gather_pd(_mm256_set1_pd(grid.fallback), grid.values.data(),
                                     (__m128i)position, (__m256d)inside, 8);
#else
  D value = D{} + grid.fallback;
  for (int i = 0; i < W; ++i)
    value[i] = grid.values[std::size_t(inside[i] ? position[i] : 0)];
  return inside ? value : D{} + grid.fallback;
#endif
}

D lookup(const Grid &grid, const D (&n)[3]) {
  const D h = n[0] + hMax, k = n[1] + kMax, l = n[2] + lMax;
  const L inside =
      (h >= 0) & (h <= 2 * hMax) & (k >= 0) & (k <= 2 * kMax) & (l >= 0) & (l <= 2 * lMax);
  const D position = (h * kSize + k) * lSize + l;
  return gather(grid, __builtin_convertvector(inside ? position : D{}, Vector<std::int32_t, W>),
                inside);
}

/// Intensity of W pixels in f64.
template <bool nearest>
D intensity(const D (&s)[3], const double *matrix, const Grid &grid) {
  D above = D{} + 1, below = D{} + 1, n[3];
  for (int i = 0; i < 3; ++i) {
    const D h = matrix[3 * i] * s[0] + matrix[3 * i + 1] * s[1] + matrix[3 * i + 2] * s[2];
    n[i] = rounded(h);
    const D x = h - n[i], distance = larger(x < 0 ? -x : x, D{} + 1e-30), y = cells * distance;
    above *= sinPi(y - rounded(y));
    below *= sinPi(distance);
  }
  D amplitude = above / below;
  if constexpr (nearest)
    amplitude *= lookup(grid, n);
  else
    amplitude *= grid.fallback;
  return amplitude * amplitude;
}

/// Even (0) or odd (1) words of two registers.
template <int odd>
I words(D a, D b) {
  I x, y;
  std::memcpy(&x, &a, sizeof x);
  std::memcpy(&y, &b, sizeof y);
#if WIDTH == 8
  return __builtin_shufflevector(x, y, odd, 2 + odd, 4 + odd, 6 + odd, 8 + odd, 10 + odd, 12 + odd,
                                 14 + odd, 16 + odd, 18 + odd, 20 + odd, 22 + odd, 24 + odd,
                                 26 + odd, 28 + odd, 30 + odd);
#elif WIDTH == 4
  return __builtin_shufflevector(x, y, odd, 2 + odd, 4 + odd, 6 + odd, 8 + odd, 10 + odd, 12 + odd,
                                 14 + odd);
#else
  return __builtin_shufflevector(x, y, odd, 2 + odd, 4 + odd, 6 + odd);
#endif
}

template <typename To, typename From>
To half(From x, int first) {
  To result;
  std::memcpy(&result, reinterpret_cast<const char *>(&x) + first * sizeof result, sizeof result);
  return result;
}

/// Adds the intensities of 2 W pixels, in f32 after the fraction of h.
template <bool nearest>
void addMixed(const D (&s)[2][3], const double *matrix, const Grid &grid, D (&sum)[2]) {
  F above = F{} + 1, below = F{} + 1;
  I n[3];
  for (int i = 0; i < 3; ++i) {
    D h[2];
    for (int g = 0; g < 2; ++g)
      h[g] = matrix[3 * i] * s[g][0] + matrix[3 * i + 1] * s[g][1] + matrix[3 * i + 2] * s[g][2] +
             (0x1.8p20 + 0.5);
    n[i] = words<1>(h[0], h[1]) - 0x41380000;
    const I rest = (words<0>(h[0], h[1]) ^ INT32_MIN) | 1;
    const F x = __builtin_convertvector(rest, F) * 0x1p-32f;
    const F y = __builtin_convertvector(rest * cells, F) * 0x1p-32f;
    above *= y * polynomial(y * y, sineWide);
    float below4[5];
    std::memcpy(below4, sineWide, sizeof below4);
    below *= x * polynomial(x * x, below4);
  }
  F amplitude = above / below;
  if constexpr (nearest) {
    const I h = n[0] + hMax, k = n[1] + kMax, l = n[2] + lMax;
    const I inside =
        (h >= 0) & (h <= 2 * hMax) & (k >= 0) & (k <= 2 * kMax) & (l >= 0) & (l <= 2 * lMax);
    const I position = (h * kSize + k) * lSize + l;
    using Some = Vector<std::int32_t, W>;
    F values;
    for (int g = 0; g < 2; ++g) {
      const auto part = __builtin_convertvector(
          gather(grid, half<Some>(position, g), __builtin_convertvector(half<Some>(inside, g), L)),
          Vector<float, W>);
      std::memcpy(reinterpret_cast<char *>(&values) + g * sizeof part, &part, sizeof part);
    }
    amplitude *= values;
  } else {
    amplitude *= float(grid.fallback);
  }
  amplitude *= amplitude;
  for (int g = 0; g < 2; ++g)
    sum[g] += __builtin_convertvector((half<Vector<float, W>>(amplitude, g)), D);
}

/// One row of pixels; `groups` registers of them at once.
template <bool mixed, bool nearest, int groups>
void row(double slow, const std::vector<double> &matrices, const Grid &grid, float *image) {
  for (int fast = 0; fast < pixels; fast += groups * W) {
    D s[groups][3], sum[groups];
    for (int g = 0; g < groups; ++g) {
      D x;
      for (int i = 0; i < W; ++i)
        x[i] = (fast + g * W + i - pixels / 2) * 1e-4;
      const D r2 = x * x + (slow * slow + 0.01);
      D root;
      for (int i = 0; i < W; ++i)
        root[i] = std::sqrt(r2[i]);
      const D inverse = 1 / root;
      s[g][0] = (0.1 * inverse - 1) * 1e10;
      s[g][1] = x * inverse * 1e10;
      s[g][2] = slow * inverse * 1e10;
      sum[g] = D{};
    }
    for (std::size_t m = 0; m != matrices.size(); m += 9)
      if constexpr (mixed)
        addMixed<nearest>(s, &matrices[m], grid, sum);
      else
        for (int g = 0; g < groups; ++g)
          sum[g] += intensity<nearest>(s[g], &matrices[m], grid);
    for (int g = 0; g < groups; ++g)
      for (int i = 0; i < W; ++i)
        image[fast + g * W + i] = float(sum[g][i]);
  }
}

template <bool mixed, bool nearest, int groups>
double nanoseconds(int domains) {
  std::vector<double> matrices;
  for (int m = 0; m < domains; ++m) {
    const double turn = 0.3 + m * 1e-3, c = std::cos(turn), s = std::sin(turn);
    for (double e :
         {50e-10 * c, 50e-10 * s, 3e-10, -60e-10 * s, 60e-10 * c, 2e-10, 1e-10, 5e-10, 70e-10})
      matrices.push_back(e);
  }
  Grid grid;
  grid.values.assign(std::size_t(2 * hMax + 1) * kSize * lSize, 50);
  std::vector<float> image(pixels);
  double best = 1e9;
  for (int repeat = 0; repeat < 2000 / domains + 20; ++repeat) {
    const auto start = std::chrono::steady_clock::now();
    for (int slow = 0; slow < 10; ++slow)
      row<mixed, nearest, groups>(slow * 5e-3 + 1e-4, matrices, grid, image.data());
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start;
    best = std::fmin(best, passed.count() / (10.0 * pixels * domains));
  }
  return best * 1e9 + 0 * image[5];
}

template <bool mixed, bool nearest>
double best(int domains) {
  const double two = nanoseconds<mixed, nearest, 2>(domains);
  if constexpr (mixed)
    return two;
  else
    return std::fmin(two, nanoseconds<mixed, nearest, 1>(domains));
}

} // namespace

int main(int argc, char **argv) {
  if (argc != 4)
    return 2;
  const bool mixed = !std::strcmp(argv[1], "mixed"), nearest = !std::strcmp(argv[2], "nearest");
  const int domains = std::atoi(argv[3]);
  std::printf("%.3f\n", mixed     ? nearest ? best<true, true>(domains) : best<true, false>(domains)
                        : nearest ? best<false, true>(domains)
                                  : best<false, false>(domains));
}
