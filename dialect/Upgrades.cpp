#include "dialect/Upgrades.h"

using namespace mlir;
using namespace mlir::nb;

ArrayRef<DialectUpgrade> nb::dialectUpgrades() { return {}; }

LogicalResult nb::upgrade(Operation *top, uint64_t version, ArrayRef<DialectUpgrade> steps) {
  for (const DialectUpgrade &step : steps)
    if (step.from >= version && failed(step.run(top)))
      return failure();
  return success();
}
