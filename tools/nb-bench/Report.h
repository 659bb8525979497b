// Measurements as text, Markdown and JSON.
#ifndef NANOBRAGG_NBBENCH_REPORT_H
#define NANOBRAGG_NBBENCH_REPORT_H

#include "tools/nb-bench/Machine.h"
#include "tools/nb-bench/Measurement.h"
#include "tools/nb-bench/Starts.h"

#include <string>
#include <vector>

namespace nanobragg {

struct BenchReport {
  Machine machine;
  std::string command;   ///< that measures it again
  std::string target;    ///< the target that the kernels were compiled for
  std::string reference; ///< program and compiler; empty: none
  int repeat = 0;
  double loadSeconds = 0; ///< for loading the compiler library
  std::vector<Measurement> rows;
  std::vector<Starts> starts;

  std::string toMarkdown() const;
  std::string toJson() const;
};

/// One line of the table on the screen, and its heading.
std::string tableHeading(bool reference);
std::string tableLine(const Measurement &row);
std::string startsHeading();
std::string startsLine(const Starts &starts);

} // namespace nanobragg
#endif
