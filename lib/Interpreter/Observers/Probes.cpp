#include "lib/Interpreter/Observers/Probes.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/JSON.h"

#include <algorithm>
#include <cmath>

using namespace mlir::nb;

void Statistics::add(double value, int64_t times) {
  if (std::isnan(value)) {
    nan += times;
  } else if (std::isinf(value)) {
    infinite += times;
  } else {
    finite += times;
    min = std::min(min, value);
    max = std::max(max, value);
    sum += value * double(times);
  }
}

void Statistics::merge(const Statistics &other) {
  finite += other.finite;
  nan += other.nan;
  infinite += other.infinite;
  min = std::min(min, other.min);
  max = std::max(max, other.max);
  sum += other.sum;
}

void LookupStatistics::merge(const LookupStatistics &other) {
  inside += other.inside;
  outside += other.outside;
  for (int i = 0; i < 3; ++i)
    index[i].merge(other.index[i]);
}

/// .x and the like, for values of several components.
static std::string suffix(size_t components, size_t i) {
  static const char *axes[] = {".x", ".y", ".z"};
  if (components == 3)
    return axes[i];
  if (components == 9)
    return "[" + std::to_string(i / 3) + "," + std::to_string(i % 3) + "]";
  return "";
}

void ProbeRecord::printTable(llvm::raw_ostream &out, size_t mostRows) const {
  out << "probe                            count          min          max         mean      NaN"
         "      inf\n";
  size_t rows = 0, all = 0;
  for (const ProbeStatistics &probe : probes)
    for (size_t i = 0; i < probe.components.size(); ++i) {
      if (++all > mostRows)
        continue;
      ++rows;
      const Statistics &s = probe.components[i];
      std::string name = probe.name + suffix(probe.components.size(), i);
      out << llvm::format("%-26s %11lld", name.c_str(), (long long)s.count());
      if (s.finite)
        out << llvm::format(" %12.6g %12.6g %12.6g", s.min, s.max, s.mean());
      else
        out << "            -            -            -";
      out << llvm::format(" %8lld %8lld\n", (long long)s.nan, (long long)s.infinite);
    }
  if (all > rows)
    out << "... and " << all - rows << " rows more; --json prints all, a narrower pattern fewer\n";
  for (const ProbeStatistics &probe : probes) {
    const LookupStatistics &l = probe.lookup;
    if (!probe.isLookup || l.inside + l.outside == 0)
      continue;
    out << probe.name << ": " << l.inside << " lookups in range, " << l.outside << " out of range"
        << llvm::format(" (hit rate %.4g%%)", 100 * l.hitRate());
    for (int i = 0; i < 3; ++i)
      out << llvm::format(", %c %g to %g", "hkl"[i], l.index[i].min, l.index[i].max);
    out << "\n";
  }
}

static llvm::json::Value number(double x) {
  return std::isfinite(x) ? llvm::json::Value(x) : llvm::json::Value(nullptr);
}

static llvm::json::Object toJson(const Statistics &s) {
  return llvm::json::Object{{"count", s.count()},   {"min", number(s.min)},
                            {"max", number(s.max)}, {"mean", number(s.mean())},
                            {"nan", s.nan},         {"inf", s.infinite}};
}

void ProbeRecord::printJson(llvm::raw_ostream &out) const {
  llvm::json::Array all;
  for (const ProbeStatistics &probe : probes) {
    llvm::json::Array components;
    for (const Statistics &s : probe.components)
      components.push_back(toJson(s));
    llvm::json::Object entry{{"name", probe.name}, {"components", std::move(components)}};
    if (probe.isLookup) {
      const LookupStatistics &l = probe.lookup;
      llvm::json::Object lookup{
          {"in_range", l.inside}, {"out_of_range", l.outside}, {"hit_rate", number(l.hitRate())}};
      for (int i = 0; i < 3; ++i)
        lookup[std::string(1, "hkl"[i])] =
            llvm::json::Array{number(l.index[i].min), number(l.index[i].max)};
      entry["lookups"] = std::move(lookup);
    }
    all.push_back(std::move(entry));
  }
  out << llvm::formatv("{0:2}", llvm::json::Value(llvm::json::Object{{"probes", std::move(all)}}))
      << "\n";
}
