// The text that an editor shows of an op or a value of nb programs, beyond what MLIR knows.
#ifndef NB_LSPSERVER_HOVER_H
#define NB_LSPSERVER_HOVER_H

#include "mlir/IR/DialectRegistry.h"

#include <string>

namespace mlir::nb {

/// As Markdown: summary and description (with formula and units) of the op, what the value depends
/// on, unit and meaning of a parameter. Empty where there is nothing to say, or the program cannot
/// be read. Lines and columns count from 0.
std::string hoverText(const std::string &program, unsigned line, unsigned column,
                      const DialectRegistry &registry);

} // namespace mlir::nb

#endif
