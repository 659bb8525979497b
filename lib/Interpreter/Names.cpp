#include "lib/Interpreter/Names.h"

#include <cmath>
#include <cstdio>

using namespace mlir;
using namespace mlir::nb;

std::string nb::nameOf(Location location) {
  std::string name;
  location->walk([&](Location inner) {
    if (auto named = dyn_cast<NameLoc>(inner)) {
      name = named.getName().str();
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return name;
}

std::string nb::toText(double value) {
  if (std::isnan(value))
    return "nan";
  char text[32];
  std::snprintf(text, sizeof text, "%.15g", value + 0.0); // no -0
  return text;
}

std::string nb::toText(ArrayRef<double> values) {
  std::string text;
  for (double value : values)
    text += (text.empty() ? "" : " ") + toText(value);
  return text;
}

std::string nb::valueAt(Frame &frame, Slot slot, int64_t lane) {
  int64_t at = slot.varying ? lane : 0, stride = slot.varying ? laneStride : 1;
  if (slot.kind == Kind::Integer)
    return std::to_string(frame.integers(slot)[at]);
  SmallVector<double, 9> values;
  for (int64_t c = 0; c < slot.components; ++c)
    values.push_back(frame.reals(slot)[c * stride + at]);
  return toText(values);
}
