// Kernel files without a compiler.
#ifndef NANOBRAGG_TEST_BUILDKERNELFILE_H
#define NANOBRAGG_TEST_BUILDKERNELFILE_H

#include <string>
#include <vector>

namespace nanobragg::test {

/// A shared object whose kernel has this variant, see KernelAsFile.c.
std::vector<char> buildKernelFile(const std::string &variant);

} // namespace nanobragg::test
#endif
