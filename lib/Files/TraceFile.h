// The file that the record of this process (lib/Trace) is written to.
#ifndef NANOBRAGG_FILES_TRACEFILE_H
#define NANOBRAGG_FILES_TRACEFILE_H

#include "lib/Trace/Trace.h"

#include <string>

namespace nanobragg::trace {

/// The file that NB_TRACE_EVENTS names; empty where it names none.
std::string fileOfEnvironment();

/// Opens the file, so that one that cannot be written is refused before the work, and begins the
/// record, whose time counts from `began`. %p in the name is replaced by the number of the process.
/// A record that exists goes on, and its file is forgotten. Throws io::FileError.
void recordTo(const std::string &file, Clock::time_point began = Clock::now());

/// Ends the record, with a span of all of it, and writes it; `program` is the name of the process.
/// Does nothing where none was begun, and in a copy of the process that began it. Throws
/// io::FileError.
void writeRecord(const std::string &program);

/// Ends the record and writes nothing.
void dropRecord();

} // namespace nanobragg::trace
#endif
