#include "runtime/kernels/CompilerBuild.h"

#include "runtime/kernels/HostCpu.h"
#include "test/Runtime/CacheTest.h"

#include <chrono>

using namespace nanobragg;
using namespace nanobragg::test;
using testing::StartsWith;

namespace {

class CompilerBuildTest : public CacheTest {
protected:
  CompilerBuildTest() {
    std::filesystem::create_directory(options.directory);
    file = options.directory / "library.so";
  }

  std::filesystem::path file;
};

TEST_F(CompilerBuildTest, BuildIdIsThatOfTheLinker) {
  // 32 digits that the linker was told, see CMakeLists.txt.
  EXPECT_EQ(identifyBuild(NB_TEST_KERNEL_FILE), "build-id 00112233445566778899aabbccddeeff");
}

TEST_F(CompilerBuildTest, BuildIdDoesNotDependOnPlaceOrTime) {
  std::filesystem::copy_file(NB_TEST_KERNEL_FILE, file);
  EXPECT_EQ(identifyBuild(file), identifyBuild(NB_TEST_KERNEL_FILE));
}

TEST_F(CompilerBuildTest, OtherFilesAreKnownBySizeAndTime) {
  write(file, "no shared object");
  const std::string before = identifyBuild(file);
  EXPECT_THAT(before, StartsWith("size 16 modified "));
  EXPECT_EQ(identifyBuild(file), before);
  using namespace std::chrono_literals;
  std::filesystem::last_write_time(file, std::filesystem::last_write_time(file) - 1s);
  EXPECT_NE(identifyBuild(file), before);
}

TEST_F(CompilerBuildTest, TruncatedLibraryHasNoBuildId) {
  const std::string whole = read(NB_TEST_KERNEL_FILE);
  for (std::size_t size : {0, 10, 64, 100, 300}) {
    write(file, whole.substr(0, size));
    EXPECT_THAT(identifyBuild(file), StartsWith("size ")) << size;
  }
}

TEST_F(CompilerBuildTest, MissingFileIsNoBuild) {
  EXPECT_EQ(identifyBuild(file), "");
  EXPECT_EQ(identifyBuild(""), "");
}

TEST(HostCpu, IsDescribedInWholeLines) {
  EXPECT_THAT(describeHostCpu(), StartsWith("host cpu: "));
  EXPECT_EQ(describeHostCpu().back(), '\n');
  EXPECT_EQ(describeHostCpu(), describeHostCpu());
}

#if defined(__x86_64__)
TEST(HostCpu, KnowsWhatTheCompilerKnows) {
  const auto says = [](const char *feature) {
    return describeHostCpu().find(std::string(" ") + feature + " ") != std::string::npos;
  };
  EXPECT_EQ(says("avx2"), bool(__builtin_cpu_supports("avx2")));
  EXPECT_EQ(says("fma"), bool(__builtin_cpu_supports("fma")));
  EXPECT_EQ(says("avx512f"), bool(__builtin_cpu_supports("avx512f")));
  EXPECT_EQ(says("avx512vbmi2"), bool(__builtin_cpu_supports("avx512vbmi2")));
}
#endif

} // namespace
