//===- Workload.cpp -------------------------------------------------------===//
#include "Workload.h"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <system_error>

namespace nanobragg {

namespace fs = std::filesystem;

ScratchFolder::ScratchFolder() {
  std::string name = (fs::temp_directory_path() / "nb-bench-XXXXXX").string();
  if (!mkdtemp(name.data()))
    throw std::runtime_error("cannot create a folder in " + fs::temp_directory_path().string());
  folder = name;
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  fs::remove_all(folder, ignored);
}

void writeReflections(const fs::path &path) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE *)> file(std::fopen(path.c_str(), "w"),
                                                              std::fclose);
  if (!file)
    throw std::runtime_error("cannot write " + path.string());
  // The cell is 50 x 60 x 70 A and the corner of the detector is at 1.6 A.
  constexpr int h = 32, k = 38, l = 44;
  std::uint32_t random = 1;
  for (int i = -h; i <= h; ++i)
    for (int j = -k; j <= k; ++j)
      for (int m = -l; m <= l; ++m) {
        random = random * 1664525u + 1013904223u;
        std::fprintf(file.get(), "%d %d %d %.2f\n", i, j, m, (random >> 16) / 100.0);
      }
  if (std::ferror(file.get()))
    throw std::runtime_error("cannot write " + path.string());
}

std::vector<std::string> Workload::words() const {
  std::ostringstream text;
  text << "-cell 50 60 70 90 90 90 -misset 10 20 30 -N 10 -mosaic 0.5 -mosaic_domains " << domains
       << " -lambda 1 -distance 100 -pixel " << 102.4 / pixels << " -detpixels " << pixels
       << " -oversample 1 -nointerpolate "
       << (shape == "tophat" ? "-tophat_spots" : "-" + shape + "_xtal");
  std::istringstream stream(text.str());
  std::vector<std::string> words{"-hkl", hkl.string()}; // a path may contain blanks
  words.insert(words.end(), std::istream_iterator<std::string>(stream), {});
  return words;
}

} // namespace nanobragg
