// The remarks of passes about their work.
#ifndef NB_COMPILER_REMARKS_H
#define NB_COMPILER_REMARKS_H

#include "mlir/IR/MLIRContext.h"

#include <functional>
#include <string>

namespace mlir::nb {

struct PassRemark {
  std::string kind; ///< "Passed", "Missed", "Failure" or "Analysis"
  std::string pass, message;
  std::string value; ///< name of the value that it is about; empty: the function
  unsigned line = 0,
           column = 0; ///< in the program's text, from 1 on; 0: it is about no place there
};

/// Gives all remarks of the context's passes to `take`, until it is called again.
LogicalResult collectRemarks(MLIRContext &context, std::function<void(PassRemark)> take);

} // namespace mlir::nb

#endif
