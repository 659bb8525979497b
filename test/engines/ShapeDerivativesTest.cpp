// Derivatives of any order of the ops that have them: the interpreter and the compiled code,
// which share no formula, at random points and at the singular ones.
#include "test/engines/Engines.h"

#include "mlir/Parser/Parser.h"
#include "llvm/Support/FormatVariadic.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <numeric>
#include <random>

using namespace mlir;
using namespace mlir::nb;

namespace {
/// Rows of an image, each of them one op along x = x0 + dx * fast, 0 <= fast < 61: eight lanes at a
/// time, with some left over.
class Rows {
public:
  /// `setup` defines what the ops take from %x and the function's `arguments`; each op is written
  /// without its result.
  Rows(std::string arguments, std::string setup, const std::vector<std::string> &ops) : ops(ops) {
    std::string text = "func.func @rows(%x0: f64, %dx: f64, " + arguments +
                       ") -> tensor<?x?x?xf64> {\n"
                       "  %one = arith.constant 1 : index\n  %width = arith.constant 61 : index\n" +
                       llvm::formatv("  %height = arith.constant {0} : index\n", ops.size()).str() +
                       "  %zero = arith.constant 0.0 : f64\n"
                       "  %image = nb.image panel %p in %one, slow %s in %height, fast %f in %width"
                       " : tensor<?x?x?xf64> {\n"
                       "    %i = arith.index_cast %f : index to i64\n"
                       "    %t = arith.sitofp %i : i64 to f64\n"
                       "    %step = arith.mulf %t, %dx : f64\n"
                       "    %x = arith.addf %x0, %step : f64\n" +
                       setup;
    std::string last = "%zero";
    for (auto [i, op] : llvm::enumerate(ops)) {
      text += llvm::formatv("    %v{0} = {1}\n    %k{0} = arith.constant {0} : index\n"
                            "    %c{0} = arith.cmpi eq, %s, %k{0} : index\n"
                            "    %r{0} = arith.select %c{0}, %v{0}, {2} : f64\n",
                            i, op, last)
                  .str();
      last = llvm::formatv("%r{0}", i).str();
    }
    text += "    nb.yield " + last + " : f64\n  }\n  return %image : tensor<?x?x?xf64>\n}\n";
    program = parseSourceString<ModuleOp>(text, ParserConfig(&testContext()));
    if (!program)
      throw std::runtime_error("cannot parse " + text);
    kernel = valueOf(compileFunction(*program, "rows", /*fused=*/false, CompileOptions()));
  }

  /// Remembers both engines' rows; a line of x is two numbers, x0 and dx.
  void run(std::array<double, 2> line, const RunArguments &rest) {
    RunArguments arguments = {{&line[0], {}}, {&line[1], {}}};
    arguments.insert(arguments.end(), rest.begin(), rest.end());
    RenderedImage expected =
        valueOf(interpretImage(program->lookupSymbol<func::FuncOp>("rows"), arguments, 1));
    RenderedImage actual = renderImage(kernel->descriptor(), arguments, expected.shape);
    lines.push_back({line, std::move(expected.pixels), std::move(actual.pixels)});
  }

  /// Differences in ulps of the largest value of the row since the last time, or of its entry in
  /// `least` if that is larger, are below `ulps`.
  void expectAgreement(double ulps, const std::vector<double> &least = {}) {
    for (size_t row = 0; row < ops.size(); ++row) {
      double scale = least.empty() ? 0 : least[row];
      auto each = [&](auto visit) {
        for (const Line &line : lines)
          for (size_t i = row * 61; i < (row + 1) * 61; ++i)
            visit(line, i);
      };
      each(
          [&](const Line &line, size_t i) { scale = std::max(scale, std::abs(line.expected[i])); });
      each([&](const Line &line, size_t i) {
        double difference = std::abs(line.expected[i] - line.actual[i]);
        // Not std::max: NaN must not get lost.
        EXPECT_TRUE(difference <= ulps * 0x1p-52 * scale)
            << ops[row] << " at x = " << line.x[0] + double(i - row * 61) * line.x[1] << ": "
            << line.expected[i] << " interpreted, " << line.actual[i] << " compiled, largest "
            << scale;
      });
    }
    lines.clear();
  }

private:
  struct Line {
    std::array<double, 2> x;
    std::vector<double> expected, actual;
  };
  std::vector<std::string> ops;
  OwningOpRef<ModuleOp> program;
  std::unique_ptr<JitKernel> kernel;
  std::vector<Line> lines;
};

/// The peak, near it, across it, the whole period, and anywhere.
std::vector<std::array<double, 2>> linesFor(double n) {
  double reach = std::min(0.5, 2 / n);
  std::vector<std::array<double, 2>> lines = {{0, 0},
                                              {-30e-300, 1e-300},
                                              {-30e-12, 1e-12},
                                              {-30e-6, 1e-6},
                                              {-0.5, 1 / 60.},
                                              {-reach, reach / 30},
                                              // Half a turn, where formulas change.
                                              {0.5 / n - 30e-12, 1e-12},
                                              {-0.5 / n - 30e-12, 1e-12}};
  std::mt19937 random(7);
  std::uniform_real_distribution<double> uniform(-0.5, 0.49);
  for (int i = 0; i < 4; ++i) {
    double x0 = uniform(random);
    lines.push_back({x0, (0.5 - x0) / 61});
  }
  if (n < 1)
    lines.erase(lines.begin() + 6, lines.begin() + 8);
  return lines;
}

TEST(ShapeDerivatives, SincgOfAnyOrder) {
  std::vector<std::string> ops;
  std::vector<double> terms; // terms that are 0 for one cell
  for (int m = 0; m <= 4; ++m)
    for (int c = 0; m + c <= 5; ++c) {
      ops.push_back(llvm::formatv("nb.sincg %x, %n order {0} cells {1} : f64", m, c));
      terms.push_back(std::pow(std::numbers::pi, m + c));
    }
  Rows rows("%n: f64", "", ops);
  for (double n : {0.5, 1.0, 2.0, 2.5, 7.0, 100.0, 1000.0, 1000.37}) {
    for (std::array<double, 2> line : linesFor(n))
      rows.run(line, {{&n, {}}});
    SCOPED_TRACE(n);
    rows.expectAgreement(n > 2 ? 64 : 256, terms);
  }
}

TEST(ShapeDerivatives, GratingOfAnyOrder) {
  std::vector<std::string> ops;
  for (const char *orders :
       {"", "order [1, 0, 0]", "order [0, 1, 0]", "order [0, 0, 1]", "cells [1, 0, 0]",
        "cells [0, 1, 0]", "cells [0, 0, 1]", "order [2, 0, 0]", "order [0, 1, 1]",
        "order [1, 1, 1]", "order [0, 1, 0] cells [0, 1, 0]", "order [1, 0, 0] cells [0, 0, 2]",
        "cells [0, 2, 0]", "order [0, 0, 3]", "order [2, 1, 0] cells [0, 1, 3]"})
    ops.push_back(std::string("nb.grating %d, %n ") + orders + " : !nb.vec3<f64>");
  Rows rows("%y: f64, %z: f64, %n: !nb.vec3<f64>", "    %d = nb.vec %x, %y, %z : f64\n", ops);
  double cells[3] = {10, 1000, 2.5};
  for (double n : {1000.0, 10.0, 2.5}) {
    cells[0] = n;
    for (double y : {0.0, 1e-9, -0.0013})
      for (double z : {0.0, 0.3, -0.5})
        for (std::array<double, 2> line : linesFor(n))
          rows.run(line, {{&y, {}}, {&z, {}}, {cells, {}}});
    SCOPED_TRACE(n);
    rows.expectAgreement(64);
  }
}

/// In f32 of distances in f64: the number of cells does not count, and away from the peak the terms
/// there are the scale.
TEST(ShapeDerivatives, GratingInSinglePrecision) {
  std::string setup = "    %d = nb.vec %x, %y, %z : f64\n";
  std::vector<std::string> ops;
  for (const char *orders :
       {"", "order [1, 0, 0]", "order [0, 1, 0]", "cells [1, 0, 0]", "order [2, 0, 0]",
        "order [1, 0, 1]", "order [1, 0, 0] cells [1, 0, 0]", "cells [0, 0, 2]",
        "order [3, 0, 0]"}) {
    setup += llvm::formatv("    %s{0} = nb.grating %d, %n {1} : !nb.vec3<f64> -> f32\n", ops.size(),
                           orders);
    ops.push_back(llvm::formatv("arith.extf %s{0} : f32 to f64", ops.size()));
  }
  Rows rows("%y: f64, %z: f64, %n: !nb.vec3<f64>", setup, ops);
  constexpr double single = 0x1p29; // ulps of f64
  for (double n : {2.5, 10.0, 1000.0}) {
    double cells[3] = {n, 3, 10};
    for (double y : {1e-9, -0.0013})
      for (double z : {0.01, 0.3})
        for (auto [i, line] : llvm::enumerate(linesFor(n))) {
          rows.run(line, {{&y, {}}, {&z, {}}, {cells, {}}});
          if (i < 7)
            continue; // the peak, the whole period, and where a factor is 0: together with the next
          SCOPED_TRACE(n);
          rows.expectAgreement(16 * single);
        }
  }
}

TEST(ShapeDerivatives, BallOfAnyOrder) {
  std::vector<std::string> ops;
  for (int k = 0; k <= 5; ++k)
    ops.push_back(llvm::formatv("nb.ball %x order {0} : f64", k));
  Rows rows("%unused: f64", "", ops);
  double unused = 0;
  for (std::array<double, 2> line : std::vector<std::array<double, 2>>{{0, 0},
                                                                       {0, 1e-300},
                                                                       {0, 1e-12},
                                                                       {0, 0.5},
                                                                       {0, 0.1},
                                                                       {3.9, 0.005},
                                                                       {8.9, 0.005},
                                                                       {15.9, 0.005},
                                                                       {24.9, 0.005},
                                                                       {30, 7},
                                                                       {100, 1e4}})
    rows.run(line, {{&unused, {}}});
  rows.expectAgreement(16);
}

TEST(ShapeDerivatives, MatricesAreAddedAndMultiplied) {
  Rows rows(
      "%a: !nb.mat3<f64>, %b: !nb.mat3<f64>",
      "    %u = nb.row %a[0] : !nb.mat3<f64>\n    %w = nb.row %b[1] : !nb.mat3<f64>\n"
      "    %v = nb.scale %w, %x : !nb.vec3<f64>\n    %o = nb.outer %u, %v : !nb.vec3<f64>\n"
      "    %plus = nb.add %o, %a : !nb.mat3<f64>\n    %minus = nb.sub %b, %plus : !nb.mat3<f64>\n"
      "    %m = nb.scale %minus, %x : !nb.mat3<f64>\n",
      {"nb.frobenius %m, %b : !nb.mat3<f64>", "nb.element %m[0, 2] : !nb.mat3<f64>",
       "nb.element %o[2, 1] : !nb.mat3<f64>", "nb.frobenius %o, %plus : !nb.mat3<f64>"});
  double a[9], b[9];
  std::iota(a, a + 9, -3.5);
  std::iota(b, b + 9, 0.25);
  rows.run({-2, 0.07}, {{a, {}}, {b, {}}});
  rows.expectAgreement(4);
}

TEST(ShapeDerivatives, OfTheInterpolatedStructureFactor) {
  std::vector<std::string> ops;
  for (const char *order : {"0, 0, 0", "1, 0, 0", "0, 1, 0", "0, 0, 1", "2, 0, 0", "1, 1, 0",
                            "0, 1, 2", "3, 0, 0", "1, 1, 1", "0, 0, 3"})
    ops.push_back(llvm::formatv("nb.structure_factor tricubic %F[%q] order [{0}] : "
                                "!nb.hkl_grid<f64>, !nb.vec3<f64>",
                                order));
  Rows rows("%k: f64, %l: f64, %F: !nb.hkl_grid<f64>", "    %q = nb.vec %x, %k, %l : f64\n", ops);
  std::mt19937 random(3);
  std::uniform_real_distribution<double> uniform(0, 100);
  std::vector<double> values(7 * 6 * 8);
  for (double &value : values)
    value = uniform(random);
  nb_hkl_grid grid = {-3, 3, -2, 3, 0, 7, values.data()};
  // Between nodes, on them, and at the edges of what nb.in_grid accepts: elsewhere either engine
  // may yield any value.
  for (double k : {0.3, 1.0, 0.0})
    for (double l : {2.0, 3.75, 5.0})
      for (double x0 : {-1.0, -0.8765})
        rows.run({x0, 1 / 32.}, {{&k, {}}, {&l, {}}, {&grid, {}}});
  rows.expectAgreement(16);
}
} // namespace
