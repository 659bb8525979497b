#include "tools/shared/Main.h"

#include "lib/CommandLine/UsageError.h"
#include "lib/IO/InterruptGuard.h"

#include <cstdio>
#include <exception>
#include <new>

namespace nanobragg {

int print(const std::string &text) {
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  return written && std::fflush(stdout) == 0 ? Success : Failure;
}

int runTool(const char *name, const char *helpFlag, int argc, char **argv,
            int (*work)(const std::vector<std::string> &words)) {
  const auto report = [&](const char *problem, ExitStatus status) {
    std::fflush(stdout);
    std::fprintf(stderr, "%s: error: %s\n", name, problem);
    if (status == UsageFailure)
      std::fprintf(stderr, "%s %s lists its flags\n", name, helpFlag);
    return status;
  };
  try {
    const io::InterruptGuard interrupt(name);
    return work({argv + 1, argv + argc});
  } catch (const UsageError &error) {
    return report(error.what(), UsageFailure);
  } catch (const std::bad_alloc &) {
    return report("out of memory; render fewer pixels (-detpixels, -roi) or a smaller "
                  "structure-factor grid",
                  Failure);
  } catch (const std::exception &error) {
    return report(error.what(), Failure);
  }
}

} // namespace nanobragg
