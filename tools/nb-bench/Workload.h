//===- Workload.h - what is measured ----------------------------*- C++ -*-===//
#ifndef NANOBRAGG_NBBENCH_WORKLOAD_H
#define NANOBRAGG_NBBENCH_WORKLOAD_H

#include <filesystem>
#include <string>
#include <vector>

namespace nanobragg {

/// A folder of its own under the system's temporary directory, removed with its contents.
class ScratchFolder {
public:
  ScratchFolder();
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder &) = delete;
  const std::filesystem::path &path() const { return folder; }

private:
  std::filesystem::path folder;
};

/// Structure factors for every reflection that the workload's detector sees, always the same.
void writeReflections(const std::filesystem::path &path);

struct Workload {
  std::string shape = "square"; ///< square, round, gauss or tophat
  int pixels = 1024;            ///< along each edge
  int domains = 10;
  std::filesystem::path hkl;

  /// Flags that both programs understand.
  std::vector<std::string> words() const;
};

} // namespace nanobragg
#endif
