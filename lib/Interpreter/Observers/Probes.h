// Statistics of probed values.
#ifndef NB_INTERPRETER_PROBES_H
#define NB_INTERPRETER_PROBES_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace mlir::nb {

/// One component of a probed value; NaN and infinities count as such and nowhere else.
struct Statistics {
  int64_t finite = 0, nan = 0, infinite = 0;
  double min = std::numeric_limits<double>::infinity();
  double max = -std::numeric_limits<double>::infinity();
  double sum = 0;

  void add(double value, int64_t times = 1);
  void merge(const Statistics &other);
  int64_t count() const { return finite + nan + infinite; }
  double mean() const { return sum / double(finite); } ///< NaN when nothing was finite
};

/// The structure factor lookups behind a probe, counted.
struct LookupStatistics {
  int64_t inside = 0, outside = 0;
  Statistics index[3]; ///< h, k, l

  void merge(const LookupStatistics &other);
  double hitRate() const { return double(inside) / double(inside + outside); }
};

struct ProbeStatistics {
  std::string name;
  std::vector<Statistics> components; ///< one, three or nine
  bool isLookup = false;              ///< the probed value is an nb.structure_factor
  LookupStatistics lookup;
};

/// All probes of a program in program order. Totals do not depend on the number of threads.
struct ProbeRecord {
  std::vector<ProbeStatistics> probes;

  void printTable(llvm::raw_ostream &out, size_t mostRows = 60) const;
  void printJson(llvm::raw_ostream &out) const;
};

} // namespace mlir::nb

#endif
