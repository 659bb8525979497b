// Libraries that are opened when a file needs them.
#ifndef NANOBRAGG_FILES_MODULE_H
#define NANOBRAGG_FILES_MODULE_H

namespace nanobragg::io {

/// The interface that the shared library `file` ("libnb-gemmi.so") exports as `symbol`, a function
/// without arguments. It is looked for where the compiler is (lib/Process/CodeFolders.h) and
/// stays open. `reads` says what for, in the error: "MTZ files". Throws std::runtime_error when it
/// is not there or of another build.
const void *openModule(const char *file, const char *symbol, const char *reads);

} // namespace nanobragg::io
#endif
