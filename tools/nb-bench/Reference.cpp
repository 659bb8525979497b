#include "tools/nb-bench/Reference.h"

#include "tools/nb-bench/ChildProcess.h"

#include <fstream>
#include <iterator>
#include <system_error>

namespace nanobragg {

namespace fs = std::filesystem;

Reference::Reference(fs::path program, fs::path folder)
    : program(fs::absolute(program)), folder(std::move(folder)) {}

double Reference::run(std::vector<std::string> words, int threads) const {
  words.insert(words.end(), {"-floatfile", "floatimage.bin", "-nonoise", "-nopgm", "-noprogress"});
  // Without -hkl the C program would read what a run with it left behind.
  std::error_code none;
  fs::remove(folder / "Fdump.bin", none);
  return runChild(program, std::move(words), folder,
                  {{"OMP_NUM_THREADS", std::to_string(threads)}});
}

double Reference::runStartup(std::vector<std::string> words, int threads) const {
  words.insert(words.end(), {"-roi", "0", "0", "0", "0"});
  return run(std::move(words), threads);
}

std::string Reference::compiler() const {
  std::ifstream file(program, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  // The note that gcc leaves in the section .comment.
  const std::size_t at = bytes.find("GCC: (");
  if (at == bytes.npos)
    return "";
  const std::string note(bytes.c_str() + at);
  return "gcc" + note.substr(note.rfind(' '));
}

} // namespace nanobragg
