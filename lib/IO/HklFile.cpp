#include "lib/IO/HklFile.h"

#include "lib/IO/FileContents.h"
#include "lib/IO/FileError.h"
#include "lib/IO/GridSize.h"
#include "lib/IO/PlainReflection.h"
#include "lib/IO/TextScanner.h"

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

std::vector<Reflection> parse(const std::string &path, const std::string &text,
                              std::size_t &moreColumns) {
  std::vector<Reflection> reflections;
  constexpr std::size_t shortestLine = std::string_view("0 0 0 1\n").size();
  reflections.reserve(text.size() / shortestLine + 1); // never grown: that costs more than parsing
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
    if (moreColumns == 0 && columns.skipBlanks())
      moreColumns = lines.number();
    reflections.push_back(r);
  }
  return reflections;
}

HklGrid boundingBox(const std::vector<Reflection> &reflections) {
  const Reflection &first = reflections.front();
  HklGrid box{first.h, first.h, first.k, first.k, first.l, first.l, {}};
  for (const Reflection &r : reflections) {
    box.hMin = std::min<std::int64_t>(box.hMin, r.h);
    box.hMax = std::max<std::int64_t>(box.hMax, r.h);
    box.kMin = std::min<std::int64_t>(box.kMin, r.k);
    box.kMax = std::max<std::int64_t>(box.kMax, r.k);
    box.lMin = std::min<std::int64_t>(box.lMin, r.l);
    box.lMax = std::max<std::int64_t>(box.lMax, r.l);
  }
  return box;
}

} // namespace

HklFile readHkl(const std::string &path, double defaultF) {
  return parseHkl(path, readMaybeCompressed(path), defaultF);
}

HklFile parseHkl(const std::string &path, const std::string &text, double defaultF) {
  HklFile result;
  const std::vector<Reflection> reflections = parse(path, text, result.moreColumns);
  if (reflections.empty())
    throw FileError(path, "has no reflections; each line needs h k l F");

  result.reflections = reflections.size();
  HklGrid &grid = result.grid = boundingBox(reflections);
  const std::size_t nodes = gridNodes(path, grid, reflections.size());
  const std::int64_t kRange = grid.kMax - grid.kMin + 1, lRange = grid.lMax - grid.lMin + 1;
  std::vector<bool> seen;
  try {
    grid.values.assign(nodes, defaultF);
    seen.assign(nodes, false);
  } catch (const std::bad_alloc &) {
    throw gridTooLarge(path, grid);
  }
  for (const Reflection &r : reflections) {
    const auto node =
        std::size_t(((r.h - grid.hMin) * kRange + (r.k - grid.kMin)) * lRange + (r.l - grid.lMin));
    result.duplicates += seen[node];
    seen[node] = true;
    grid.values[node] = r.f;
  }
  return result;
}

} // namespace nanobragg::io
