#include "test/Runtime/CacheTest.h"

#include "runtime/kernels/KernelFile.h"
#include "test/Runtime/BuildKernelFile.h"

using namespace nanobragg;
using namespace nanobragg::test;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::ThrowsMessage;

namespace {

TEST_F(CacheTest, SecondProcessCompilesNothing) {
  expectRightKernel("x");
  EXPECT_EQ(builds, 1);
  auto second = provider();
  EXPECT_STREQ(second.get({.variant = "x"})->variant, "x");
  EXPECT_EQ(builds, 1);
  EXPECT_EQ(second.counters().loads, 1u);
  EXPECT_EQ(second.counters().compiles, 0u);
}

TEST_F(CacheTest, LoadingOpensNoCompiler) {
  expectRightKernel("x");
  KernelProvider second(
      []() -> std::shared_ptr<const CompilerLibrary> {
        throw std::runtime_error("the compiler was opened");
      },
      cache());
  EXPECT_NO_THROW(second.get({.variant = "x"}));
  EXPECT_ANY_THROW(second.get({.variant = "y"}));
}

TEST_F(CacheTest, ProcessAsksItsMemoryFirst) {
  auto one = provider();
  const KernelHandle kernel = one.get({.variant = "x"});
  std::filesystem::remove_all(options.directory);
  EXPECT_EQ(one.get({.variant = "x"}), kernel);
  EXPECT_EQ(one.counters().hits, 1u);
}

TEST_F(CacheTest, KernelsOfOneProcessStayApart) {
  expectRightKernel("x");
  expectRightKernel("y");
  auto both = provider();
  const KernelHandle x = both.get({.variant = "x"}), y = both.get({.variant = "y"});
  EXPECT_EQ(both.counters().loads, 2u);
  EXPECT_STREQ(x->variant, "x");
  EXPECT_STREQ(y->variant, "y");
}

TEST_F(CacheTest, KernelLivesAsLongAsItsHandle) {
  KernelHandle x;
  x = provider().get({.variant = "x"});
  std::filesystem::remove_all(options.directory);
  const KernelHandle y = provider().get({.variant = "y"});
  EXPECT_STREQ(x->variant, "x");
  EXPECT_STREQ(y->variant, "y");
}

TEST_F(CacheTest, EveryChoiceThatDecidesTheCodeIsSpecified) {
  const auto specification = [&](const KernelRequest &request) {
    return cache()->specificationOf(request);
  };
  const KernelRequest request = {.variant = "x"};
  std::vector<std::string> all = {specification(request), specification({.variant = "y"}),
                                  specification({.variant = "x", .precision = "mixed"}),
                                  specification({.variant = "x", .target = "x86-64-v3"}),
                                  specification({.variant = "x", .engine = Engine::Interpreter})};
  options.hostCpu = "host cpu: another\n";
  all.push_back(specification(request));
  options.compilerBuild = "build-id 5678";
  all.push_back(specification(request));
  std::sort(all.begin(), all.end());
  EXPECT_EQ(std::unique(all.begin(), all.end()), all.end());
}

TEST_F(CacheTest, ANamedTargetDoesNotDependOnTheHost) {
  const KernelRequest request = {.variant = "x", .target = "x86-64-v3"};
  const std::string here = cache()->specificationOf(request);
  options.hostCpu = "host cpu: another\n";
  EXPECT_EQ(cache()->specificationOf(request), here);
}

TEST_F(CacheTest, AnotherProcessorOrCompilerCompilesAnew) {
  expectRightKernel("x");
  options.hostCpu = "host cpu: another\n";
  expectRightKernel("x");
  options.compilerBuild = "build-id 5678";
  expectRightKernel("x");
  EXPECT_EQ(builds, 3);
  EXPECT_EQ(files().size(), 3u);
}

TEST_F(CacheTest, KernelOfACompilerThatWasReplacedMeanwhileIsNotKept) {
  std::string installed = options.compilerBuild;
  options.identifyCompiler = [&] { return installed; };
  expectRightKernel("x");
  EXPECT_EQ(files().size(), 1u);
  installed = "build-id 5678";
  expectRightKernel("y");
  EXPECT_EQ(files().size(), 1u);
}

TEST_F(CacheTest, KernelsOfEqualHashReplaceEachOther) {
  expectRightKernel("x");
  expectRightKernel("y");
  // Whatever the name says, the specification inside decides.
  write(entryOf("y"), read(entryOf("x")));
  expectRightKernel("y");
  EXPECT_EQ(builds, 3);
  expectRightKernel("y");
  expectRightKernel("x");
  EXPECT_EQ(builds, 3);
}

TEST_F(CacheTest, SaysThatItWaitsForAnotherProcess) {
  const auto other = cache();
  const auto held = other->lock(other->specificationOf({.variant = "x"}));
  ASSERT_TRUE(held);
  options.lockTimeout = std::chrono::milliseconds(700);
  provider().get({.variant = "x"});
  EXPECT_EQ(builds, 1);
  EXPECT_THAT(warnings, testing::ElementsAre(
                            testing::AllOf(testing::HasSubstr("another process holds the lock"),
                                           testing::HasSubstr("NB_CACHE=off"))));
}

TEST_F(CacheTest, ADumpBypassesTheCache) {
  expectRightKernel("x");
  bool opened = false;
  KernelProvider second(
      [&]() -> std::shared_ptr<const CompilerLibrary> {
        opened = true;
        throw std::runtime_error("stop here");
      },
      cache());
  EXPECT_ANY_THROW(second.get({.variant = "x", .dumpIR = "dir"}));
  EXPECT_TRUE(opened);
}

TEST_F(CacheTest, TenSimulatorsCompileOnce) {
  for (int i = 0; i != 10; ++i)
    expectRightKernel("x");
  EXPECT_EQ(builds, 1);
}

TEST_F(CacheTest, ListsAndClears) {
  EXPECT_THAT(cache()->list(), IsEmpty());
  EXPECT_FALSE(std::filesystem::exists(options.directory)) << "looking creates nothing";
  expectRightKernel("x");
  const auto kernels = cache()->list();
  ASSERT_EQ(kernels.size(), 1u);
  EXPECT_EQ(kernels[0].specification, cache()->specificationOf({.variant = "x"}));
  EXPECT_EQ(kernels[0].problem, "");
  EXPECT_EQ(kernels[0].bytes, std::filesystem::file_size(entryOf("x")));
  EXPECT_EQ(cache()->clear(), 1u);
  EXPECT_THAT(files(), IsEmpty());
}

TEST(KernelFile, RefusesWhatIsNoKernel) {
  const std::string text = "no shared object";
  EXPECT_THAT([&] { loadKernel(text); },
              ThrowsMessage<std::runtime_error>(HasSubstr("cannot load a kernel")));
}

TEST(KernelFile, LoadsTwiceTheSameImage) {
  const std::vector<char> image = buildKernelFile("x");
  const KernelHandle a = loadKernel(image), b = loadKernel(image);
  EXPECT_NE(a.get(), b.get());
  EXPECT_STREQ(a->variant, b->variant);
}

} // namespace
