#include "lib/Experiment/DetectorGeometry.h"
#include "lib/Experiment/PhysicalConstants.h"
#include "lib/Interpreter/Map.h"

using namespace mlir;
using namespace mlir::nb;
using namespace mlir::nb::evaluation;
namespace constants = nanobragg::constants;

/// From the detector's edge to the centre of a sub-pixel.
static double detectorCoordinate(int64_t pixel, int64_t subPixel, int64_t oversample,
                                 double pixelSize) {
  double sub = pixelSize / double(oversample);
  return sub * double(pixel * oversample + subPixel) + sub / 2;
}

static Vec3 pixelPosition(Vec3 origin, Vec3 fastAxis, Vec3 slowAxis, Vec3 normal, double fast,
                          double slow, double depth) {
  return origin + fastAxis * fast + slowAxis * slow + normal * depth;
}

static Vec3 curvedPosition(Vec3 beam, Vec3 fastAxis, Vec3 slowAxis, double distance,
                           double aboutSlow, double aboutFast) {
  return rotated(rotated(beam * distance, slowAxis, aboutSlow), fastAxis, aboutFast);
}

static LogicalResult planSolidAngle(SolidAngleOp op, Planner &planner) {
  if (op.getKind() == PixelKind::point)
    return map(planner, op, [](const Vec3 &p, double, double) {
      return nanobragg::solidAngleOfPoint(dot(p, p));
    });
  return map(planner, op, [](const Vec3 &p, double closeDistance, double pixelSize) {
    return nanobragg::solidAngleOfPixel(dot(p, p), closeDistance, pixelSize);
  });
}

/// The fraction that passes the layers in front of this one and does not pass this one.
static double captureFraction(Vec3 diffracted, Vec3 normal, double layer, double spacing,
                              double attenuationDepth) {
  double rho = dot(diffracted, normal), mu = 1 / attenuationDepth;
  if (std::abs(rho) < constants::leastCosine)
    rho = constants::leastCosine;
  auto transmitted = [&](double layers) {
    double exponent = -layers * spacing * mu / rho;
    return std::exp(exponent > constants::largestExponent ? constants::largestExponent : exponent);
  };
  return transmitted(layer) - transmitted(layer + 1);
}

void evaluation::attachDetector(MLIRContext *context) {
  evaluate<DetectorCoordinateOp, detectorCoordinate>(context);
  evaluate<PixelPositionOp, pixelPosition>(context);
  evaluate<CurvedPositionOp, curvedPosition>(context);
  evaluateBy<SolidAngleOp, planSolidAngle>(context);
  evaluate<CaptureFractionOp, captureFraction>(context);
}
