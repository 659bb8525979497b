// The C program as a stopwatch sees it.
#ifndef NANOBRAGG_NBBENCH_REFERENCE_H
#define NANOBRAGG_NBBENCH_REFERENCE_H

#include <filesystem>
#include <string>
#include <vector>

namespace nanobragg {

class Reference {
public:
  /// Runs `program` inside `folder`, where it leaves its files.
  Reference(std::filesystem::path program, std::filesystem::path folder);

  /// Wall-clock seconds of a whole run with OMP_NUM_THREADS set. Throws std::runtime_error unless
  /// the program succeeds.
  double run(std::vector<std::string> words, int threads) const;

  /// The same for a single pixel: all that is not the loop over pixels.
  double runStartup(std::vector<std::string> words, int threads) const;

  /// Name and version of the compiler that it was built with, when the file says so.
  std::string compiler() const;

  std::string name() const { return program.filename().string(); }

  std::filesystem::path floatImage() const { return folder / "floatimage.bin"; }

private:
  std::filesystem::path program, folder;
};

} // namespace nanobragg
#endif
