// Nb-cache: what compiled kernels are kept.

#include "tools/shared/Main.h"
#include "lib/CommandLine/OwnFlags.h"
#include "lib/Files/FileContents.h"
#include "lib/Files/OutputFile.h"
#include "lib/Quantities/ClosestWord.h"
#include "tools/nb-cache/Listing.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <stdexcept>

using namespace nanobragg;

namespace {

constexpr int Damaged = Different;

constexpr std::string_view subcommands[] = {"list", "show", "clear", "verify", "export", "import"};

struct Command {
  bool json = false;
};

constexpr OwnFlag<Command> flags[] = {
    {"--json", "", "print JSON", keeps<&Command::json>},
};

std::string usage() {
  return "usage: nb-cache list|show KEY|clear|verify|export FILE|import FILE [--json]\n\n"
         "Lists, checks, transfers and deletes the compiled kernels that nb-sim caches, and the\n"
         "schedules of nb-try --tune.\n\n"
         "Subcommands:\n"
         "  list      one line for each kernel, and the schedules of nb-try --tune\n"
         "  show KEY  compiler, processor, precision and variant of a kernel; KEY is the "
         "beginning\n"
         "            of its key\n"
         "  export FILE  write all schedules to a JSON file\n"
         "  import FILE  add the schedules of such a file; of two for the same kernel, processor\n"
         "            and shape the faster one is kept\n"
         "  clear     delete all kernels, schedules and reflection lists\n"
         "  verify    check every kernel; damaged ones are reported, and are never run\n\n"
         "Flags:\n" +
         describeOwnFlags<Command>(flags, 14) + describeCommonFlags(14) +
         "\nEnvironment:\n"
         "  NB_CACHE_DIR   the folder (default: nanobragg in XDG_CACHE_HOME or ~/.cache)\n"
         "  NB_CACHE_SIZE  size limit in bytes, or with K, M or G (default: 256M)\n"
         "  NB_CACHE=off   compile every time\n"
         "Exit status: 0; 1: the folder cannot be used or the key is unknown; 2: usage; 3: verify "
         "found damage.\n";
}

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

int verify(const std::vector<CachedKernel> &kernels, const CacheOptions &here, bool json) {
  std::vector<CachedKernel> damaged;
  for (const CachedKernel &kernel : kernels)
    if (!kernel.problem.empty())
      damaged.push_back(kernel);
  std::string text;
  for (const CachedKernel &kernel : damaged)
    text += kernel.key + ": " + kernel.problem + "\n";
  text += std::to_string(kernels.size()) + " checked, " + std::to_string(damaged.size()) +
          " damaged" + (damaged.empty() ? "" : "; they are replaced when they are next needed") +
          "\n";
  const int printed = print(json ? listAsJson(damaged, {}, here) : text);
  return printed == Success && !damaged.empty() ? Damaged : printed;
}

int exportSchedules(const CacheOptions &here, const std::string &name, bool json) {
  const std::vector<KeptSchedule> schedules = TunedSchedules(here).list();
  io::OutputFile file(name);
  file.write(schedulesToJson(schedules));
  file.commit();
  const std::string count = std::to_string(schedules.size());
  return print(json ? "{\"written\": " + count + "}\n"
                    : count + (schedules.size() == 1 ? " schedule" : " schedules") +
                          " written to " + name + "\n");
}

int importSchedules(const CacheOptions &here, const std::string &name, bool json) {
  std::vector<TunedSchedule> schedules;
  const auto text = io::readBytes(name);
  try {
    schedules = schedulesFromJson(text);
  } catch (const std::runtime_error &error) {
    throw std::runtime_error(name + ": " + error.what());
  }
  TunedSchedules database(here);
  std::size_t counts[3] = {}, elsewhere = 0;
  for (const TunedSchedule &schedule : schedules) {
    ++counts[std::size_t(database.merge(schedule))];
    elsewhere += schedule.compiler != here.compilerBuild || schedule.processor != here.hostCpu;
  }
  const auto [added, replaced, left] = counts;
  if (json)
    return print(
        nlohmann::ordered_json{
            {"added", added}, {"replaced", replaced}, {"left", left}, {"elsewhere", elsewhere}}
            .dump() +
        "\n");
  return print(std::to_string(added) + " added, " + std::to_string(replaced) +
               " replaced by one that gains more, " + std::to_string(left) + " left as they are; " +
               std::to_string(elsewhere) + " are for another processor or build of the compiler\n");
}

int run(const std::vector<std::string> &words) {
  Command command;
  const std::vector<std::string> names =
      takeOwnFlags<Command>(flags, words, command, OtherWords::Names);
  if (names.empty())
    throw UsageError("give a subcommand: list, show, clear, verify, export or import");
  const std::string &subcommand = names.front();
  if (std::ranges::find(subcommands, subcommand) == std::end(subcommands))
    throw UsageError("unknown subcommand '" + subcommand + "'; the closest is '" +
                     std::string(closestWord(subcommand, subcommands)) + "'");
  const bool takesFile = subcommand == "export" || subcommand == "import";
  const std::size_t needed = subcommand == "show" || takesFile ? 2 : 1;
  if (names.size() < needed)
    throw UsageError(takesFile ? subcommand + " needs the name of a file"
                               : "show needs a key; nb-cache list prints all of them");
  if (names.size() > needed)
    throw UsageError("unexpected argument '" + names[needed] + "'");
  const CacheOptions here = CacheOptions::fromEnvironment();
  if (here.directory.empty())
    throw std::runtime_error("there is no place for a cache; set NB_CACHE_DIR or HOME");
  if (subcommand == "export")
    return exportSchedules(here, names[1], command.json);
  if (subcommand == "import")
    return importSchedules(here, names[1], command.json);
  KernelCache cache(here);
  if (subcommand == "clear") {
    const std::string count = std::to_string(cache.clear());
    return print(command.json ? "{\"deleted\": " + count + "}\n"
                              : count + (count == "1" ? " file" : " files") + " deleted\n");
  }
  const std::vector<CachedKernel> kernels = cache.list();
  if (subcommand == "verify")
    return verify(kernels, here, command.json);
  if (subcommand == "show") {
    const CachedKernel &kernel = select(kernels, names[1]);
    return print(command.json ? showAsJson(kernel, here) : showAsText(kernel, here));
  }
  const std::vector<KeptSchedule> schedules = TunedSchedules(here).list();
  return print(command.json ? listAsJson(kernels, schedules, here)
                            : listAsText(kernels, here) + schedulesAsText(schedules));
}

} // namespace

int main(int argc, char **argv) { return runTool("nb-cache", usage, argc, argv, run); }
