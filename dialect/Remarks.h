// Remarks of passes, such that every reader finds their place.
//
// The place of a value with a name is a NameLoc around its place in the file. LLVM's formats of
// remarks take a bare place only; so that is what remarks get, and name and flags as values of
// theirs.
#ifndef NB_REMARKS_H
#define NB_REMARKS_H

#include "dialect/FlagLocations.h"

#include "mlir/IR/Location.h"
#include "mlir/IR/Remarks.h"

namespace mlir::nb {

/// The keys of the value's name and of its flags among what a remark says.
inline constexpr llvm::StringLiteral remarkValueKey = "Value", remarkFlagsKey = "Flags";

namespace detail {
using Emit = remark::detail::InFlightRemark(Location, remark::RemarkOpts);

inline remark::detail::InFlightRemark remarkAt(Location loc, remark::RemarkOpts opts, Emit emit) {
  auto place = loc->findInstanceOf<FileLineColLoc>();
  auto said = emit(place ? Location(place) : loc, opts);
  if (auto name = loc->findInstanceOf<NameLoc>(); name && place)
    said << remark::metric(remarkValueKey, name.getName().getValue());
  if (const llvm::StringRef flags = flagsAt(loc); !flags.empty())
    said << remark::metric(remarkFlagsKey, flags);
  return said;
}
} // namespace detail

/// A pass did something; it did not, where it might have.
inline remark::detail::InFlightRemark remarkPassed(Location loc, remark::RemarkOpts opts) {
  return detail::remarkAt(loc, opts, remark::passed);
}
inline remark::detail::InFlightRemark remarkMissed(Location loc, remark::RemarkOpts opts) {
  return detail::remarkAt(loc, opts, remark::missed);
}

/// There was nothing for the pass to do in the function, or in a module without a name.
inline void remarkNothing(Location loc, llvm::StringRef pass, llvm::StringRef function,
                          llvm::StringRef why) {
  remarkMissed(loc, remark::RemarkOpts::name("nothing").category(pass).function(function)) << why;
}

} // namespace mlir::nb

#endif
