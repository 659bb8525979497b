// Vectors and matrices of the search for light.
#ifndef NANOBRAGG_RUNTIME_VECTOR_H
#define NANOBRAGG_RUNTIME_VECTOR_H

#include <array>
#include <cmath>

namespace nanobragg {

struct Vector {
  double x = 0, y = 0, z = 0;
};
inline Vector vectorAt(const double *p) { return {p[0], p[1], p[2]}; }
inline Vector operator+(Vector a, Vector b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
inline Vector operator-(Vector a, Vector b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
inline Vector operator*(double f, Vector a) { return {f * a.x, f * a.y, f * a.z}; }
inline double dot(Vector a, Vector b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
inline double norm(Vector v) { return std::sqrt(dot(v, v)); }
inline Vector cross(Vector a, Vector b) {
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

inline void copy(Vector from, double (&to)[3]) {
  to[0] = from.x;
  to[1] = from.y;
  to[2] = from.z;
}

/// Columns.
struct Matrix {
  std::array<Vector, 3> column;
};
inline Vector operator*(const Matrix &m, Vector v) {
  return v.x * m.column[0] + v.y * m.column[1] + v.z * m.column[2];
}

} // namespace nanobragg
#endif
