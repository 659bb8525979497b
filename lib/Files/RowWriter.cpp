#include "lib/Files/RowWriter.h"

#include "lib/Parallel/ThreadTeam.h"

#include <algorithm>
#include <memory>
#include <utility>

namespace nanobragg::io {
namespace {

/// Few enough that a thread's piece stays in its second cache, many enough that a call costs
/// nothing.
constexpr std::size_t bytesOfPiece = std::size_t(1) << 19;

struct Piece {
  std::size_t file;
  std::int64_t number;
  double position; ///< in its file, from 0 to 1
};

} // namespace

std::int64_t RowWriter::File::rowsOfPiece() const {
  return std::max<std::int64_t>(1,
                                std::int64_t(bytesOfPiece / std::max<std::size_t>(bytesOfRow, 1)));
}

std::int64_t RowWriter::File::pieces() const { return (count + rowsOfPiece() - 1) / rowsOfPiece(); }

void RowWriter::add(OutputFile &file, std::string header, std::int64_t count,
                    std::size_t bytesOfRow, Rows rows) {
  files.push_back({&file, std::move(header), count, bytesOfRow, std::move(rows)});
}

void RowWriter::run(int threads) {
  std::vector<Piece> pieces;
  std::size_t room = 0, all = 0;
  for (std::size_t i = 0; i != files.size(); ++i) {
    const File &f = files[i];
    room = std::max(room, std::size_t(std::min(f.rowsOfPiece(), f.count)) * f.bytesOfRow);
    if (!f.file->isRegular())
      continue;
    all += std::size_t(f.count) * f.bytesOfRow;
    f.file->reserve(f.header.size() + std::size_t(f.count) * f.bytesOfRow);
    f.file->writeAt(0, f.header.data(), f.header.size());
    for (std::int64_t number = 0; number != f.pieces(); ++number)
      pieces.push_back({i, number, (double(number) + 0.5) / double(f.pieces())});
  }
  // Two threads that write to one file wait for each other.
  std::ranges::sort(pieces, [](const Piece &a, const Piece &b) {
    return std::pair(a.position, a.file) < std::pair(b.position, b.file);
  });

  // Starting a thread takes as long as writing so much.
  constexpr std::size_t little = 1 << 17;
  ThreadTeam team(all > little ? threadsOf(threads) : 1);
  std::vector<std::unique_ptr<std::byte[]>> rooms;
  for (int i = 0; i != team.size(); ++i)
    rooms.push_back(std::make_unique_for_overwrite<std::byte[]>(room));
  const auto bytesOf = [&](const File &f, std::int64_t number, int thread) {
    const std::int64_t begin = number * f.rowsOfPiece();
    const std::int64_t end = std::min(begin + f.rowsOfPiece(), f.count);
    const void *bytes = f.rows(begin, end, rooms[std::size_t(thread)].get());
    return std::pair(bytes, std::size_t(end - begin) * f.bytesOfRow);
  };
  team.forEach(std::int64_t(pieces.size()), [&](std::int64_t i, int thread) {
    const Piece &piece = pieces[std::size_t(i)];
    const File &f = files[piece.file];
    const auto [bytes, size] = bytesOf(f, piece.number, thread);
    f.file->writeAt(f.header.size() + std::size_t(piece.number * f.rowsOfPiece()) * f.bytesOfRow,
                    bytes, size);
  });
  for (const File &f : files) {
    if (f.file->isRegular())
      continue;
    f.file->write(f.header);
    for (std::int64_t number = 0; number != f.pieces(); ++number) {
      const auto [bytes, size] = bytesOf(f, number, 0);
      f.file->write(bytes, size);
    }
  }
  files.clear();
}

} // namespace nanobragg::io
