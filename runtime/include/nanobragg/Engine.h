//===- Engine.h - what runs a program ---------------------------*- C++ -*-===//
#ifndef NANOBRAGG_ENGINE_H
#define NANOBRAGG_ENGINE_H

namespace nanobragg {

/// A compiled kernel, or the reference interpreter.
enum class Engine { Fused, Interpreter };

/// True when NANOBRAGG_DISABLE_COMPILE or NANOBRAG_DISABLE_COMPILE (both spellings are in use) is
/// set to anything but nothing and "0".
bool compilationDisabled();

} // namespace nanobragg
#endif
