// Writes the physics of one sample.
#ifndef NB_FRONTEND_EMITTER_H
#define NB_FRONTEND_EMITTER_H

#include "dialect/NB.h"
#include "dialect/ScalarBuilder.h"
#include "lib/Experiment/ProgramVariant.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringMap.h"

#include <array>

namespace mlir::nb {

/// Where in the detector and in the sums a sample is; all index values, but slow and fast of listed
/// pixels, which are f64.
struct SampleIndices {
  Value panel, slow, fast;
  Value layer;      ///< null without sensor layers
  Value oversample; ///< sub-pixels along each edge; null: those of the crystal's samples
  Value subslow, subfast, source, phi, mosaic;
  Value draw; ///< for averages that are not sampled; null: the middle of all distributions
};

struct DetectorFrame {
  Value fast, slow, normal; ///< unit vectors after all rotations
  Value origin;             ///< the corner of pixel (0, 0)
  Value closeDistance;      ///< from the sample to the detector plane
  Value ratio;              ///< beam . normal before the two-theta rotation
};

struct Ray {
  Value direction; ///< unit vector along propagation
  Value wavelength;
};

/// The dimensions of a loop and the count of each, outermost first.
using LoopDimensions = SmallVector<std::pair<Dimension, Value>>;

/// Emits nb ops at the builder's insertion point, each located by the name of its value.
class Emitter {
public:
  Emitter(OpBuilder &builder, const nanobragg::ProgramVariant &variant,
          const llvm::StringMap<Value> &parameters)
      : b(builder), variant(variant), parameters(parameters) {}

  /// All that the program computes: the image of photons and the stages after it.
  Value image() { return response(photons()); }

private:
  RankedTensorType imageType(bool single);

  // EmitResponse.cpp
  Value response(Value photons);
  Value spread(Value photons, bool single);

  // EmitImage.cpp
  Value photons();
  /// Bounds of the image: fast_min, fast_max, slow_min, slow_max.
  SmallVector<Value> region();
  /// Bounds of what sends light into the image.
  SmallVector<Value> regionOfPhotons();
  SampleIndices placeOfPixel(ValueRange place);
  Value pixel(const SampleIndices &at);
  Value pixelOfSpots(const SampleIndices &at);
  SampleIndices firstOfPixel(const SampleIndices &at);
  Value sumOfSamples(const SampleIndices &pixel);
  Value sumOfWeights();
  Value weightOfSamples();
  Value sample(const SampleIndices &at);
  Value correctedSample(const SampleIndices &at, Value position, Value diffracted,
                        const Ray &incident, Value q);
  bool layered() const { return variant.capture != nanobragg::Capture::None; }

  // A correction is one file. Each says what multiplies a sample and what multiplies the whole
  // pixel, evaluated at its first sample; null where the variant wants neither.

  // EmitSpots.cpp
  Value lightOfSpots(const SampleIndices &at);
  /// A row of the table of spots.
  struct Spot {
    Value number, photons, fastFast, fastSlow, slowSlow;
  };
  Value lightOfWideSpot(const Spot &spot, Value x, Value y);
  Value lightOfThinSpot(const Spot &spot, Value count, Value x, Value y);
  Value skew(const Spot &spot, Value z1, Value z2, const std::array<Value, 3> &variances);
  Value skewed(Value exponent, Value cubic);

  // EmitSolidAngle.cpp
  bool layersHaveSolidAngles() const;
  Value solidAngle(const SampleIndices &at, Value position);
  Value solidAngleOfSample(const SampleIndices &at, Value position);
  Value solidAngleOfPixel(const SampleIndices &first);

  // EmitPolarization.cpp
  Value polarization(const Ray &incident, Value diffracted);
  Value polarizationOfSample(const Ray &incident, Value diffracted);
  Value polarizationOfPixel(const SampleIndices &first);
  Value firstPolarizationWithinResolution(const SampleIndices &first);

  // EmitCapture.cpp
  SampleIndices firstOfLayer(const SampleIndices &at);
  Value attenuationDepth(llvm::function_ref<Value()> wavelength);
  Value captureFraction(const SampleIndices &at, Value diffracted, Value depth);
  Value captureOfSample(const SampleIndices &at, const Ray &incident, Value diffracted);
  Value captureOfPixel(const SampleIndices &first);
  Value capturedByLayers(const SampleIndices &first);

  // EmitWater.cpp
  Value withWaterInSum(Value intensity);
  Value withWater(Value pixel, const SampleIndices &first, Value solidAngleOfPixel,
                  Value polarizationOfPixel);

  // EmitBackground.cpp
  Value molecules(Value material);
  Value backgroundSample(const SampleIndices &at, Value material);
  Value withBackground(Value pixel, const SampleIndices &at);

  // EmitDetector.cpp
  DetectorFrame detector(Value panel);
  Value coordinate(StringRef name, Value pixel, Value subPixel, Value oversample);
  Value phi(const SampleIndices &at);
  Value position(const SampleIndices &at);
  Value curvedPosition(const DetectorFrame &frame, Value flat, Value fast, Value slow, Value depth);
  /// The distance of a bent detector from the sample, all over.
  Value radius(const DetectorFrame &frame);
  Value depth(const SampleIndices &at);
  Value layerSpacing();

  // EmitBeam.cpp
  Ray incidentRay(const SampleIndices &at);
  /// Turned about an axis by an angle.
  Value rotated(StringRef name, Value axis, Value angle, Value vector);
  Value withBandwidth(Value wavelength, const SampleIndices &at);
  Value weightOfSpectrum(Value wavelength);

  // EmitCrystal.cpp
  Value millerIndex(const SampleIndices &at, Value q);
  Value unrotatedReciprocal();
  Value unrotatedDirect();
  Value latticeFactor(Value hkl);
  Value structureFactor(Value hkl);

  // EmitFactorsByEnergy.cpp
  bool factorsByEnergy() const;
  Value factorOfBox(StringRef name, Value nearest, Value box);
  Value wavelengthOfFactors(Value source, const Ray &incident);
  Value energyPosition(Value wavelength, StringRef node, Value nodes);
  struct Between {
    Value first, second, fraction;
  };
  Between entriesAround(Value position, Value nodes);
  Value between(StringRef name, const Between &entries, llvm::function_ref<Value(Value)> at);
  Value entryOf(StringRef name, StringRef list, Value entry);
  Value dispersionOf(StringRef name, StringRef table, int64_t kind, Value wavelength);
  Value channelFactor(Value nearest, Value wavelength);
  Value anomalousFactorSquared(Value nearest, Value inside, Value wavelength);
  Value squaredStructureFactor(Value hkl, Value wavelength);

  // EmitDisorder.cpp
  Value crystalFrame();
  Value crystalRotation(const SampleIndices &at, Value spindle);
  Value fromCrystalFrame(StringRef name, Value vector);
  Value ellipsoidRotation(Value deviates);
  Value diffuseScattering(Value hkl);

  // EmitAverage.cpp: what is averaged, and over which distribution. Null in sampled programs and in
  // the middle.
  Value uniform(StringRef name, StringRef table, const SampleIndices &at);
  Value normal(StringRef name, StringRef table, const SampleIndices &at);
  Value deviate(StringRef name, Distribution distribution, StringRef table,
                const SampleIndices &at);

  // Emitter.cpp
  Value param(StringRef name) const;
  Location named(StringRef name) const;
  Value number(double value);
  Value index(int64_t value);
  Value toFloat(StringRef name, Value index);
  Value lookup(StringRef name, StringRef table, Value index);
  Value mul(StringRef name, Value lhs, Value rhs);
  Value div(StringRef name, Value lhs, Value rhs);
  Value add(StringRef name, Value lhs, Value rhs);
  Value sub(StringRef name, Value lhs, Value rhs);
  /// The nearest to x between -bound and bound.
  Value within(StringRef name, Value x, Value bound);
  /// `value` itself where there is no factor.
  Value times(StringRef name, Value value, Value factor);
  ArrayAttr namesOf(const LoopDimensions &dims);
  SmallVector<Value> countsOf(const LoopDimensions &dims);
  /// The body of a loop, with one named index per dimension; the builder is put into it.
  Block *startBody(Operation *loop, const LoopDimensions &dims);
  /// A sum over `dims`; `term` gets the induction variables.
  Value sum(StringRef name, const LoopDimensions &dims, function_ref<Value(ValueRange)> term);

  /// Creates an op located by `name`, arithmetic as physics; result types are inferred.
  template <typename OpTy, typename... Args>
  Value op(StringRef name, Args &&...args) {
    auto created = OpTy::create(b, named(name), std::forward<Args>(args)...);
    if constexpr (OpTy::template hasTrait<arith::ArithFastMathInterface::Trait>())
      created.setFastmath(physicsFlags);
    return created.getResult();
  }

  OpBuilder &b;
  const nanobragg::ProgramVariant &variant;
  const llvm::StringMap<Value> &parameters;
};

} // namespace mlir::nb

#endif
