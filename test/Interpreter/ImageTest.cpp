#include "test/Interpreter/Support.h"

#include "gtest/gtest.h"

using namespace mlir::nb;
using namespace mlir::nb::test;

namespace {
/// 1000 panel + 100 slow + fast + 1.
const char *const numbered = R"(
  func.func @f(%np: index, %ns: index, %nf: index) -> tensor<?x?x?xf32> {
    %one = arith.constant 1 : index
    %hundred = arith.constant 100 : index
    %thousand = arith.constant 1000 : index
    %image = nb.image panel %p in %np, slow %s in %ns, fast %q in %nf : tensor<?x?x?xf32> {
      %a = arith.muli %p, %thousand : index
      %b = arith.muli %s, %hundred : index
      %c = arith.addi %a, %b : index
      %d = arith.addi %c, %q : index
      %e = arith.addi %d, %one : index
      %i = arith.index_cast %e : index to i64
      %x = arith.sitofp %i : i64 to f32
      nb.yield %x : f32
    }
    return %image : tensor<?x?x?xf32>
  })";

TEST(Image, IsIndexedPanelSlowFast) {
  Program program(numbered);
  auto results = program.run({{2}, {3}, {4}});
  ASSERT_EQ(results.size(), 1u);
  EXPECT_EQ(results[0].shape, (llvm::SmallVector<int64_t>{2, 3, 4}));
  EXPECT_EQ(results[0].values[(1 * 3 + 2) * 4 + 3], 1204);
}

TEST(Image, GoesToTheCallersMemory) {
  std::vector<float> pixels(24, -1);
  InterpreterOptions options;
  options.image = pixels.data();
  auto results = Program(numbered).run({{2}, {3}, {4}}, options);
  ASSERT_EQ(results.size(), 1u);
  EXPECT_TRUE(results[0].values.empty());
  EXPECT_EQ(pixels[(1 * 3 + 2) * 4 + 3], 1204);
}

TEST(Image, IsTheSameForAnyNumberOfThreads) {
  InterpreterOptions one, four;
  one.threads = 1;
  four.threads = 4;
  Program program(numbered);
  EXPECT_EQ(program.values({{2}, {70}, {90}}, one), program.values({{2}, {70}, {90}}, four));
}

TEST(Image, RegionAndMaskLeaveZeros) {
  Program program(R"(
    func.func @f(%ns: index, %nf: index, %f0: index, %f1: index, %s0: index, %s1: index,
                 %mask: tensor<?x?x?xi8>) -> tensor<?x?x?xf64> {
      %one = arith.constant 1 : index
      %c = arith.constant 5.0 : f64
      %image = nb.image panel %p in %one, slow %s in %ns, fast %q in %nf
          roi(%f0, %f1, %s0, %s1) mask(%mask : tensor<?x?x?xi8>) : tensor<?x?x?xf64> {
        nb.yield %c : f64
      }
      return %image : tensor<?x?x?xf64>
    })");
  if (!program.prepared())
    return;
  const int64_t numbers[] = {3, 4, 1, 99, -5, 1}; // the region may exceed the image
  const uint8_t mask[] = {1, 1, 1, 1, 1, 0, 1, 1, 1, 1, 1, 1};
  std::vector<InterpreterArgument> arguments;
  for (const int64_t &number : numbers)
    arguments.push_back({&number, {}});
  arguments.push_back({mask, {}});
  auto results = program.runBound(arguments, InterpreterOptions());
  ASSERT_EQ(results.size(), 1u);
  EXPECT_EQ(results[0].values, (std::vector<double>{0, 5, 5, 5, 0, 0, 5, 5, 0, 0, 0, 0}));
}

TEST(Image, OfImpossibleSizesIsAnError) {
  Program negative(numbered);
  EXPECT_TRUE(negative.run({{1}, {-3}, {4}}).empty());
  EXPECT_EQ(negative.errors(), "an image of 1 x -3 x 4 pixels cannot be made\n");

  Program masked(R"(
    func.func @f(%n: index, %mask: tensor<?x?x?xi8>) -> tensor<?x?x?xf64> {
      %c = arith.constant 5.0 : f64
      %image = nb.image panel %p in %n, slow %s in %n, fast %q in %n
          mask(%mask : tensor<?x?x?xi8>) : tensor<?x?x?xf64> {
        nb.yield %c : f64
      }
      return %image : tensor<?x?x?xf64>
    })");
  const int64_t n = 1;
  const uint8_t mask[] = {1, 1};
  EXPECT_TRUE(masked.runBound({{&n, {}}, {mask, {1, 1, 2}}}, InterpreterOptions()).empty());
  EXPECT_EQ(masked.errors(), "the mask has 1 x 1 x 2 pixels where the image has 1 x 1 x 1\n");
}

TEST(Image, ElementsOfAnotherImageCanBeRead) {
  Program program(R"(
    func.func @f(%n: index, %t: tensor<?x?x?xf64>) -> tensor<?x?x?xf64> {
      %one = arith.constant 1 : index
      %two = arith.constant 2 : index
      %size = tensor.dim %t, %two : tensor<?x?x?xf64>
      %image = nb.image panel %p in %one, slow %s in %one, fast %q in %n : tensor<?x?x?xf64> {
        %last = arith.subi %size, %one : index
        %mirrored = arith.subi %last, %q : index
        %x = tensor.extract %t[%p, %s, %mirrored] : tensor<?x?x?xf64>
        nb.yield %x : f64
      }
      return %image : tensor<?x?x?xf64>
    })");
  int64_t n = 3;
  const double data[] = {1, 2, 3};
  auto results = program.runBound({{&n, {}}, {data, {1, 1, 3}}}, InterpreterOptions());
  ASSERT_EQ(results.size(), 1u);
  EXPECT_EQ(results[0].values, (std::vector<double>{3, 2, 1}));
  n = 4;
  EXPECT_TRUE(program.runBound({{&n, {}}, {data, {1, 1, 3}}}, InterpreterOptions()).empty());
  EXPECT_EQ(program.errors(), "'tensor.extract' op reads outside the tensor\n");
}

TEST(Image, ReportsProgressAndCanBeCancelled) {
  Program program(numbered);
  std::vector<double> fractions;
  InterpreterOptions options;
  options.threads = 1;
  options.progress = [&](double fraction) { fractions.push_back(fraction); };
  program.run({{1}, {100}, {100}}, options);
  ASSERT_GT(fractions.size(), 2u);
  EXPECT_TRUE(std::is_sorted(fractions.begin(), fractions.end()));
  EXPECT_EQ(fractions.back(), 1);

  int asked = 0;
  options.cancelled = [&] { return ++asked > 3; };
  fractions.clear();
  auto image = program.values({{1}, {100}, {100}}, options);
  ASSERT_EQ(image.size(), 10000u);
  EXPECT_EQ(image[0], 1);
  EXPECT_EQ(image.back(), 0);
  EXPECT_LT(fractions.back(), 1);
}

TEST(Image, LanesOfAVectorizedBodyArePixels) {
  Program program(R"(
    func.func @f(%n: index) -> tensor<?x?x?xf64> {
      %one = arith.constant 1 : index
      %image = nb.image panel %p in %one, slow %s in %one, fast %q in %n
          lanes(4) : tensor<?x?x?xf64> {
        %i = arith.index_cast %q : vector<4xindex> to vector<4xi64>
        %x = arith.sitofp %i : vector<4xi64> to vector<4xf64>
        %c = arith.constant dense<0.5> : vector<4xf64>
        %y = arith.addf %x, %c : vector<4xf64>
        nb.yield %y : vector<4xf64>
      }
      return %image : tensor<?x?x?xf64>
    })");
  EXPECT_EQ(program.values({{5}}), (std::vector<double>{0.5, 1.5, 2.5, 3.5, 4.5}));
}
} // namespace
