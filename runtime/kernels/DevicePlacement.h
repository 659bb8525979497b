// Where a request will run.
#ifndef NANOBRAGG_DEVICEPLACEMENT_H
#define NANOBRAGG_DEVICEPLACEMENT_H

#include "runtime/kernels/CompilerLibrary.h"

namespace nanobragg {

/// Finds the GPU that request.choice asks for, or may mean, and sets the request's GPU and target.
/// Throws std::runtime_error, in one sentence, when a GPU is asked for and cannot be had. Nothing
/// is looked for when the interpreter will render.
void findDevice(KernelRequest &request);

/// The same request for the processor; to be used when nobody insists on the GPU.
KernelRequest onProcessor(KernelRequest request);

} // namespace nanobragg
#endif
