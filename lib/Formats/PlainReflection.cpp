#include "lib/Formats/PlainReflection.h"

namespace nanobragg::io {
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
