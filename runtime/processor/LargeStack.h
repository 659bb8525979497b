// Room for code that calls itself deeply.
#ifndef NANOBRAGG_RUNTIME_LARGESTACK_H
#define NANOBRAGG_RUNTIME_LARGESTACK_H

#include <functional>

namespace nanobragg {

/// Runs `work` and waits for it: here when this thread has the stack that the compiler and the
/// interpreter need, else, where `ulimit -s` or the creator of the thread has left less, on a
/// thread that has. Exceptions arrive here. Throws std::runtime_error when no such thread can be
/// started.
void onLargeStack(const std::function<void()> &work);

} // namespace nanobragg
#endif
