#include "lib/Files/TraceFile.h"

#include "lib/Files/OutputFile.h"
#include "lib/Process/Environment.h"

#include <memory>
#include <unistd.h>

namespace nanobragg::trace {

namespace {

struct Output {
  io::OutputFile file;
  Clock::time_point began;
  pid_t process;
};

/// Never freed: a copy of the process that ends must not remove the temporary.
std::unique_ptr<Output> &output() {
  static auto &output = *new std::unique_ptr<Output>;
  return output;
}

std::unique_ptr<Output> takeOutput() {
  if (!output() || output()->process != ::getpid())
    return nullptr;
  return std::move(output());
}

} // namespace

std::string fileOfEnvironment() { return std::string(environmentVariable("NB_TRACE_EVENTS")); }

void recordTo(const std::string &file, Clock::time_point began) {
  std::string name = file;
  for (std::size_t at = 0; (at = name.find("%p", at)) != name.npos;)
    name.replace(at, 2, std::to_string(::getpid()));
  output() = std::make_unique<Output>(io::OutputFile(name), began, ::getpid());
  start(began);
}

void writeRecord(const std::string &program) {
  const auto written = takeOutput();
  if (!written)
    return;
  add("run", program, "", written->began, Clock::now(), ownLane());
  written->file.write(finish(program));
  written->file.commit();
}

void dropRecord() {
  if (takeOutput())
    finish("");
}

} // namespace nanobragg::trace
