// A comparison in words and in JSON.
#ifndef NANOBRAGG_NBCOMPARE_REPORT_H
#define NANOBRAGG_NBCOMPARE_REPORT_H

#include "tools/nb-compare/Comparison.h"

#include <string>
#include <vector>

namespace nanobragg {

std::string textReport(const Comparison &comparison, const std::vector<std::string> &failures);
/// The report as JSON. Undefined and infinite numbers are null.
std::string jsonReport(const Comparison &comparison, const std::vector<std::string> &failures);

} // namespace nanobragg
#endif
