// A kernel file is read by people who got it from others: no content may do worse than be refused.
#include "runtime/kernels/KernelText.h"
#include "runtime/kernels/KernelFit.h"

#include "runtime/kernels/CompilerLibrary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

namespace {

using namespace nanobragg;

std::vector<char> kernelFile() {
  KernelRequest request;
  request.variant = {};
  request.target = KernelTarget::fromString("x86-64-v2");
  request.otherTargets = {KernelTarget::fromString("x86-64-v3")};
  return CompilerLibrary::open()->build(request).value();
}

/// Does reading give a text? Otherwise it is refused.
bool isRead(std::span<const char> bytes) {
  try {
    return !readKernelText(bytes).versions.empty();
  } catch (const std::runtime_error &) {
    return false;
  }
}

TEST(KernelText, SaysWhatTheDescriptorSays) {
  const KernelFileText text = readKernelText(kernelFile());
  EXPECT_FALSE(text.object);
  ASSERT_EQ(text.versions.size(), 2u);
  EXPECT_THAT(text.versions[0].target, testing::EndsWith("x86-64-v3"));
  EXPECT_THAT(text.versions[0].features, testing::HasSubstr("avx2"));
  EXPECT_THAT(text.versions[1].features, testing::Not(testing::HasSubstr("avx")));
  EXPECT_EQ(text.versions[0].variant, ProgramVariant{}.toString());
  ASSERT_FALSE(text.versions[0].parameters.empty());
  EXPECT_EQ(text.versions[0].parameters[0].name, "cell_a");
  EXPECT_EQ(text.versions[0].parameters[0].kind, "f64");
  EXPECT_EQ(text.versions[0].parameters[0].unit, "m");
}

TEST(KernelText, ListsTheCodeOfGpus) {
  setenv("NB_PTXAS", "off", 1);
  KernelRequest request;
  request.variant = {};
  request.target = KernelTarget::fromString("sm_80");
  request.otherTargets = {KernelTarget::fromString("sm_90")};
  const KernelFileText text = readKernelText(CompilerLibrary::open()->build(request).value());
  unsetenv("NB_PTXAS");
  ASSERT_EQ(text.versions.size(), 1u);
  EXPECT_THAT(text.versions[0].target, testing::EndsWith(" sm_80,sm_90"));
  EXPECT_EQ(text.versions[0].features, "");
  ASSERT_EQ(text.versions[0].codes.size(), 2u);
  EXPECT_EQ(text.versions[0].codes[0].chip, "sm_90");
  EXPECT_EQ(text.versions[0].codes[1].chip, "sm_80");
  EXPECT_EQ(text.versions[0].codes[1].kind, "ptx");
  EXPECT_EQ(text.versions[0].codes[1].version, "7.8");
  EXPECT_GT(std::stoll(text.versions[0].codes[1].bytes), 1000);
}

TEST(KernelText, TruncatedFilesAreRefused) {
  const std::vector<char> file = kernelFile();
  ASSERT_TRUE(isRead(file));
  // The table of sections stands last; its own last rows are not needed.
  for (std::size_t size = 0; size < file.size() - 1024; size += 37)
    EXPECT_FALSE(isRead(std::span(file).first(size))) << size;
}

TEST(KernelText, DamagedHeadersDoNoHarm) {
  const std::vector<char> file = kernelFile();
  std::mt19937 random(7);
  int refused = 0;
  for (int i = 0; i != 20000; ++i) {
    std::vector<char> damaged = file;
    // Half of them in the ELF header, half in the table of sections.
    const std::size_t at = random() % 64;
    damaged[i % 2 ? at : file.size() - 1 - random() % 1024] ^= char(1 + random() % 255);
    refused += !isRead(damaged);
  }
  EXPECT_GT(refused, 0);
}

TEST(KernelFit, NamesEveryDifference) {
  const std::string square = ProgramVariant{}.toString();
  ProgramVariant other;
  other.shape = CrystalShape::Gauss;
  other.mask = true;
  nb_kernel_descriptor kernel = {};
  kernel.variant = square.c_str();
  kernel.precision = "f64";
  EXPECT_NO_THROW(checkFits(kernel, {ProgramVariant(), {}, {}}, Precision::F64, "it"));
  try {
    checkFits(kernel, {other, {}, {}}, Precision::F32, "the kernel k.so");
    FAIL();
  } catch (const std::runtime_error &error) {
    EXPECT_STREQ(error.what(),
                 "the kernel k.so does not fit: it has shape=square and shape=gauss is needed; it "
                 "has mask=no and mask=yes is needed; it has precision=f64 and precision=f32 is "
                 "needed");
  }
}

} // namespace
