// The targets of the fuzzers.
//
// A file here defines one target: a reader, and what must hold for any bytes that it is given. The
// preset `fuzz` makes a libFuzzer program of each; every other build has them all in one program
// that reads the kept inputs.
#ifndef NB_TEST_FUZZ_FUZZTARGET_H
#define NB_TEST_FUZZ_FUZZTARGET_H

#include <exception>
#include <map>
#include <span>
#include <string>

namespace nanobragg::fuzz {

using Bytes = std::span<const char>;
using Target = void (*)(Bytes);

/// The targets that are linked in, by name.
std::map<std::string, Target> &targets();

struct Registration {
  Registration(const char *name, Target target) { targets()[name] = target; }
};

/// Ends the process with `message` when something does not hold.
void require(bool holds, const char *message);

/// A refusal is one sentence in one line, without bytes that a terminal would obey.
void requireSentence(const std::exception &refusal);

/// A file with these bytes. There is one at a time, in memory, always under the same name.
std::string fileWith(Bytes bytes);

} // namespace nanobragg::fuzz

#define NB_FUZZ_TARGET(name)                                                                       \
  static void name(nanobragg::fuzz::Bytes);                                                        \
  static const nanobragg::fuzz::Registration name##Registration(#name, name);                      \
  static void name(nanobragg::fuzz::Bytes input)

#endif
