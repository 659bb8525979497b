// Rules of the ops that read a grid or table: linear in it, and adding up its adjoint.
#include "test/Dialect/derivatives/Formula.h"

#include "nanobragg/KernelABI.h"

#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

#include <cmath>
#include <random>

using namespace mlir;
using namespace mlir::nb;
using namespace mlir::nb::test;

namespace {
/// 7 x 8 x 6 reflections.
struct Grid {
  explicit Grid(unsigned seed) : values(7 * 8 * 6) {
    std::mt19937 random(seed);
    for (double &value : values)
      value = std::uniform_real_distribution<>(-1, 1)(random);
  }
  nb_hkl_grid get() const { return {-3, 3, -4, 3, 1, 6, values.data()}; }

  std::vector<double> values;
};

/// `op` reads grid %F at %h, with %d as default where it has one.
class Lookup {
public:
  explicit Lookup(const std::string &op)
      : context(registryOfFormulas(), MLIRContext::Threading::DISABLED) {
    std::string types = " : !nb.hkl_grid<f64>, !nb.vec3<f64> ";
    module = parseSourceString<ModuleOp>(
        "func.func @f(%F: !nb.hkl_grid<f64>, %h: !nb.vec3<f64>, %d: f64) -> f64 {\n"
        "  %v = " +
            op + types +
            "return %v : f64 }\n"
            // The adjoint of the value is %g; the rules' results take the places of the yielded
            // values.
            "func.func @adjoint(%F: !nb.hkl_grid<f64>, %h: !nb.vec3<f64>, %d: f64, %g: f64)\n"
            "    -> (!nb.hkl_grid<f64>, !nb.vec3<f64>, f64) {\n"
            "  %one = arith.constant 1 : index\n"
            "  %r:3 = nb.sum source %i in %one : !nb.hkl_grid<f64>, !nb.vec3<f64>, f64 {\n"
            "    %v = " +
            op + types + "    %z = nb.scatter_factor nearest %d at [%h] like %F" + types +
            "    nb.yield %z, %h, %v : !nb.hkl_grid<f64>, !nb.vec3<f64>, f64\n"
            "  }\n"
            "  return %r#0, %r#1, %r#2 : !nb.hkl_grid<f64>, !nb.vec3<f64>, f64\n"
            "}",
        ParserConfig(&context));
    if (!module)
      return;
    auto functions = llvm::to_vector(module->getOps<func::FuncOp>());
    std::string missing;
    func::FuncOp tangent = tangentOf(functions[0], 3, missing);
    useAdjoints(functions[1]);
    auto prepare = [](func::FuncOp function) {
      auto interpreter = Interpreter::prepare(function);
      return succeeded(interpreter) ? std::make_unique<Interpreter>(std::move(*interpreter))
                                    : nullptr;
    };
    plain = prepare(functions[0]);
    forward = prepare(tangent);
    reverse = prepare(functions[1]);
  }

  bool ready() const { return plain && forward && reverse; }

  double value(const Grid &F, const Numbers &h, double d) const {
    nb_hkl_grid grid = F.get();
    return (*plain->run({{&grid, {}}, {h.data(), {}}, {&d, {}}}))[0].values[0];
  }
  double tangent(const Grid &F, const Numbers &h, double d, const Grid &tF, const Numbers &th,
                 double td) const {
    nb_hkl_grid grid = F.get(), step = tF.get();
    return (*forward->run(
        {{&grid, {}}, {h.data(), {}}, {&d, {}}, {&step, {}}, {th.data(), {}}, {&td, {}}}))[0]
        .values[0];
  }
  std::vector<InterpreterResult> adjoint(const Grid &F, const Numbers &h, double d,
                                         double g) const {
    nb_hkl_grid grid = F.get();
    return *reverse->run({{&grid, {}}, {h.data(), {}}, {&d, {}}, {&g, {}}});
  }

private:
  static void useAdjoints(func::FuncOp function) {
    StructureFactorOp op;
    function.walk([&](StructureFactorOp found) { op = found; });
    Operation *yield = op->getBlock()->getTerminator();
    OpBuilder builder(yield);
    Value g = function.getArgument(3);
    for (unsigned i = 0; i < 3; ++i) {
      Value adjoint = i < op->getNumOperands() ? op.adjoint(builder, i, g) : Value();
      yield->setOperand(i, adjoint ? adjoint
                                   : zeroOf(builder, op.getLoc(), yield->getOperand(i).getType()));
    }
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  std::unique_ptr<Interpreter> plain, forward, reverse;
};

class GridRules : public testing::TestWithParam<const char *> {};

TEST_P(GridRules, TangentIsTheSlopeAndAdjointItsTranspose) {
  Lookup lookup(GetParam());
  ASSERT_TRUE(lookup.ready());
  Grid F(1), tF(2);
  Numbers th = {0.3, -0.4, 0.2};
  double d = 0.7, td = 0.5, g = 1.3;
  // Inside, at whole indices, where interpolation misses neighbours, outside.
  for (const Numbers &h : {Numbers{0.3, -0.7, 3.4}, Numbers{-0.8, 0.6, 3.1}, Numbers{0, -1, 3.3},
                           Numbers{-1.3, 0.2, 3.4}, Numbers{9.3, 0.2, 3.4}}) {
    double step = 1e-3;
    auto moved = [&](double by) {
      Grid grid = F;
      for (size_t i = 0; i < grid.values.size(); ++i)
        grid.values[i] += by * tF.values[i];
      return lookup.value(grid, {h[0] + by * th[0], h[1] + by * th[1], h[2] + by * th[2]},
                          d + by * td);
    };
    auto central = [&](double by) { return (moved(by) - moved(-by)) / (2 * by); };
    double slope = (4 * central(step / 2) - central(step)) / 3;
    double tangent = lookup.tangent(F, h, d, tF, th, td);
    // Clamped into its range interpolation is constant along h, the derivative that of the edge; at
    // whole indices, where two cubics meet, it is that of one of them.
    llvm::StringRef op = GetParam();
    bool clamped = std::abs(h[0]) > 1 && !op.contains("default"), meeting = h[0] == 0;
    if (!op.contains("tricubic") || !(clamped || meeting))
      EXPECT_NEAR(tangent, slope, 1e-8) << GetParam() << " at " << testing::PrintToString(h);

    auto adjoint = lookup.adjoint(F, h, d, g);
    ASSERT_EQ(adjoint.size(), 3u);
    ASSERT_EQ(adjoint[0].values.size(), F.values.size());
    double transposed = inner(adjoint[0].values, tF.values) + inner(adjoint[1].values, th) +
                        (adjoint[2].values[0]) * td;
    EXPECT_NEAR(transposed, g * tangent, 1e-12)
        << GetParam() << " at " << testing::PrintToString(h);
  }
}

INSTANTIATE_TEST_SUITE_P(Every, GridRules,
                         testing::Values("nb.structure_factor nearest %F[%h]",
                                         "nb.structure_factor tricubic %F[%h]",
                                         "nb.structure_factor tricubic %F[%h] order [1, 0, 2]",
                                         "nb.structure_factor tricubic %F[%h] order [0, 3, 0]",
                                         "nb.structure_factor nearest %F[%h] default %d",
                                         "nb.structure_factor tricubic %F[%h] default %d"));

/// A nb.scatter_factor of %v at %h, its tangent by both and its adjoint for the adjoint %G of the
/// grid.
class Scattered {
public:
  explicit Scattered(const std::string &attributes)
      : context(registryOfFormulas(), MLIRContext::Threading::DISABLED) {
    const std::string scatter =
        "    %z = nb.scatter_factor " + attributes + " : !nb.hkl_grid<f64>, !nb.vec3<f64>\n";
    auto function = [&](const std::string &name, const std::string &results) {
      return "func.func @" + name +
             "(%G: !nb.hkl_grid<f64>, %h: !nb.vec3<f64>, %v: f64, %th: !nb.vec3<f64>, %tv: f64) -> "
             "(" +
             results + ") {\n  %one = arith.constant 1 : index\n";
    };
    auto gridOf = [&](const std::string &name) {
      return function(name, "!nb.hkl_grid<f64>") +
             "  %r = nb.sum source %i in %one : !nb.hkl_grid<f64> {\n" + scatter +
             "    nb.yield %z : !nb.hkl_grid<f64>\n  }\n  return %r : !nb.hkl_grid<f64>\n}\n";
    };
    module = parseSourceString<ModuleOp>(
        gridOf("value") + gridOf("tangent") + function("adjoint", "!nb.vec3<f64>, f64") +
            "  %r:3 = nb.sum source %i in %one : !nb.hkl_grid<f64>, !nb.vec3<f64>, f64 {\n" +
            scatter +
            "    nb.yield %z, %h, %v : !nb.hkl_grid<f64>, !nb.vec3<f64>, f64\n  }\n"
            "  return %r#1, %r#2 : !nb.vec3<f64>, f64\n}",
        ParserConfig(&context));
    if (!module)
      return;
    auto functions = llvm::to_vector(module->getOps<func::FuncOp>());
    useTangent(functions[1]);
    useAdjoint(functions[2]);
    for (func::FuncOp function : functions)
      if (auto prepared = Interpreter::prepare(function); succeeded(prepared))
        interpreters.push_back(std::make_unique<Interpreter>(std::move(*prepared)));
  }

  bool ready() const { return interpreters.size() == 3; }

  std::vector<InterpreterResult> run(int which, const Grid &G, const Numbers &h, double v,
                                     const Numbers &th, double tv) const {
    nb_hkl_grid grid = G.get();
    return *interpreters[which]->run(
        {{&grid, {}}, {h.data(), {}}, {&v, {}}, {th.data(), {}}, {&tv, {}}});
  }

private:
  static ScatterFactorOp scatterOf(func::FuncOp function) {
    ScatterFactorOp op;
    function.walk([&](ScatterFactorOp found) { op = found; });
    return op;
  }
  static void useTangent(func::FuncOp function) {
    ScatterFactorOp op = scatterOf(function);
    Operation *yield = op->getBlock()->getTerminator();
    OpBuilder builder(yield);
    Value byValue = op.tangent(builder, 0, function.getArgument(4));
    Value byIndex = op.tangent(builder, 1, function.getArgument(3));
    yield->setOperand(0, byIndex ? AddOp::create(builder, op.getLoc(), byValue, byIndex) : byValue);
  }
  static void useAdjoint(func::FuncOp function) {
    ScatterFactorOp op = scatterOf(function);
    Operation *yield = op->getBlock()->getTerminator();
    OpBuilder builder(yield);
    Value byValue = op.adjoint(builder, 0, function.getArgument(0));
    Value byIndex = op.adjoint(builder, 1, function.getArgument(0));
    yield->setOperand(1, byIndex ? byIndex
                                 : zeroOf(builder, op.getLoc(), yield->getOperand(1).getType()));
    yield->setOperand(2, byValue);
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  std::vector<std::unique_ptr<Interpreter>> interpreters;
};

class ScatterRules : public testing::TestWithParam<const char *> {};

TEST_P(ScatterRules, TangentIsTheSlopeAndAdjointItsTranspose) {
  Scattered scattered(GetParam());
  ASSERT_TRUE(scattered.ready());
  const Grid G(3);
  const Numbers th = {0.3, -0.4, 0.2};
  const double v = 1.7, tv = 0.6;
  for (const Numbers &h : {Numbers{0.3, -0.7, 3.4}, Numbers{-0.8, 0.6, 3.1}}) {
    auto moved = [&](double by) {
      Numbers there = {h[0] + by * th[0], h[1] + by * th[1], h[2] + by * th[2]};
      return scattered.run(0, G, there, v + by * tv, th, tv)[0].values;
    };
    const Numbers tangent = scattered.run(1, G, h, v, th, tv)[0].values;
    const double step = 1e-3;
    const Numbers far[2] = {moved(-step), moved(step)},
                  near[2] = {moved(-step / 2), moved(step / 2)};
    ASSERT_EQ(tangent.size(), G.values.size());
    for (size_t i = 0; i < tangent.size(); ++i) {
      const double slope =
          (4 * (near[1][i] - near[0][i]) / step - (far[1][i] - far[0][i]) / (2 * step)) / 3;
      EXPECT_NEAR(tangent[i], slope, 1e-8) << GetParam() << ", node " << i;
    }
    const auto adjoint = scattered.run(2, G, h, v, th, tv);
    EXPECT_NEAR(inner(adjoint[0].values, th) + adjoint[1].values[0] * tv, inner(G.values, tangent),
                1e-12)
        << GetParam();
  }
}

INSTANTIATE_TEST_SUITE_P(Every, ScatterRules,
                         testing::Values("nearest %v at [%h] like %G",
                                         "tricubic %v at [%h] like %G",
                                         "tricubic %v at [%h] like %G order [1, 0, 2]"));
} // namespace
