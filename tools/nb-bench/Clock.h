// The clock of the processor.
#ifndef NANOBRAGG_NBBENCH_CLOCK_H
#define NANOBRAGG_NBBENCH_CLOCK_H

#include <optional>

namespace nanobragg {

/// Cycles per nanosecond, by multiplications that each wait for the one before
/// and take three cycles, on processors of Intel since 2008 and of AMD since 2017: virtual machines
/// rarely have a counter of cycles. Takes about a millisecond. Nothing on processors other than
/// x86-64.
std::optional<double> measureClock();

} // namespace nanobragg
#endif
