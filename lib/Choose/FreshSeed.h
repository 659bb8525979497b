// A seed that no other run has.
#ifndef NANOBRAGG_CHOOSE_FRESHSEED_H
#define NANOBRAGG_CHOOSE_FRESHSEED_H

#include <cstdint>

namespace nanobragg {

/// From 1 to 2^31 - 2, where the generator's states lie. Mixed from the clock in nanoseconds, the
/// process and the system's random numbers, so that frames of a series that are started together,
/// on one machine or many, do not share their noise; the C program's clock in seconds lets them.
std::int64_t freshSeed();

} // namespace nanobragg
#endif
