#include "lib/IO/HklFile.h"

#include "lib/IO/FileContents.h"
#include "lib/IO/FileError.h"
#include "lib/IO/GridSize.h"
#include "lib/IO/PlainReflection.h"
#include "lib/IO/TextScanner.h"
#include "lib/Parallel/LargePages.h"
#include "lib/Parallel/ThreadTeam.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <new>
#include <vector>

namespace nanobragg::io {
namespace {

bool isBlank(char c) { return c == ' ' || c == '\t' || c == '\v' || c == '\f'; }

/// Parses the columns of one line, front to back.
class ColumnReader {
public:
  ColumnReader(const std::string &path, std::size_t lineNumber, std::string_view line)
      : path(path), lineNumber(lineNumber), p(line.data()), end(line.data() + line.size()) {}

  bool skipBlanks() {
    while (p != end && isBlank(*p))
      ++p;
    return p != end;
  }

  std::int32_t index(const char *name) {
    need(name);
    std::int32_t value = 0;
    const auto [stop, error] = std::from_chars(p, end, value);
    if (error == std::errc{} && (stop == end || isBlank(*stop))) {
      p = stop;
      return value;
    }
    const std::string_view word = this->word();
    const double real = number(name);
    if (real != std::nearbyint(real))
      throw FileError(path, lineNumber,
                      std::string("index ") + name + " is " + quoted(word) +
                          "; Miller indices are whole numbers");
    if (std::abs(real) > double(std::numeric_limits<std::int32_t>::max()))
      throw FileError(path, lineNumber,
                      std::string("index ") + name + " is " + quoted(word) +
                          ", out of range; check the columns, which are h k l F");
    return std::int32_t(real);
  }

  double number(const char *name) {
    need(name);
    double value = 0;
    const char *stop = parseNumber(p, end, value);
    if (!stop || (stop != end && !isBlank(*stop)))
      throw FileError(path, lineNumber,
                      std::string("cannot read ") + name + " from " + quoted(word()) +
                          "; the columns are h k l F, comments begin with #");
    p = stop;
    return value;
  }

private:
  void need(const char *name) {
    if (!skipBlanks())
      throw FileError(path, lineNumber,
                      std::string("column ") + name + " is missing; each line needs h k l F");
  }
  std::string_view word() const {
    const char *stop = p;
    while (stop != end && !isBlank(*stop))
      ++stop;
    return {p, std::size_t(stop - p)};
  }

  const std::string &path;
  std::size_t lineNumber;
  const char *p, *end;
};

/// What stands in some lines of the text.
struct ParsedLines {
  std::vector<Reflection> reflections;
  std::size_t lines = 0;
  std::size_t moreColumns = 0; ///< the first line with more than four, from 1; 0: none
};

ParsedLines parseLines(const std::string &path, std::string_view text) {
  ParsedLines parsed;
  std::vector<Reflection> &reflections = parsed.reflections;
  constexpr std::size_t shortestLine = std::string_view("0 0 0 1\n").size();
  reflections.reserve(text.size() / shortestLine + 1); // never grown: that costs more than parsing
  preferLargePages(reflections.data(), reflections.capacity() * sizeof(Reflection));
  TextLines lines(text);
  std::string_view line;
  while (!lines.atEnd()) {
    Reflection r{};
    const std::string_view rest = lines.remaining();
    if (const char *next = readPlainReflection(rest.data(), rest.data() + rest.size(), r)) {
      lines.skipLine(next);
      reflections.push_back(r);
      continue;
    }
    lines.next(line);
    ColumnReader columns(path, lines.number(), line);
    if (!columns.skipBlanks())
      continue;
    r.h = columns.index("h");
    r.k = columns.index("k");
    r.l = columns.index("l");
    r.f = columns.number("F");
    if (parsed.moreColumns == 0 && columns.skipBlanks())
      parsed.moreColumns = lines.number();
    reflections.push_back(r);
  }
  parsed.lines = lines.number();
  return parsed;
}

/// Whole lines of about equal length together.
std::vector<std::string_view> cut(std::string_view text, std::size_t parts) {
  std::vector<std::string_view> all;
  for (std::size_t left = parts; !text.empty(); --left) {
    const std::size_t end = left <= 1 ? text.npos : text.find('\n', text.size() / left);
    all.push_back(text.substr(0, end == text.npos ? end : end + 1));
    text.remove_prefix(all.back().size());
    left = std::max<std::size_t>(left, 2);
  }
  return all;
}

/// In the order of the lines.
std::vector<ParsedLines> parse(const std::string &path, std::string_view text) {
  constexpr std::size_t smallPart = 1 << 17;
  ThreadTeam team(text.size() > 2 * smallPart ? availableProcessors() : 1);
  const std::vector<std::string_view> parts =
      cut(text, std::min(text.size() / smallPart, std::size_t(4 * team.size())));
  std::vector<ParsedLines> parsed(parts.size());
  try {
    team.forEach(std::int64_t(parts.size()), [&](std::int64_t i, int) {
      parsed[std::size_t(i)] = parseLines(path, parts[std::size_t(i)]);
    });
  } catch (const FileError &) {
    parseLines(path, text); // which counts lines from the beginning of the file
    throw;
  }
  return parsed;
}

HklGrid boundingBox(const std::vector<ParsedLines> &parts) {
  constexpr std::int32_t least = std::numeric_limits<std::int32_t>::min();
  constexpr std::int32_t most = std::numeric_limits<std::int32_t>::max();
  std::int32_t low[3] = {most, most, most}, high[3] = {least, least, least};
  for (const ParsedLines &part : parts)
    for (const Reflection &r : part.reflections) {
      const std::int32_t index[3] = {r.h, r.k, r.l};
      for (int axis = 0; axis != 3; ++axis) {
        low[axis] = std::min(low[axis], index[axis]);
        high[axis] = std::max(high[axis], index[axis]);
      }
    }
  return {low[0], high[0], low[1], high[1], low[2], high[2], {}};
}

} // namespace

HklFile readHkl(const std::string &path, double defaultF) {
  return parseHkl(path, readMaybeCompressed(path), defaultF);
}

HklFile parseHkl(const std::string &path, const std::string &text, double defaultF) {
  HklFile result;
  const std::vector<ParsedLines> parts = parse(path, text);
  std::size_t linesBefore = 0;
  for (const ParsedLines &part : parts) {
    result.reflections += part.reflections.size();
    if (result.moreColumns == 0 && part.moreColumns != 0)
      result.moreColumns = linesBefore + part.moreColumns;
    linesBefore += part.lines;
  }
  if (result.reflections == 0)
    throw FileError(path, "has no reflections; each line needs h k l F");

  HklGrid &grid = result.grid = boundingBox(parts);
  const std::size_t nodes = gridNodes(path, grid, result.reflections);
  const std::int64_t kRange = grid.kMax - grid.kMin + 1, lRange = grid.lMax - grid.lMin + 1;
  std::vector<bool> seen;
  try {
    grid.values.reserve(nodes);
    preferLargePages(grid.values.data(), nodes * sizeof(double));
    grid.values.assign(nodes, defaultF);
    seen.assign(nodes, false);
  } catch (const std::bad_alloc &) {
    throw gridTooLarge(path, grid);
  }
  for (const ParsedLines &part : parts)
    for (const Reflection &r : part.reflections) {
      const auto node = std::size_t(
          ((r.h - grid.hMin) * kRange + (r.k - grid.kMin)) * lRange + (r.l - grid.lMin));
      result.duplicates += seen[node];
      seen[node] = true;
      grid.values[node] = r.f;
    }
  return result;
}

} // namespace nanobragg::io
