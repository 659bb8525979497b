#include "lib/Frontend/Emitter.h"

using namespace mlir;
using namespace mlir::nb;

Value Emitter::deviate(StringRef name, Distribution distribution, StringRef table,
                       const SampleIndices &at) {
  if (!at.draw)
    return {};
  return op<DeviateOp>(name, distribution, param(table), at.draw, /*inbounds=*/true);
}

Value Emitter::uniform(StringRef name, StringRef table, const SampleIndices &at) {
  return deviate(name, Distribution::uniform, table, at);
}

Value Emitter::normal(StringRef name, StringRef table, const SampleIndices &at) {
  return deviate(name, Distribution::normal, table, at);
}
