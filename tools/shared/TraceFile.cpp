#include "tools/shared/TraceFile.h"

namespace nanobragg {

TraceFile::TraceFile(const std::optional<std::string> &name, std::string ofProgram,
                     trace::Clock::time_point from)
    : program(std::move(ofProgram)), began(from) {
  if (!name)
    return;
  file.emplace(*name);
  trace::start(began);
  trace::add("run", "read the command line", "", began, trace::Clock::now(), trace::ownLane());
}

void TraceFile::commit() {
  if (!file)
    return;
  trace::add("run", program, "", began, trace::Clock::now(), trace::ownLane());
  file->write(trace::finish(program));
  file->commit();
}

} // namespace nanobragg
