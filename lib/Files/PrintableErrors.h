// Messages that libraries write to standard error about text of others, made printable.
#ifndef NANOBRAGG_FILES_PRINTABLEERRORS_H
#define NANOBRAGG_FILES_PRINTABLEERRORS_H

#include <string_view>

namespace nanobragg::io {

/// Whether messages that quote this text may hold more than a terminal prints: by a byte of it, or
/// by one that \ stands for.
bool mayHoldUnprintable(std::string_view text);

/// From now on, lines that this process writes to standard error come out as printable() makes them
/// and in full; tabs stay. A process of its own hands them on, also those of a process that
/// crashes. Before there are threads; a second call does nothing.
void makeErrorsPrintable();

} // namespace nanobragg::io
#endif
