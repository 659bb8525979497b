#include "lib/Process/CodeFolders.h"

#include "lib/Process/TrustedPath.h"

#include <dlfcn.h>
#include <optional>
#include <string_view>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <system_error>

#ifndef NB_INSTALL_LIBDIR
#error                                                                                             \
    "NB_INSTALL_LIBDIR is the directory that libnb-compiler.so is installed to; empty: none is known"
#endif

namespace nanobragg {

namespace fs = std::filesystem;

namespace {

/// Empty when the system does not say.
fs::path runningProgram() {
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  if (!error)
    return program;
  // A root folder without /proc: what the program was called, where that is a full path.
  const auto *called = reinterpret_cast<const char *>(::getauxval(AT_EXECFN));
  return called && fs::path(called).is_absolute() ? fs::canonical(called, error) : fs::path();
}

/// The shared library that this code is in; empty when it is linked into the program.
fs::path ownLibrary() {
  Dl_info here;
  if (!::dladdr(reinterpret_cast<void *>(&runningProgram), &here) || !here.dli_fname)
    return {};
  // The dynamic loader calls the program as it was called, which may mean something else by now.
  const fs::path named = here.dli_fname;
  std::error_code error;
  const fs::path file = named.is_absolute() ? fs::canonical(named, error) : fs::path();
  return error || file == runningProgram() ? fs::path() : file;
}

struct Place {
  fs::path folder;
  bool chosenAtBuild = false;
  std::optional<uid_t> owner{}; ///< who could change the code that is running already
};

std::vector<fs::path> &addedFolders() {
  static std::vector<fs::path> folders;
  return folders;
}

std::vector<Place> places() {
  std::vector<Place> all;
  if (const fs::path library = ownLibrary(); !library.empty()) {
    struct stat status;
    const bool known = ::stat(library.c_str(), &status) == 0;
    all.push_back(
        {library.parent_path(), false, known ? std::optional(status.st_uid) : std::nullopt});
  }
  const std::optional<uid_t> owner = all.empty() ? std::nullopt : all.front().owner;
  for (const fs::path &folder : addedFolders())
    all.push_back({folder, false, owner});
  if (const fs::path program = runningProgram();
      program.is_absolute() && program.parent_path().filename() == "bin")
    all.push_back({program.parent_path().parent_path() / "lib"});
  if constexpr (!std::string_view(NB_INSTALL_LIBDIR).empty())
    all.push_back({NB_INSTALL_LIBDIR, true});
  return all;
}

} // namespace

void addCodeFolder(const fs::path &folder) { addedFolders().push_back(folder); }

CodeSearch findCode(const fs::path &name) {
  CodeSearch search;
  for (const Place &place : places()) {
    const fs::path path = place.folder / name;
    std::error_code ignored;
    if (!fs::exists(path, ignored))
      continue;
    if (place.chosenAtBuild) {
      search.found.push_back(path);
      continue;
    }
    TrustedPath trusted = trustPath(path, place.owner);
    if (trusted.path.empty())
      search.refused.push_back(path.string() + " is not used: " + trusted.problem);
    else
      search.found.push_back(std::move(trusted.path));
  }
  return search;
}

std::vector<fs::path> codeFolders() {
  std::vector<fs::path> folders;
  for (const Place &place : places())
    folders.push_back(place.folder);
  return folders;
}

} // namespace nanobragg
