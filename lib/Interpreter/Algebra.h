// Vectors and matrices of one pixel.
#ifndef NB_INTERPRETER_ALGEBRA_H
#define NB_INTERPRETER_ALGEBRA_H

#include <cmath>

namespace mlir::nb::evaluation {

struct Vec3 {
  double x, y, z;
};

struct Mat3 {
  double at[3][3]; ///< [row][column]
};

inline Vec3 operator+(const Vec3 &a, const Vec3 &b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
inline Vec3 operator-(const Vec3 &a, const Vec3 &b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
inline Vec3 operator*(const Vec3 &a, double s) { return {a.x * s, a.y * s, a.z * s}; }

inline double dot(const Vec3 &a, const Vec3 &b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
inline Vec3 cross(const Vec3 &a, const Vec3 &b) {
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
inline double norm(const Vec3 &v) { return std::sqrt(dot(v, v)); }
inline Vec3 unit(const Vec3 &v) {
  double length = norm(v);
  return length == 0 ? v : Vec3{v.x / length, v.y / length, v.z / length};
}

inline Vec3 row(const Mat3 &m, int i) { return {m.at[i][0], m.at[i][1], m.at[i][2]}; }
inline Vec3 column(const Mat3 &m, int j) { return {m.at[0][j], m.at[1][j], m.at[2][j]}; }
inline Mat3 fromRows(const Vec3 &a, const Vec3 &b, const Vec3 &c) {
  return {{{a.x, a.y, a.z}, {b.x, b.y, b.z}, {c.x, c.y, c.z}}};
}
inline Mat3 transposed(const Mat3 &m) { return fromRows(column(m, 0), column(m, 1), column(m, 2)); }

inline Vec3 operator*(const Mat3 &m, const Vec3 &v) {
  return {dot(row(m, 0), v), dot(row(m, 1), v), dot(row(m, 2), v)};
}
inline Mat3 operator*(const Mat3 &a, const Mat3 &b) {
  Mat3 product;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j)
      product.at[i][j] = dot(row(a, i), column(b, j));
  return product;
}

inline Mat3 operator+(const Mat3 &a, const Mat3 &b) {
  return fromRows(row(a, 0) + row(b, 0), row(a, 1) + row(b, 1), row(a, 2) + row(b, 2));
}
inline Mat3 operator-(const Mat3 &a, const Mat3 &b) {
  return fromRows(row(a, 0) - row(b, 0), row(a, 1) - row(b, 1), row(a, 2) - row(b, 2));
}
inline double determinant(const Mat3 &m) { return dot(row(m, 0), cross(row(m, 1), row(m, 2))); }
inline Mat3 operator*(const Mat3 &m, double s) {
  return fromRows(row(m, 0) * s, row(m, 1) * s, row(m, 2) * s);
}

/// The reflection that fractional indices belong to: the nearest whole numbers, halves down.
inline Vec3 nearestReflection(const Vec3 &hkl) {
  return {std::ceil(hkl.x - 0.5), std::ceil(hkl.y - 0.5), std::ceil(hkl.z - 0.5)};
}

/// x turned about n by Rodrigues' formula; n is used as it is.
inline Vec3 rotated(const Vec3 &x, const Vec3 &n, double angle) {
  double c = std::cos(angle), s = std::sin(angle);
  return n * (dot(n, x) * (1 - c)) + x * c + cross(n, x) * s;
}

} // namespace mlir::nb::evaluation

#endif
