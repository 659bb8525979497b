#include "lib/Formats/HklFile.h"

#include "lib/Files/FileContents.h"
#include "lib/Files/FileError.h"
#include "lib/Files/TextScanner.h"
#include "lib/Formats/GridSize.h"
#include "lib/Parallel/LargePages.h"
#include "lib/Parallel/ThreadTeam.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <memory>
#include <new>
#include <span>
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
                      std::string("index ") + name + " is " + inQuotes(word) +
                          "; Miller indices are whole numbers");
    if (std::abs(real) > double(std::numeric_limits<std::int32_t>::max()))
      throw FileError(path, lineNumber,
                      std::string("index ") + name + " is " + inQuotes(word) +
                          ", out of range; check the columns, which are h k l F");
    return std::int32_t(real);
  }

  double number(const char *name) {
    need(name);
    double value = 0;
    const char *stop = parseNumber(p, end, value);
    if (!stop || (stop != end && !isBlank(*stop)))
      throw FileError(path, lineNumber,
                      std::string("cannot read ") + name + " from " + inQuotes(word()) +
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

struct FreeMemory {
  void operator()(Reflection *memory) const { std::free(memory); }
};

/// The reflections in the lines of a text, in their order.
struct ParsedLines {
  std::unique_ptr<Reflection[], FreeMemory> memory;
  std::span<const Reflection> reflections; ///< in the memory, without gaps
  std::size_t moreColumns = 0;             ///< the first line with more than four, from 1; 0: none
};

/// Room for `count` of them, not initialized.
std::unique_ptr<Reflection[], FreeMemory> allocate(std::size_t count) {
  const std::size_t bytes = count * sizeof(Reflection);
  const std::size_t page = bytes < largePage ? 4096 : largePage;
  const std::size_t rounded = (bytes + page) / page * page;
  auto *memory = static_cast<Reflection *>(std::aligned_alloc(page, rounded));
  if (!memory)
    throw std::bad_alloc();
  preferLargePages(memory, rounded);
  return std::unique_ptr<Reflection[], FreeMemory>(memory);
}

/// Some lines of the text.
struct ListPart {
  std::string_view text;
  std::size_t lines = 0, before = 0; ///< how many it has, and how many stand before it
  std::size_t reflections = 0,
              moreColumns = 0; ///< found; moreColumns as above, counted in the part
};

/// `room` has place for one reflection for each line.
void parsePart(const std::string &path, ListPart &part, Reflection *room) {
  TextLines lines(part.text);
  std::string_view line;
  Reflection *next = room;
  while (!lines.atEnd()) {
    const std::string_view rest = lines.remaining();
    if (const char *after = readPlainReflection(rest.data(), rest.data() + rest.size(), *next)) {
      lines.skipLine(after);
      ++next;
      continue;
    }
    lines.next(line);
    ColumnReader columns(path, lines.number(), line);
    if (!columns.skipBlanks())
      continue;
    next->h = columns.index("h");
    next->k = columns.index("k");
    next->l = columns.index("l");
    next->f = columns.number("F");
    ++next;
    if (part.moreColumns == 0 && columns.skipBlanks())
      part.moreColumns = lines.number();
  }
  part.reflections = std::size_t(next - room);
}

/// Whole lines of about equal length together.
std::vector<ListPart> cut(std::string_view text, std::size_t parts) {
  std::vector<ListPart> all;
  for (std::size_t left = parts; !text.empty(); left = std::max<std::size_t>(left, 2) - 1) {
    const std::size_t end = left <= 1 ? text.npos : text.find('\n', text.size() / left);
    all.push_back({text.substr(0, end == text.npos ? end : end + 1)});
    text.remove_prefix(all.back().text.size());
  }
  return all;
}

ParsedLines parse(const std::string &path, std::string_view text) {
  constexpr std::size_t smallPart = 1 << 17;
  ThreadTeam team(text.size() > 2 * smallPart ? availableProcessors() : 1);
  std::vector<ListPart> parts =
      cut(text, std::min(text.size() / smallPart, std::size_t(4 * team.size())));
  const auto count = std::int64_t(parts.size());
  team.forEach(count, [&](std::int64_t i, int) {
    ListPart &part = parts[std::size_t(i)];
    part.lines = std::size_t(std::ranges::count(part.text, '\n')) + !part.text.ends_with('\n');
  });
  std::size_t lines = 0;
  for (ListPart &part : parts) {
    part.before = lines;
    lines += part.lines;
  }
  ParsedLines parsed{allocate(lines), {}};
  try {
    team.forEach(count, [&](std::int64_t i, int) {
      ListPart &part = parts[std::size_t(i)];
      parsePart(path, part, parsed.memory.get() + part.before);
    });
  } catch (const FileError &) {
    ListPart whole{text};
    parsePart(path, whole,
              parsed.memory.get()); // which counts lines from the beginning of the file
    throw;
  }
  // Blank lines and comments leave gaps.
  Reflection *end = parsed.memory.get();
  for (const ListPart &part : parts) {
    const Reflection *from = parsed.memory.get() + part.before;
    end = from == end ? end + part.reflections : std::copy_n(from, part.reflections, end);
    if (parsed.moreColumns == 0 && part.moreColumns != 0)
      parsed.moreColumns = part.before + part.moreColumns;
  }
  parsed.reflections = {parsed.memory.get(), end};
  return parsed;
}

HklGrid boundingBox(std::span<const Reflection> reflections) {
  constexpr std::int32_t least = std::numeric_limits<std::int32_t>::min();
  constexpr std::int32_t most = std::numeric_limits<std::int32_t>::max();
  std::int32_t low[3] = {most, most, most}, high[3] = {least, least, least};
  for (const Reflection &r : reflections) {
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
  const ParsedLines parsed = parse(path, text);
  result.reflections = parsed.reflections.size();
  result.moreColumns = parsed.moreColumns;
  if (result.reflections == 0)
    throw FileError(path, "has no reflections; each line needs h k l F");

  HklGrid &grid = result.grid = boundingBox(parsed.reflections);
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
  for (const Reflection &r : parsed.reflections) {
    const auto node =
        std::size_t(((r.h - grid.hMin) * kRange + (r.k - grid.kMin)) * lRange + (r.l - grid.lMin));
    result.duplicates += seen[node];
    seen[node] = true;
    grid.values[node] = r.f;
  }
  return result;
}

namespace {

// The null after the text ends every loop.

bool isSpaceOrTab(char c) { return c == ' ' || c == '\t'; }

const char *skipSpaces(const char *p) {
  while (isSpaceOrTab(*p))
    ++p;
  return p;
}

bool takeMinus(const char *&p) {
  const bool minus = *p == '-';
  p += minus;
  return minus;
}

/// Appends digits to `value`, at most so many; returns how many.
int takeDigits(const char *&p, std::int64_t &value, int most) {
  const char *begin = p, *last = p + most;
  for (unsigned digit; (digit = unsigned(*p) - '0') < 10 && p != last; ++p)
    value = value * 10 + digit;
  return int(p - begin);
}

bool takeIndex(const char *&p, std::int32_t &index) {
  p = skipSpaces(p);
  const bool minus = takeMinus(p);
  std::int64_t value = 0;
  if (takeDigits(p, value, 9) == 0 || !isSpaceOrTab(*p))
    return false;
  index = std::int32_t(minus ? -value : value);
  return true;
}

/// So many are exact in a double, and so are their powers of ten.
constexpr int mostDigits = 15;

/// A quotient of two exact numbers is rounded once, as the best parser would.
bool takeNumber(const char *&p, double &number) {
  static constexpr double powers[] = {1e0, 1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                      1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
  p = skipSpaces(p);
  const bool minus = takeMinus(p);
  std::int64_t value = 0;
  const int whole = takeDigits(p, value, mostDigits);
  int fraction = 0;
  if (*p == '.')
    fraction = takeDigits(++p, value, mostDigits - whole);
  if (whole == 0)
    return false;
  const double size = double(value) / powers[fraction];
  number = minus ? -size : size;
  return true;
}

} // namespace

const char *readPlainReflection(const char *p, const char *end, Reflection &r) {
  if (!takeIndex(p, r.h) || !takeIndex(p, r.k) || !takeIndex(p, r.l) || !takeNumber(p, r.f))
    return nullptr;
  p = skipSpaces(p);
  p += *p == '\r';
  if (p == end)
    return p;
  return *p == '\n' ? p + 1 : nullptr;
}

} // namespace nanobragg::io
