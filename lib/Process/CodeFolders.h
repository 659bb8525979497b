// Where this installation keeps the code that it opens when it needs it.
#ifndef NANOBRAGG_RUNTIME_CODEFOLDERS_H
#define NANOBRAGG_RUNTIME_CODEFOLDERS_H

#include <filesystem>
#include <string>
#include <vector>

namespace nanobragg {

/// Files and folders that exist and that nobody but root and the user can change, with symbolic
/// links followed, in the order of the places they were found in; and why others were left alone.
struct CodeSearch {
  std::vector<std::filesystem::path> found{};
  std::vector<std::string> refused{};
};

/// Looks for `name` in, one after another: the folder of the library that this code is part of
/// (libnanobragg.so); folders that were added; lib beside the bin folder of the running program;
/// the folder that was chosen when the program was built. See trustPath for what is refused. The
/// last is taken as it is.
CodeSearch findCode(const std::filesystem::path &name);

/// One more folder for this process, of a package that brings code along. Not while others search.
void addCodeFolder(const std::filesystem::path &folder);

/// The folders in which findCode looks, for messages.
std::vector<std::filesystem::path> codeFolders();

} // namespace nanobragg
#endif
