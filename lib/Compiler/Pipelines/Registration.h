// The dialect and the passes of this project for an MLIR program of one's own.
//
// Installed as nanobragg/mlir/Registration.h; docs/examples/my-opt is such a program.
#ifndef NANOBRAGG_MLIR_REGISTRATION_H
#define NANOBRAGG_MLIR_REGISTRATION_H

namespace mlir {
class DialectRegistry;

namespace nb {

/// Adds the nb dialect and the transform ops of its schedules; of MLIR's dialects, those that they
/// depend on.
void registerAllDialects(DialectRegistry &registry);

/// Makes the nb-to-nb passes, the conversions and the named pipelines known to the pass registry of
/// the process. To be called once.
void registerAllPasses();

} // namespace nb
} // namespace mlir

#endif
