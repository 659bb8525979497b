// Transforms of crystal shapes.
#ifndef NB_INTERPRETER_SHAPE_FUNCTIONS_H
#define NB_INTERPRETER_SHAPE_FUNCTIONS_H

namespace mlir::nb::evaluation {

/// sin(pi N x) for any N x. Whole half turns are taken off exactly, and with them the rounding
/// error of N x, which is many ulps of the remainder when N is large.
double sinPi(double n, double x);

/// How often a function is differentiated with respect to the distance x from a peak and to the
/// number of cells N.
struct GratingOrder {
  unsigned byX = 0, byCells = 0;
};

/// Derivative of sin(pi N x) / sin(pi x), for N > 0 and |x| < 1. Accurate to a few ulp of its
/// largest value for this N, and of itself at its zero in the peak.
double grating(double x, double n, GratingOrder order = {});

/// k-th derivative with respect to u of 3 j1(sqrt u) / sqrt u, for u >= 0.
double ball(double u, unsigned order = 0);

} // namespace mlir::nb::evaluation

#endif
