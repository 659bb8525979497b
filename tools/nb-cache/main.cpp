// Nb-cache: what compiled kernels are kept.

#include "tools/nb-cache/Listing.h"
#include "tools/shared/ParseExit.h"

#include <CLI/CLI.hpp>

#include <cstdio>
#include <exception>
#include <stdexcept>

using namespace nanobragg;

namespace {

enum ExitStatus { Success = 0, Failure = 1, UsageFailure = 2, Damaged = 3 };

const CachedKernel &select(const std::vector<CachedKernel> &kernels, const std::string &key) {
  const CachedKernel *found = nullptr;
  for (const CachedKernel &kernel : kernels) {
    if (!kernel.key.starts_with(key))
      continue;
    if (found)
      throw std::runtime_error("several kernels have a key that begins with '" + key +
                               "'; give more of its digits");
    found = &kernel;
  }
  if (!found)
    throw std::runtime_error("no kernel has a key that begins with '" + key +
                             "'; nb-cache list prints all of them");
  return *found;
}

void print(const std::string &text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0)
    throw std::runtime_error("cannot write to standard output");
}

int verify(const std::vector<CachedKernel> &kernels, const CacheOptions &here, bool json) {
  std::vector<CachedKernel> damaged;
  for (const CachedKernel &kernel : kernels)
    if (!kernel.problem.empty())
      damaged.push_back(kernel);
  if (json) {
    print(listAsJson(damaged, {}, here));
  } else {
    for (const CachedKernel &kernel : damaged)
      print(kernel.key + ": " + kernel.problem + "\n");
    print(std::to_string(kernels.size()) + " checked, " + std::to_string(damaged.size()) +
          " damaged" + (damaged.empty() ? "" : "; they are replaced when they are next needed") +
          "\n");
  }
  return damaged.empty() ? Success : Damaged;
}

} // namespace

int main(int argc, char **argv) {
  CLI::App app("Looks after the compiled kernels that nb-sim keeps.", "nb-cache");
  addVersion(app);
  app.footer("Environment:\n"
             "  NB_CACHE_DIR   the folder (default: nanobragg in XDG_CACHE_HOME or ~/.cache)\n"
             "  NB_CACHE_SIZE  the bytes to keep at most, as 256M, which is the default\n"
             "  NB_CACHE=off   nb-sim keeps no kernels\n"
             "Exit status: 0; 1: the folder cannot be used or the key is unknown; 2: usage; "
             "3: verify found damage.");
  app.require_subcommand(1);
  bool json = false;
  std::string key;
  const auto command = [&](const char *name, const char *help) {
    CLI::App *sub = app.add_subcommand(name, help);
    sub->add_flag("--json", json, "print JSON");
    return sub;
  };
  const CLI::App *list =
      command("list", "one line for each kernel, and the schedules of nb-try --tune");
  CLI::App *show = command("show", "what one kernel was compiled for");
  show->add_option("KEY", key, "its key, or as many digits as tell it from others")->required();
  const CLI::App *clear = command("clear", "delete all kernels, schedules and reflection lists");
  command("verify", "check every kernel; a damaged one harms nothing");
  try {
    app.parse(argc, argv);
    const CacheOptions here = CacheOptions::fromEnvironment();
    if (here.directory.empty())
      throw std::runtime_error("there is no place for a cache; set NB_CACHE_DIR or HOME");
    KernelCache cache(here);
    if (clear->parsed()) {
      const std::size_t count = cache.clear();
      print(json ? "{\"deleted\": " + std::to_string(count) + "}\n"
                 : std::to_string(count) + (count == 1 ? " file" : " files") + " deleted\n");
      return Success;
    }
    const std::vector<CachedKernel> kernels = cache.list();
    if (list->parsed()) {
      const std::vector<KeptSchedule> schedules = TunedSchedules(here).list();
      print(json ? listAsJson(kernels, schedules, here)
                 : listAsText(kernels, here) + schedulesAsText(schedules));
    } else if (show->parsed())
      print(json ? showAsJson(select(kernels, key), here) : showAsText(select(kernels, key), here));
    else
      return verify(kernels, here, json);
    return Success;
  } catch (const CLI::ParseError &error) {
    return parseExit(app, error) == 0 ? Success : UsageFailure;
  } catch (const std::exception &error) {
    std::fprintf(stderr, "nb-cache: error: %s\n", printable(error.what()).c_str());
    return Failure;
  }
}
