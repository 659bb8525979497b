// Files that live as long as a test.
#ifndef NANOBRAGG_TEST_IO_TEMPORARYDIRECTORY_H
#define NANOBRAGG_TEST_IO_TEMPORARYDIRECTORY_H

#include "lib/Files/FileError.h"
#include "lib/Files/OutputFile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <string_view>

namespace nanobragg::io {

class TemporaryDirectory {
public:
  TemporaryDirectory() {
    std::string pattern = (std::filesystem::temp_directory_path() / "nb-io-XXXXXX").string();
    if (!::mkdtemp(pattern.data()))
      throw std::runtime_error("no temporary directory");
    root = pattern;
  }
  ~TemporaryDirectory() { std::filesystem::remove_all(root); }
  TemporaryDirectory(const TemporaryDirectory &) = delete;
  TemporaryDirectory &operator=(const TemporaryDirectory &) = delete;

  std::string path(const std::string &name) const { return (root / name).string(); }

  /// Writes a file and returns its path.
  std::string add(const std::string &name, std::string_view bytes) const {
    std::ofstream(path(name), std::ios::binary) << bytes;
    return path(name);
  }

  std::string read(const std::string &name) const {
    std::ifstream file(path(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  std::size_t entryCount() const {
    return std::size_t(std::distance(std::filesystem::directory_iterator(root), {}));
  }

private:
  std::filesystem::path root;
};

/// Fails unless `action` throws a FileError whose text contains `part`.
template <typename Action>
void expectFileError(Action &&action, const std::string &part) {
  try {
    action();
    ADD_FAILURE() << "no FileError, expected: " << part;
  } catch (const FileError &error) {
    EXPECT_THAT(error.what(), testing::HasSubstr(part));
  }
}

} // namespace nanobragg::io
#endif
