//===- Reference.cpp ------------------------------------------------------===//
#include "Reference.h"

#include <chrono>
#include <cstdlib>
#include <fcntl.h>
#include <spawn.h>
#include <stdexcept>
#include <sys/wait.h>
#include <unistd.h>

namespace nanobragg {

Reference::Reference(std::filesystem::path program, std::filesystem::path folder)
    : program(std::filesystem::absolute(program)), folder(std::move(folder)) {}

double Reference::run(std::vector<std::string> words, int threads) const {
  words.insert(words.end(), {"-floatfile", "floatimage.bin", "-nonoise", "-nopgm", "-noprogress"});
  std::vector<char *> arguments{const_cast<char *>(program.c_str())};
  for (std::string &word : words)
    arguments.push_back(word.data());
  arguments.push_back(nullptr);
  setenv("OMP_NUM_THREADS", std::to_string(threads).c_str(), 1);

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addchdir_np(&actions, folder.c_str());
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  const auto start = std::chrono::steady_clock::now();
  pid_t child = 0;
  const int failed =
      posix_spawn(&child, program.c_str(), &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failed)
    throw std::runtime_error("cannot start " + program.string());
  int status = 0;
  waitpid(child, &status, 0);
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start;
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
    throw std::runtime_error(program.string() + " failed; run it by hand with the workload's flags "
                                                "to see why");
  return passed.count();
}

double Reference::runStartup(std::vector<std::string> words, int threads) const {
  words.insert(words.end(), {"-roi", "0", "0", "0", "0"});
  return run(std::move(words), threads);
}

} // namespace nanobragg
