// The engines that run a program.
#ifndef NANOBRAGG_ENGINE_H
#define NANOBRAGG_ENGINE_H

/// Marks the part of the C++ interface that libnanobragg.so exports.
#if defined(__GNUC__)
#define NB_CPP_API __attribute__((visibility("default")))
#else
#define NB_CPP_API
#endif

namespace nanobragg {

/// A compiled kernel, or the reference interpreter.
enum class Engine { Fused, Interpreter };

/// True when NANOBRAGG_DISABLE_COMPILE or NANOBRAG_DISABLE_COMPILE (both spellings are in use) is
/// set to a value other than "" and "0".
bool compilationDisabled();

} // namespace nanobragg
#endif
