// The file of --trace-events.
#ifndef NANOBRAGG_TOOLS_TRACEFILE_H
#define NANOBRAGG_TOOLS_TRACEFILE_H

#include "lib/Files/OutputFile.h"
#include "lib/Trace/Trace.h"

#include <optional>
#include <string>

namespace nanobragg {

/// Records the process's work from `began` on, and writes it when told so. Nothing without a name.
class TraceFile {
public:
  /// Opens the file, so that one that cannot be written is refused before the work. Throws
  /// io::FileError.
  TraceFile(const std::optional<std::string> &name, std::string program,
            trace::Clock::time_point began);
  /// Ends the record. Throws io::FileError.
  void commit();

private:
  std::optional<io::OutputFile> file;
  std::string program;
  trace::Clock::time_point began;
};

} // namespace nanobragg
#endif
