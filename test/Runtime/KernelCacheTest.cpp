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
  EXPECT_STREQ(second.get(requestNamed("x"))->variant, variantText("x").c_str());
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
  EXPECT_NO_THROW(second.get(requestNamed("x")));
  EXPECT_ANY_THROW(second.get(requestNamed("y")));
}

TEST_F(CacheTest, ProcessAsksItsMemoryFirst) {
  auto one = provider();
  const KernelHandle kernel = one.get(requestNamed("x"));
  std::filesystem::remove_all(options.directory);
  EXPECT_EQ(one.get(requestNamed("x")), kernel);
  EXPECT_EQ(one.counters().hits, 1u);
}

TEST_F(CacheTest, KernelsOfOneProcessStayApart) {
  expectRightKernel("x");
  expectRightKernel("y");
  auto both = provider();
  const KernelHandle x = both.get(requestNamed("x")), y = both.get(requestNamed("y"));
  EXPECT_EQ(both.counters().loads, 2u);
  EXPECT_STREQ(x->variant, variantText("x").c_str());
  EXPECT_STREQ(y->variant, variantText("y").c_str());
}

TEST_F(CacheTest, KernelLivesAsLongAsItsHandle) {
  KernelHandle x;
  x = provider().get(requestNamed("x"));
  std::filesystem::remove_all(options.directory);
  const KernelHandle y = provider().get(requestNamed("y"));
  EXPECT_STREQ(x->variant, variantText("x").c_str());
  EXPECT_STREQ(y->variant, variantText("y").c_str());
}

TEST_F(CacheTest, EveryChoiceThatDecidesTheCodeIsSpecified) {
  const auto specification = [&](const KernelRequest &request) {
    return cache()->specificationOf(request);
  };
  const KernelRequest request = requestNamed("x");
  const auto changed = [&](auto change) {
    KernelRequest other = request;
    change(other);
    return specification(other);
  };
  std::vector<std::string> all = {
      specification(request), specification(requestNamed("y")),
      changed([](auto &r) { r.precision = Precision::Mixed; }),
      changed([](auto &r) { r.target = KernelTarget::fromString("x86-64-v3"); }),
      changed([](auto &r) { r.engine = Engine::Interpreter; })};
  options.hostCpu = "host cpu: another\n";
  all.push_back(specification(request));
  options.compilerBuild = "build-id 5678";
  all.push_back(specification(request));
  std::sort(all.begin(), all.end());
  EXPECT_EQ(std::unique(all.begin(), all.end()), all.end());
}

TEST_F(CacheTest, ANamedTargetDoesNotDependOnTheHost) {
  KernelRequest request = requestNamed("x");
  request.target = KernelTarget::fromString("x86-64-v3");
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
  const auto held = other->lock(other->specificationOf(requestNamed("x")));
  ASSERT_TRUE(held);
  options.lockTimeout = std::chrono::milliseconds(700);
  provider().get(requestNamed("x"));
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
  KernelRequest dumped = requestNamed("x");
  dumped.dumpIR = "dir";
  EXPECT_ANY_THROW(second.get(dumped));
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
  EXPECT_EQ(kernels[0].specification, cache()->specificationOf(requestNamed("x")));
  EXPECT_EQ(kernels[0].problem, "");
  EXPECT_EQ(kernels[0].bytes, std::filesystem::file_size(entryOf("x")));
  EXPECT_EQ(cache()->clear(), 1u);
  EXPECT_THAT(files(), IsEmpty());
}

TEST_F(CacheTest, KeepsTheProgramBesideItsKernel) {
  const std::string specification = cache()->specificationOf(requestNamed("x"));
  cache()->publish(specification, buildKernelFile("x"), "module {}");
  const std::filesystem::path program = cache()->programFileOf(specification);
  EXPECT_EQ(program, std::filesystem::path(entryOf("x")).replace_extension(".mlir"));
  EXPECT_EQ(read(program), "module {}");
  EXPECT_EQ(cache()->list().size(), 1u);
  EXPECT_EQ(cache()->clear(), 2u);
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
