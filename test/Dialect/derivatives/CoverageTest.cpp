// No op falls through: each has rules, an expansion, a declaration that it is inactive, or is one
// of those named here. And each rule and expansion has a case in the table.
#include "test/Dialect/derivatives/Formula.h"
#include "test/Dialect/derivatives/RuleCases.h"

#include "lib/Interpreter/Planner.h"

#include "gtest/gtest.h"

#include <set>

using namespace mlir;
using namespace mlir::nb;
using namespace mlir::nb::test;

namespace {
/// Loops and what belongs to them: nb-differentiate itself knows what to do.
const std::set<std::string> structural = {"nb.image",  "nb.sum",   "nb.first", "nb.tabulate",
                                          "nb.lookup", "nb.yield", "nb.probe", "nb.read_pixel"};
/// Differentiation comes before culling, lanes and memory; a rule is for an op of one result.
const std::set<std::string> refused = {"nb.splat", "nb.parts", "nb.stored", "nb.reach",
                                       "math.sincos"};
/// Whole numbers and conditions.
const std::set<std::string> discrete = {"nb.in_grid",       "nb.within_resolution",
                                        "arith.addi",       "arith.subi",
                                        "arith.muli",       "arith.divsi",
                                        "arith.divui",      "arith.remsi",
                                        "arith.remui",      "arith.floordivsi",
                                        "arith.ceildivsi",  "arith.andi",
                                        "arith.ori",        "arith.xori",
                                        "arith.maxsi",      "arith.minsi",
                                        "arith.maxui",      "arith.minui",
                                        "arith.cmpi",       "arith.cmpf",
                                        "arith.index_cast", "arith.index_castui",
                                        "arith.fptosi",     "arith.fptoui",
                                        "arith.shli",       "arith.shrsi",
                                        "arith.shrui",      "arith.ceildivui",
                                        "arith.bitcast",    "arith.trunci",
                                        "arith.extsi",      "arith.extui",
                                        "math.absi",        "math.isnan",
                                        "math.isinf",       "math.isfinite",
                                        "math.ctpop",       "math.cttz",
                                        "math.ctlz",        "math.isnormal"};
/// Tested where grids and tables are: GridRulesTest.cpp; nb.tabulated_factor with experiments, in
/// test/gradcheck.
const std::set<std::string> collections = {"nb.structure_factor", "nb.scatter_factor", "nb.scatter",
                                           "nb.tabulated_factor", "nb.table_position"};
/// f32 to f64 and back: tested below.
const std::set<std::string> casts = {"arith.extf", "arith.truncf"};

struct Ops : testing::Test {
  Ops() : context(registryOfFormulas()) { context.loadAllAvailableDialects(); }

  /// All ops of nb, and of arith and math those that the interpreter can run.
  std::vector<RegisteredOperationName> covered() {
    std::vector<RegisteredOperationName> ops;
    for (RegisteredOperationName op : context.getRegisteredOperations()) {
      StringRef dialect = op.getDialectNamespace();
      if (dialect == "nb" ||
          ((dialect == "arith" || dialect == "math") && op.hasInterface<EvaluableOp>()))
        ops.push_back(op);
    }
    return ops;
  }

  MLIRContext context;
};

TEST_F(Ops, HaveADerivativeOrSayWhyNot) {
  size_t checked = 0;
  for (RegisteredOperationName op : covered()) {
    std::string name = op.getStringRef().str();
    bool declared = op.hasInterface<DifferentiableOp>() || op.hasInterface<ExpandableOp>() ||
                    op.hasInterface<InactiveOp>() || op.hasInterface<PointwiseResponse>() ||
                    op.hasInterface<NeighbourResponse>();
    bool exempt = structural.contains(name) || refused.contains(name) || discrete.contains(name);
    EXPECT_NE(declared, exempt) << name
                                << (declared ? " has a rule and is exempt as well"
                                             : " has no derivative rule, no expansion "
                                               "and is not declared inactive");
    ++checked;
  }
  EXPECT_GT(checked, 100u);
}

TEST_F(Ops, AreInactiveOrHaveADerivative) {
  for (RegisteredOperationName op : covered())
    EXPECT_FALSE(op.hasInterface<InactiveOp>() &&
                 (op.hasInterface<DifferentiableOp>() || op.hasInterface<ExpandableOp>()))
        << op.getStringRef().str();
}

TEST_F(Ops, WithRulesHaveACase) {
  std::set<std::string> tested;
  for (const RuleCase &c : ruleCases())
    tested.insert(c.op);
  for (RegisteredOperationName op : covered()) {
    std::string name = op.getStringRef().str();
    bool hasRule = op.hasInterface<DifferentiableOp>() || op.hasInterface<ExpandableOp>();
    if (hasRule && !collections.contains(name) && !casts.contains(name)) {
      EXPECT_TRUE(tested.contains(name)) << name << " has no case in RuleCases.cpp";
    }
  }
}

TEST_F(Ops, ThatChangePrecisionPassDerivativesOn) {
  Formula formula("func.func @f(%a: f64) -> f64 { %b = arith.truncf %a : f64 to f32 "
                  "%c = arith.mulf %b, %b : f32 %r = arith.extf %c : f32 to f64 return %r : f64 }");
  ASSERT_TRUE(formula.ready());
  EXPECT_EQ(formula.tangent({3}, {2}), Numbers({12}));
  EXPECT_EQ(formula.adjoint({3}, {2}), Numbers({12}));
}

TEST_F(Ops, ThatRoundAreInactive) {
  for (const char *op : {"floor", "ceil", "round", "roundeven", "trunc"}) {
    Formula formula("func.func @f(%a: f64) -> f64 { %b = math." + std::string(op) +
                    " %a : f64 %r = arith.mulf %a, %b : f64 return %r : f64 }");
    ASSERT_TRUE(formula.ready());
    EXPECT_EQ(formula.tangent({3}, {2}), Numbers({6})) << op;
  }
}
} // namespace
