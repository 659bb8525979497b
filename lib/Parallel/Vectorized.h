// Loops over pixels for the processor at hand.
#ifndef NANOBRAGG_PARALLEL_VECTORIZED_H
#define NANOBRAGG_PARALLEL_VECTORIZED_H

/// Before a function: it is compiled for several levels of the instruction set, and the best that
/// the processor has is chosen when the program starts. Where the rounding of results matters, the
/// function must not contract products and sums (`#pragma clang fp contract(off)`), so that all
/// levels round alike.
#if defined(__x86_64__) && defined(__clang__) && !__has_feature(address_sanitizer)
#define NB_VECTORIZED __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define NB_VECTORIZED
#endif

/// Before what such functions call: it is compiled for their level.
#define NB_INLINE inline __attribute__((always_inline))

#endif
