// A pass that breaks programs on purpose.
#ifndef NB_TEST_ENGINES_TESTBREAK_H
#define NB_TEST_ENGINES_TESTBREAK_H

namespace mlir::nb {

/// Registers `nb-test-break{name=NAME by=FACTOR}`, which multiplies every f64 scalar whose location
/// has that name by a factor. It stands in for a pass with a bug, to see whether the comparison of
/// engines finds it; it is for tests alone.
void registerTestBreak();

} // namespace mlir::nb

#endif
