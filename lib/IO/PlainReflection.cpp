#include "PlainReflection.h"

namespace nanobragg::io {
namespace {

bool isBlank(char c) { return c == ' ' || c == '\t'; }
bool isDigit(char c) { return c >= '0' && c <= '9'; }

const char *skipBlanks(const char *p, const char *end) {
  while (p != end && isBlank(*p))
    ++p;
  return p;
}

bool takeMinus(const char *&p, const char *end) {
  const bool minus = p != end && *p == '-';
  p += minus;
  return minus;
}

/// Appends digits to `value`, at most so many; returns how many.
int takeDigits(const char *&p, const char *end, std::int64_t &value, int most) {
  const char *begin = p;
  for (; p != end && isDigit(*p) && p - begin < most; ++p)
    value = value * 10 + (*p - '0');
  return int(p - begin);
}

bool takeIndex(const char *&p, const char *end, std::int32_t &index) {
  p = skipBlanks(p, end);
  const bool minus = takeMinus(p, end);
  std::int64_t value = 0;
  if (takeDigits(p, end, value, 9) == 0 || p == end || !isBlank(*p))
    return false;
  index = std::int32_t(minus ? -value : value);
  return true;
}

/// So many are exact in a double, and so are their powers of ten.
constexpr int mostDigits = 15;

/// A quotient of two exact numbers is rounded once, as the best parser would.
bool takeNumber(const char *&p, const char *end, double &number) {
  static constexpr double powers[] = {1e0, 1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                      1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
  p = skipBlanks(p, end);
  const bool minus = takeMinus(p, end);
  std::int64_t value = 0;
  const int whole = takeDigits(p, end, value, mostDigits);
  int fraction = 0;
  if (p != end && *p == '.')
    fraction = takeDigits(++p, end, value, mostDigits - whole);
  if (whole == 0)
    return false;
  const double size = double(value) / powers[fraction];
  number = minus ? -size : size;
  return true;
}

} // namespace

const char *readPlainReflection(const char *p, const char *end, Reflection &r) {
  if (!takeIndex(p, end, r.h) || !takeIndex(p, end, r.k) || !takeIndex(p, end, r.l) ||
      !takeNumber(p, end, r.f))
    return nullptr;
  p = skipBlanks(p, end);
  if (p != end && *p == '\r')
    ++p;
  if (p == end)
    return p;
  return *p == '\n' ? p + 1 : nullptr;
}

} // namespace nanobragg::io
