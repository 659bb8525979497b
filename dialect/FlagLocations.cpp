#include "dialect/FlagLocations.h"

#include "dialect/Names.h"
#include "lib/Program/FlagOf.h"

#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::nb;

using Flags = FusedLocWith<StringAttr>;

namespace {
/// Flags, and how many ops away they are.
struct Origin {
  unsigned distance = 0;
  llvm::SmallSetVector<StringRef, 4> flags;
};
using Origins = llvm::DenseMap<Value, Origin>;
} // namespace

static Origin nearestOf(Operation *op, const Origins &origins) {
  Origin nearest;
  for (Value operand : op->getOperands()) {
    const auto found = origins.find(operand);
    if (found == origins.end())
      continue;
    const Origin &origin = found->second;
    if (nearest.flags.empty() || origin.distance + 1 < nearest.distance)
      nearest = {origin.distance + 1, origin.flags};
    else if (origin.distance + 1 == nearest.distance)
      nearest.flags.insert_range(origin.flags);
  }
  return nearest;
}

/// The name of a value stays outermost, where printers look for it.
static Location withFlags(Location loc, StringAttr flags) {
  if (auto name = dyn_cast<NameLoc>(loc))
    return NameLoc::get(name.getName(), withFlags(name.getChildLoc(), flags));
  return FusedLoc::get({loc}, flags, loc.getContext());
}

static void locateFlagsOf(FunctionOpInterface function) {
  Origins origins;
  for (BlockArgument argument : function.getArguments())
    if (auto name = function.getArgAttrOfType<StringAttr>(argument.getArgNumber(), names::name))
      if (StringRef flag = nanobragg::flagOf(name.getValue()); !flag.empty())
        origins[argument].flags.insert(flag);
  if (origins.empty())
    return;
  function->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (op == function)
      return;
    const Origin nearest = nearestOf(op, origins);
    if (nearest.flags.empty())
      return;
    for (Value result : op->getResults())
      origins[result] = nearest;
    for (Region &region : op->getRegions())
      for (BlockArgument argument : region.getArguments())
        origins[argument] = nearest;
    if (flagsAt(op->getLoc()).empty())
      op->setLoc(withFlags(op->getLoc(),
                           StringAttr::get(op->getContext(), llvm::join(nearest.flags, ", "))));
  });
}

void nb::locateFlags(Operation *top) {
  top->walk([](FunctionOpInterface function) {
    if (!function.isExternal())
      locateFlagsOf(function);
  });
}

StringRef nb::flagsAt(Location location) {
  auto flags = location->findInstanceOf<Flags>();
  return flags ? flags.getMetadata().getValue() : StringRef();
}
