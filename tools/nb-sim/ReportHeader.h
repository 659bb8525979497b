//===- ReportHeader.h - the image header of a run ---------------*- C++ -*-===//
#ifndef NANOBRAGG_NBSIM_REPORTHEADER_H
#define NANOBRAGG_NBSIM_REPORTHEADER_H

#include "CommandLine.h"
#include "Derive.h"
#include "SmvFile.h"

namespace nanobragg {

/// With -compat c the header that the C program writes. By default its beam centre is the one that
/// dxtbx reads right, and it tells the pedestal.
io::SmvHeader headerOf(const Derived &derived, const CommandLine &line);

} // namespace nanobragg
#endif
