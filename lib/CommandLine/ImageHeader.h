//===- ImageHeader.h - camera and rotation from an image --------*- C++ -*-===//
#ifndef NANOBRAGG_COMMANDLINE_IMAGEHEADER_H
#define NANOBRAGG_COMMANDLINE_IMAGEHEADER_H

#include "Options.h"
#include "SmvFile.h"

#include <string>
#include <vector>

namespace nanobragg {

struct ImageHeader {
  HeaderValues values;
  std::vector<std::string> warnings;
  bool dependsOnLookup = false; ///< the C program's lookup finds other numbers than the exact one
};

/// Throws io::FileError where a number is none, or impossible.
ImageHeader readHeader(const io::SmvFile &file, Rule lookup);

} // namespace nanobragg
#endif
