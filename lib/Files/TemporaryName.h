// The files that outputs are before they have their name.
#ifndef NANOBRAGG_FILES_TEMPORARYNAME_H
#define NANOBRAGG_FILES_TEMPORARYNAME_H

#include <string>

namespace nanobragg::io {

/// A name that no other output of this process and no other process of this machine has:
/// ".nb-HOST-PROCESS-NUMBER.part", with `ending` ahead of the dot: digits and dashes.
std::string newTemporaryName(const std::string &ending = "");

/// Whether a process of this machine holds a temporary in a directory whose name contains `piece`.
bool isTemporaryHeld(const std::string &directory, const std::string &piece);

/// Locks a temporary for as long as its descriptor or a copy of it is open: tells a sweep that its
/// writer lives. False when a sweep has come between the file's creation and this.
bool holdTemporary(int descriptor);

/// Removes the temporaries in a directory (empty: the working directory) that this user's processes
/// on this machine have left when they were killed. Once per directory and process; what cannot be
/// looked at is left alone.
void sweepTemporaries(const std::string &directory);

} // namespace nanobragg::io
#endif
