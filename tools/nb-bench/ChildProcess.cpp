#include "tools/nb-bench/ChildProcess.h"

#include "runtime/processor/Stopwatch.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdexcept>
#include <string_view>
#include <sys/wait.h>
#include <unistd.h>

namespace nanobragg {
namespace {

std::vector<char *> pointersTo(std::vector<std::string> &words) {
  std::vector<char *> pointers;
  for (std::string &word : words)
    pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return pointers;
}

std::vector<std::string> environmentWith(const std::map<std::string, std::string> &additions) {
  std::vector<std::string> result;
  for (char **entry = environ; *entry; ++entry) {
    const std::string_view text = *entry;
    if (!additions.contains(std::string(text.substr(0, text.find('=')))))
      result.emplace_back(text);
  }
  for (const auto &[name, value] : additions)
    result.push_back(name + "=" + value);
  return result;
}

} // namespace

double runChild(const std::filesystem::path &program, std::vector<std::string> words,
                const std::filesystem::path &folder,
                const std::map<std::string, std::string> &environment) {
  words.insert(words.begin(), program.string());
  std::vector<std::string> variables = environmentWith(environment);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addchdir_np(&actions, folder.c_str());
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  const Stopwatch sinceStart;
  pid_t child = 0;
  const int failed = posix_spawn(&child, program.c_str(), &actions, nullptr,
                                 pointersTo(words).data(), pointersTo(variables).data());
  posix_spawn_file_actions_destroy(&actions);
  if (failed)
    throw std::runtime_error("cannot start " + program.string());
  int status = 0;
  ::waitpid(child, &status, 0);
  const double seconds = sinceStart.seconds();
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
    return seconds;
  std::string command;
  for (const std::string &word : words)
    command += (command.empty() ? "" : " ") + word;
  throw std::runtime_error("this failed; run it by hand to see why: " + command);
}

} // namespace nanobragg
