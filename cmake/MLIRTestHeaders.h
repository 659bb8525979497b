/* Precompiled once for all unit tests over MLIR. */
#include "cmake/MLIRHeaders.h"
#include "cmake/TestHeaders.h"
