// How many threads can be asked for.
#ifndef NANOBRAGG_PARALLEL_MOSTTHREADS_H
#define NANOBRAGG_PARALLEL_MOSTTHREADS_H

namespace nanobragg {

/// More threads than any machine has processors; each costs memory.
constexpr int mostThreads = 4096;

} // namespace nanobragg
#endif
