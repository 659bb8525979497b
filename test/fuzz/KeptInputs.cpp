// Gives every kept input to its target: inputs/TARGET/*. The last name printed is the one that
// failed.
#include "test/fuzz/FuzzTarget.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

namespace fs = std::filesystem;
using namespace nanobragg::fuzz;

namespace {

std::vector<char> contents(const fs::path &file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

} // namespace

int main(int argc, char **argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s FOLDER-OF-INPUTS\n", argv[0]);
    return 2;
  }
  int missing = 0;
  std::size_t count = 0;
  for (const auto &[name, target] : targets()) {
    std::vector<fs::path> files;
    const fs::path folder = fs::path(argv[1]) / name;
    if (fs::is_directory(folder))
      for (const fs::directory_entry &file : fs::directory_iterator(folder))
        files.push_back(file.path());
    if (files.empty()) {
      std::fprintf(stderr, "%s holds no inputs\n", folder.c_str());
      ++missing;
    }
    std::sort(files.begin(), files.end());
    for (const fs::path &file : files) {
      std::printf("%s/%s\n", name.c_str(), file.filename().c_str());
      std::fflush(stdout);
      target(contents(file));
      ++count;
    }
  }
  std::printf("%zu inputs of %zu targets\n", count, targets().size());
  return missing == 0 ? 0 : 1;
}
