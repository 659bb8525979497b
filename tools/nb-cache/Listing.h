// Cached kernels as text and as JSON.
#ifndef NANOBRAGG_NBCACHE_LISTING_H
#define NANOBRAGG_NBCACHE_LISTING_H

#include "runtime/kernels/KernelCache.h"
#include "runtime/kernels/TunedSchedules.h"

#include <string>
#include <vector>

namespace nanobragg {

/// "ready", "stale" (of another compiler or processor; it will be swept in time) or "damaged".
std::string stateOf(const CachedKernel &kernel, const CacheOptions &here);

std::string listAsText(const std::vector<CachedKernel> &kernels, const CacheOptions &here);
std::string listAsJson(const std::vector<CachedKernel> &kernels,
                       const std::vector<KeptSchedule> &schedules, const CacheOptions &here);

/// One paragraph for each, as nb-try --tune has kept it; nothing where there is none.
std::string schedulesAsText(const std::vector<KeptSchedule> &schedules);

std::string showAsText(const CachedKernel &kernel, const CacheOptions &here);
std::string showAsJson(const CachedKernel &kernel, const CacheOptions &here);

} // namespace nanobragg
#endif
