// The programs that make machine code for GPUs.
#ifndef NANOBRAGG_TARGET_ASSEMBLER_H
#define NANOBRAGG_TARGET_ASSEMBLER_H

#include <string>
#include <string_view>

namespace nanobragg::gpu {

/// The assembler for this chip, where its vendor's row says. Empty: there is none, and the
/// driver of the GPU has to do its work. Throws std::runtime_error when the environment names a
/// program that is none.
std::string findAssembler(std::string_view chip);

} // namespace nanobragg::gpu
#endif
