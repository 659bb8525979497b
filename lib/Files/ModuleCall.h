// Calls into a library that is opened on demand.
//
// Exceptions do not leave such a library: programs may have a C++ runtime of their own inside of
// them. Errors that are thrown there travel as text.
#ifndef NANOBRAGG_FILES_MODULECALL_H
#define NANOBRAGG_FILES_MODULECALL_H

#include "lib/Files/FileError.h"

#include <exception>
#include <string>

namespace nanobragg::io {

/// In the library: what `action` throws is put into `error`. False: it threw.
template <typename Action>
bool caught(std::string &error, Action &&action) noexcept {
  try {
    action();
    return true;
  } catch (const std::exception &exception) {
    error = exception.what();
  } catch (...) {
    error = "failed without saying why";
  }
  return false;
}

/// In the program: throws a FileError with the text where `call`, which is given room for it, is
/// false.
template <typename Call>
void rethrown(Call &&call) {
  std::string error;
  if (!call(error))
    throw FileError(error);
}

} // namespace nanobragg::io
#endif
