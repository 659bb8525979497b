#include "lib/Interpreter/Frame.h"

#include "lib/Interpreter/Map.h"

using namespace mlir;
using namespace mlir::nb;

int64_t Tensor::size() const {
  int64_t product = 1;
  for (int64_t extent : shape)
    product *= extent;
  return product;
}

double Tensor::get(int64_t index) const {
  if (element.isF64())
    return static_cast<const double *>(data)[index];
  if (element.isF32())
    return static_cast<const float *>(data)[index];
  return static_cast<const uint8_t *>(data)[index];
}

void Tensor::set(int64_t index, double value) {
  if (element.isF64())
    static_cast<double *>(data)[index] = value;
  else
    static_cast<float *>(data)[index] = float(value);
}

void evaluation::roundToSingle(Frame &frame, Slot slot) {
  double *words = frame.reals(slot);
  int64_t stride = slot.varying ? laneStride : 1;
  for (int64_t c = 0; c < slot.components; ++c)
    for (int64_t lane = 0, lanes = frame.lanesOf(slot); lane < lanes; ++lane)
      words[c * stride + lane] = double(float(words[c * stride + lane]));
}
