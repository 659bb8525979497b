// MLIR's language server, whose answers to hovering are completed.
#ifndef NB_LSPSERVER_PROXY_H
#define NB_LSPSERVER_PROXY_H

#include "mlir/IR/DialectRegistry.h"

namespace mlir::nb {

/// Runs MLIR's server, which has no way in for texts of ours, in a process of its own, hands
/// messages on, and adds hoverText to what it says of a place. Returns the exit status.
int serve(int argc, char **argv, const DialectRegistry &registry);

} // namespace mlir::nb

#endif
