// How many threads does the system let us have?
#ifndef NANOBRAGG_RUNTIME_STARTABLETHREADS_H
#define NANOBRAGG_RUNTIME_STARTABLETHREADS_H

namespace nanobragg {

/// `wanted`, or fewer where the system refuses to start as many (`ulimit -u`, a container's limit,
/// no memory for their stacks); this thread counts, so at least 1. Found by starting them, for the
/// interpreter: oneTBB ends the process when it is refused one. Once for each number that had not
/// been reached before.
int startableThreads(int wanted);

} // namespace nanobragg
#endif
