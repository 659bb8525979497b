// The C program's Fdump.bin.
#ifndef NANOBRAGG_FORMATS_DUMPFILE_H
#define NANOBRAGG_FORMATS_DUMPFILE_H

#include "lib/Experiment/Experiment.h"
#include "lib/Files/OutputFile.h"

#include <string>

namespace nanobragg::io {

/// Reads six bounds, a newline, a form feed and the nodes as native doubles. The file stores one
/// more plane along each axis than the bounds say; these are dropped.
HklGrid readDump(const std::string &path);

/// Writes what readDump and the C program read, the extra planes as zeros.
void writeDump(OutputFile &out, const HklGrid &grid);

} // namespace nanobragg::io
#endif
