// How many threads can be asked for.
#ifndef NANOBRAGG_PARALLEL_MOSTTHREADS_H
#define NANOBRAGG_PARALLEL_MOSTTHREADS_H

namespace nanobragg {

constexpr int mostThreads = 4096;

} // namespace nanobragg
#endif
