// From a program variant to an nb program.
#ifndef NB_FRONTEND_FRONTEND_H
#define NB_FRONTEND_FRONTEND_H

#include "lib/Experiment/ProgramVariant.h"
#include "nanobragg/CullSetting.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace mlir::nb {

/// Loads the dialects that buildProgram uses.
void loadFrontendDialects(MLIRContext &context);

/// A module with one function, @image, which computes the image of any experiment of this
/// variant. Its arguments are `parametersOf(variant)` in order, each with its name and unit as
/// attributes `nb.name` and `nb.unit` and its name as location. The physics is written as the
/// formulas have it, every term in the innermost body; no value is hoisted or shared on purpose.
/// Which samples may be left out is an attribute of the function.
OwningOpRef<ModuleOp> buildProgram(MLIRContext &context, const nanobragg::ProgramVariant &variant,
                                   const nanobragg::CullSetting &cull = {});

} // namespace mlir::nb

#endif
