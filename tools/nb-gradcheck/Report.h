// The outcome of a check as text.
#ifndef NANOBRAGG_GRADCHECK_REPORT_H
#define NANOBRAGG_GRADCHECK_REPORT_H

#include "tools/nb-gradcheck/Check.h"

#include <span>
#include <string>

namespace nanobragg {

struct EngineReport {
  Engine engine = Engine::Fused;
  CheckResult result;
};

/// A table for people.
std::string checkTable(const EngineReport &report, const CheckOptions &options);

/// One JSON object for all engines.
std::string checkJson(std::span<const EngineReport> reports, const CheckOptions &options);

} // namespace nanobragg
#endif
