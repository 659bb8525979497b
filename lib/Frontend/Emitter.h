// Writes the physics of one sample.
#ifndef NB_FRONTEND_EMITTER_H
#define NB_FRONTEND_EMITTER_H

#include "dialect/NB.h"
#include "lib/Experiment/ProgramVariant.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringMap.h"

namespace mlir::nb {

/// Where in the detector and in the sums a sample is; all index values.
struct SampleIndices {
  Value panel, slow, fast;
  Value layer; ///< null without sensor layers
  Value subslow, subfast, source, phi, mosaic;
};

struct DetectorFrame {
  Value fast, slow, normal; ///< unit vectors after all rotations
  Value origin;             ///< the corner of pixel (0, 0)
  Value closeDistance;      ///< from the sample to the detector plane
  Value ratio;              ///< beam . normal before the two-theta rotation
};

struct Ray {
  Value direction;  ///< unit vector along propagation
  Value wavelength;
};

/// Emits nb ops at the builder's insertion point, each located by the name of its value.
class Emitter {
public:
  Emitter(OpBuilder &builder, const nanobragg::ProgramVariant &variant,
          const llvm::StringMap<Value> &parameters)
      : b(builder), variant(variant), parameters(parameters) {}

  // EmitImage.cpp
  Value image();

private:
  // EmitImage.cpp
  Value pixel(SampleIndices at);
  Value sample(const SampleIndices &at);
  Value correctedSample(const SampleIndices &at, Value position, Value diffracted, Ray incident,
                        Value q);
  Value oncePolarization(const SampleIndices &first);
  Value background(const SampleIndices &first, Value omega, Value polarization);

  // EmitDetector.cpp
  DetectorFrame detector(Value panel);
  Value position(const SampleIndices &at);
  Value curvedPosition(const DetectorFrame &frame, Value flat, Value fast, Value slow, Value depth);
  Value depth(const SampleIndices &at);
  Value solidAngle(const SampleIndices &at, Value position);
  Value captureFraction(const SampleIndices &at, Value diffracted);
  Value layerSpacing();

  // EmitBeam.cpp
  Ray incidentRay(Value source);
  Value polarization(const Ray &incident, Value diffracted);

  // EmitCrystal.cpp
  Value directCell(const SampleIndices &at);
  Value unrotatedReciprocal();
  Value unrotatedDirect();
  Value latticeFactor(Value hkl);
  Value structureFactor(Value hkl);

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

  /// Creates an op located by `name`; result types are inferred.
  template <typename OpTy, typename... Args>
  Value op(StringRef name, Args &&...args) {
    return OpTy::create(b, named(name), std::forward<Args>(args)...).getResult();
  }

  OpBuilder &b;
  const nanobragg::ProgramVariant &variant;
  const llvm::StringMap<Value> &parameters;
};

} // namespace mlir::nb

#endif
