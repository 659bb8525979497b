#include "runtime/gpu/Deal.h"

namespace nanobragg::gpu {

Deal::Deal(const nb_kernel_descriptor &kernel, const RunPlan &plan, const void *const *arguments,
           const RenderedRows &rows, const RunOptions &options)
    : plan(plan), rows(rows), options(options),
      team(kernel.reach ? resolveThreads(options.threads) : 1),
      lit(kernel.reach
              ? std::optional<LitBatches>(std::in_place, kernel, arguments, plan.workspace.get(),
                                          plan.shape, team, plan.leastTiles)
              : std::nullopt),
      portions(plan.portionsOf(launches())),
      sums(plan.sums ? std::int64_t(portions) : 0, plan.accumulatorBytes, "sums over pixels"),
      progress(options.progress, options.progressInterval, totalRows()) {}

std::int64_t Deal::totalRows() const {
  std::int64_t total = 0;
  for (std::size_t i = 0; i != launches(); ++i)
    total += rowsOf(i);
  return total;
}

std::optional<Deal::Portion> Deal::next() {
  if (stops())
    return std::nullopt;
  const std::size_t number = dealt++;
  if (number >= portions)
    return std::nullopt;
  return Portion{number, launches() * number / portions, launches() * (number + 1) / portions};
}

LitBatch Deal::makeList(std::size_t launch) {
  const std::lock_guard lock(making);
  return lit->make(launch);
}

} // namespace nanobragg::gpu
