// Large files, written by several threads.
#ifndef NANOBRAGG_FILES_ROWWRITER_H
#define NANOBRAGG_FILES_ROWWRITER_H

#include "lib/Files/OutputFile.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace nanobragg::io {

/// Files of a header and rows of equal length. Rows are made and written in pieces, each by
/// whichever thread is free, so that a file in another format than the image needs no copy of all
/// of it.
class RowWriter {
public:
  /// The bytes of rows [begin, end): where they are already, or made in `room`, which has the size
  /// for them.
  using Rows = std::function<const void *(std::int64_t begin, std::int64_t end, void *room)>;

  /// `file` must live until run() has returned. `rows` is called by several threads.
  void add(OutputFile &file, std::string header, std::int64_t count, std::size_t bytesOfRow,
           Rows rows);

  /// Writes all of them; 0 threads are one for each processor. Throws FileError. A path that is no
  /// regular file (a pipe, a device) is written from beginning to end, in the order of add().
  void run(int threads);

private:
  struct File {
    OutputFile *file;
    std::string header;
    std::int64_t count;
    std::size_t bytesOfRow;
    Rows rows;

    std::int64_t rowsOfPiece() const;
    std::int64_t pieces() const;
  };
  std::vector<File> files;
};

} // namespace nanobragg::io
#endif
