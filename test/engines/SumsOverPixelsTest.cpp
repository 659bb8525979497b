// A program of a value and its gradient, written by hand, as a kernel: against plain loops, for any
// number of threads, with pixels that must not count.
#include "test/engines/Engines.h"

#include "runtime/processor/KernelRunner.h"

#include "mlir/Parser/Parser.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

using namespace mlir;
using namespace mlir::nb;

namespace {

// image = sum over j of w v.x F(w x) p^2, where w = t[j], x = (fast, slow, 3); its gradient with
// respect to p, v, t and F.
constexpr StringRef program = R"mlir(
  func.func @image(
      %np: index {nb.name = "panel_count"}, %ns: index {nb.name = "slow_pixels"},
      %nf: index {nb.name = "fast_pixels"}, %n: index {nb.name = "mosaic_domains"}, %p: f64,
      %v: !nb.vec3<f64>, %t: !nb.table<?xf64>, %F: !nb.hkl_grid<f64>,
      %mask: tensor<?x?x?xi8> {nb.name = "mask"},
      %g: tensor<?x?x?xf64> {nb.name = "image_cotangent"})
      -> (tensor<?x?x?xf64> {nb.name = "image"}, f64 {nb.name = "gradient.p"},
          !nb.vec3<f64> {nb.name = "gradient.v"}, !nb.table<?xf64> {nb.name = "gradient.t"},
          !nb.hkl_grid<f64> {nb.name = "gradient.F"}) {
    %three = arith.constant 3.0 : f64
    %one = arith.constant 1 : index
    %last_slow = arith.subi %ns, %one : index
    %p2 = arith.mulf %p, %p : f64
    %img = nb.image panel %a in %np, slow %s in %ns, fast %f in %nf
        roi(%one, %nf, %one, %last_slow) mask(%mask : tensor<?x?x?xi8>) : tensor<?x?x?xf64> {
      %fi = arith.index_cast %f : index to i64
      %ff = arith.sitofp %fi : i64 to f64
      %si = arith.index_cast %s : index to i64
      %sf = arith.sitofp %si : i64 to f64
      %x = nb.vec %ff, %sf, %three : f64
      %xv = nb.dot %x, %v : !nb.vec3<f64>
      %I = nb.sum mosaic %j in %n : f64 {
        %w = nb.lookup %t[%j] : !nb.table<?xf64>
        %h = nb.scale %x, %w : !nb.vec3<f64>
        %k = nb.structure_factor nearest %F[%h] : !nb.hkl_grid<f64>, !nb.vec3<f64>
        %y = arith.mulf %w, %xv : f64
        %z = arith.mulf %y, %k : f64
        %q = arith.mulf %z, %p2 : f64
        nb.yield %q : f64
      }
      nb.yield %I : f64
    }
    %dp2, %dv, %dt, %dF = nb.image panel %a in %np, slow %s in %ns, fast %f in %nf
        roi(%one, %nf, %one, %last_slow) mask(%mask : tensor<?x?x?xi8>)
        : f64, !nb.vec3<f64>, !nb.table<?xf64>, !nb.hkl_grid<f64> {
      %fi = arith.index_cast %f : index to i64
      %ff = arith.sitofp %fi : i64 to f64
      %si = arith.index_cast %s : index to i64
      %sf = arith.sitofp %si : i64 to f64
      %x = nb.vec %ff, %sf, %three : f64
      %xv = nb.dot %x, %v : !nb.vec3<f64>
      %c = nb.read_pixel %g[%a, %s, %f] : tensor<?x?x?xf64>
      %d:4 = nb.sum mosaic %j in %n
          : f64, !nb.vec3<f64>, !nb.table<?xf64>, !nb.hkl_grid<f64> {
        %w = nb.lookup %t[%j] : !nb.table<?xf64>
        %h = nb.scale %x, %w : !nb.vec3<f64>
        %k = nb.structure_factor nearest %F[%h] : !nb.hkl_grid<f64>, !nb.vec3<f64>
        %y = arith.mulf %w, %xv : f64
        %z = arith.mulf %y, %k : f64
        %gz = arith.mulf %z, %c : f64
        %cp = arith.mulf %c, %p2 : f64
        %gk = arith.mulf %cp, %y : f64
        %sF = nb.scatter_factor nearest %gk at [%h] like %F : !nb.hkl_grid<f64>, !nb.vec3<f64>
        %gy = arith.mulf %cp, %k : f64
        %gw = arith.mulf %gy, %xv : f64
        %gxv = arith.mulf %gy, %w : f64
        %gv = nb.scale %x, %gxv : !nb.vec3<f64>
        %st = nb.scatter %gw at [%j] in (%n) : !nb.table<?xf64>
        nb.yield %gz, %gv, %st, %sF
            : f64, !nb.vec3<f64>, !nb.table<?xf64>, !nb.hkl_grid<f64>
      }
      nb.yield %d#0, %d#1, %d#2, %d#3
          : f64, !nb.vec3<f64>, !nb.table<?xf64>, !nb.hkl_grid<f64>
    }
    %two = arith.constant 2.0 : f64
    %tp = arith.mulf %two, %p : f64
    %dp = arith.mulf %dp2, %tp : f64
    return %img, %dp, %dv, %dt, %dF
        : tensor<?x?x?xf64>, f64, !nb.vec3<f64>, !nb.table<?xf64>, !nb.hkl_grid<f64>
  }
)mlir";

/// The numbers that the program computes, or is to compute.
struct Outputs {
  std::vector<double> image, p, v, t, F;
  bool operator==(const Outputs &) const = default;
};

struct Inputs {
  nanobragg::ImageShape shape{2, 21, 13};
  int64_t domains = 10;
  double p = 1.5, v[3] = {0.5, -0.25, 2};
  std::vector<double> t, F, cotangent;
  std::vector<uint8_t> mask;
  nb_hkl_grid grid{-2, 9, 0, 5, 1, 3, nullptr};

  explicit Inputs(int64_t domains = 10, int64_t rows = 21) : domains(domains) {
    shape.slow = rows;
    for (int64_t j = 0; j != domains; ++j)
      t.push_back(0.1234 + 0.37 * std::sin(double(j))); // no reflection is as near as another
    for (int i = 0; i != 12 * 6 * 3; ++i)
      F.push_back(std::cos(0.3 * i));
    grid.data = F.data();
    for (int64_t i = 0; i != shape.pixels(); ++i) {
      mask.push_back(i % 7 != 3);
      // Where nothing is rendered there is nothing to read.
      cotangent.push_back(rendered(i) ? std::sin(0.1 * double(i)) + 0.5
                                      : std::numeric_limits<double>::quiet_NaN());
    }
  }
  bool rendered(int64_t pixel) const {
    const int64_t slow = pixel / shape.fast % shape.slow;
    return mask[size_t(pixel)] && pixel % shape.fast >= 1 && slow >= 1;
  }
  int64_t clampedIndex(double h, int64_t low, int64_t high) const {
    return std::clamp(int64_t(std::ceil(h - 0.5)), low, high) - low;
  }

  std::vector<const void *> arguments() const {
    return {&shape.panels, &shape.slow, &shape.fast, &domains,        &p, v,
            t.data(),      &grid,       mask.data(), cotangent.data()};
  }
  Outputs expected() const;
};

Outputs Inputs::expected() const {
  Outputs out{std::vector<double>(size_t(shape.pixels())),
              {0},
              {0, 0, 0},
              std::vector<double>(t.size()),
              std::vector<double>(F.size())};
  for (int64_t i = 0; i != shape.pixels(); ++i) {
    if (!rendered(i))
      continue;
    const double x[3] = {double(i % shape.fast), double(i / shape.fast % shape.slow), 3};
    const double xv = x[0] * v[0] + x[1] * v[1] + x[2] * v[2], c = cotangent[size_t(i)];
    for (size_t j = 0; j != t.size(); ++j) {
      const double w = t[j];
      const int64_t at = (clampedIndex(w * x[0], grid.h_min, grid.h_max) * 6 +
                          clampedIndex(w * x[1], grid.k_min, grid.k_max)) *
                             3 +
                         clampedIndex(w * x[2], grid.l_min, grid.l_max);
      const double k = F[size_t(at)];
      out.image[size_t(i)] += w * xv * k * p * p;
      out.p[0] += c * w * xv * k * 2 * p;
      for (int a = 0; a != 3; ++a)
        out.v[size_t(a)] += c * w * k * p * p * x[a];
      out.t[j] += c * xv * k * p * p;
      out.F[size_t(at)] += c * w * xv * p * p;
    }
  }
  return out;
}

class SumsOverPixels : public testing::Test {
protected:
  static const nb_kernel_descriptor &kernel() {
    static const auto compiled = [] {
      auto module = parseSourceString<ModuleOp>(program, ParserConfig(&testContext()));
      return valueOf(compileFunction(*module, "image", /*fused=*/false, {}));
    }();
    return compiled->descriptor();
  }

  static Outputs run(const Inputs &in, int threads, nanobragg::RunResult *result = nullptr) {
    const auto arguments = in.arguments();
    const auto sizes = nanobragg::outputSizes(kernel(), arguments.data(), in.shape);
    nanobragg::OutputMemory memory(kernel());
    memory.resize(sizes, nullptr);
    const auto ran = nanobragg::runKernel(kernel(), arguments.data(), in.shape, {1, in.shape.slow},
                                          memory.addresses(), {.threads = threads});
    EXPECT_FALSE(ran.cancelled);
    if (result)
      *result = ran;
    const auto copy = [&](const char *name) {
      const auto numbers = memory.numbers(name);
      return std::vector<double>(numbers.begin(), numbers.end());
    };
    return {copy("image"), copy("gradient.p"), copy("gradient.v"), copy("gradient.t"),
            copy("gradient.F")};
  }
};

void expectNear(const std::vector<double> &found, const std::vector<double> &expected,
                const char *what) {
  ASSERT_EQ(found.size(), expected.size()) << what;
  double largest = 0;
  for (double x : expected)
    largest = std::max(largest, std::fabs(x));
  for (size_t i = 0; i != found.size(); ++i)
    EXPECT_NEAR(found[i], expected[i], 1e-13 * largest) << what << " " << i;
}

TEST_F(SumsOverPixels, AreWhatPlainLoopsGive) {
  const Inputs in;
  const Outputs found = run(in, 1), expected = in.expected();
  expectNear(found.image, expected.image, "image");
  expectNear(found.p, expected.p, "p");
  expectNear(found.v, expected.v, "v");
  expectNear(found.t, expected.t, "t");
  expectNear(found.F, expected.F, "F");
}

TEST_F(SumsOverPixels, AreTheSameBitsForAnyNumberOfThreads) {
  const Inputs in(10, 150);
  const Outputs one = run(in, 1);
  for (int threads : {2, 3, 7})
    EXPECT_EQ(run(in, threads), one) << threads << " threads";
}

TEST_F(SumsOverPixels, TakeLittleMemoryHoweverManySamplesThereAre) {
  nanobragg::RunResult few, many;
  run(Inputs(10, 100), 2, &few);
  run(Inputs(1000, 100), 2, &many);
  // A number for each domain and part, and at most 16 lanes of it for each thread.
  EXPECT_LT(many.accumulatorBytes, few.accumulatorBytes + 1000 * 8 * (64 + 2 * 16));
  EXPECT_EQ(many.workspaceBytes, few.workspaceBytes);
}

TEST_F(SumsOverPixels, AFullRunOfTheInterpreterAgrees) {
  const Inputs in;
  auto module = parseSourceString<ModuleOp>(program, ParserConfig(&testContext()));
  RunArguments arguments;
  for (const void *address : in.arguments())
    arguments.push_back({address, {}});
  auto results = interpret(module->lookupSymbol<func::FuncOp>("image"), arguments, {});
  if (!results)
    GTEST_SKIP() << llvm::toString(results.takeError());
  const Outputs compiled = run(in, 1);
  expectNear((*results)[0].values, compiled.image, "image");
  expectNear((*results)[1].values, compiled.p, "p");
  expectNear((*results)[2].values, compiled.v, "v");
  expectNear((*results)[3].values, compiled.t, "t");
  expectNear((*results)[4].values, compiled.F, "F");
}

} // namespace
