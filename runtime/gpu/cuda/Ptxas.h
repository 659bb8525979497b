// The assembler for NVIDIA's chips.
#ifndef NANOBRAGG_RUNTIME_CUDA_PTXAS_H
#define NANOBRAGG_RUNTIME_CUDA_PTXAS_H

#include <string>

namespace nanobragg::cuda {

/// The program that makes cubin of PTX: NB_PTXAS if that is set ("off": none), else ptxas in PATH,
/// in CUDA_HOME/bin or in /usr/local/cuda/bin. Empty: there is none, and the driver of the GPU has
/// to do it. Relative folders of PATH are passed over. Throws std::runtime_error when NB_PTXAS
/// names no program, or not by an absolute path.
std::string findPtxas();

} // namespace nanobragg::cuda
#endif
