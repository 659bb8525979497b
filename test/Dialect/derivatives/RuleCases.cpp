#include "test/Dialect/derivatives/RuleCases.h"

namespace mlir::nb::test {

namespace {
const std::string S = "f64", V = "!nb.vec3<f64>", M = "!nb.mat3<f64>";
constexpr Interval any = {-2, 2}, positive = {0.5, 2};

/// "%a: T0, %b: T1, ..."
std::string named(const std::vector<std::string> &types) {
  std::string text;
  for (size_t i = 0; i < types.size(); ++i)
    text += (i ? ", %" : "%") + std::string(1, char('a' + i)) + ": " + types[i];
  return text;
}

RuleCase op(std::string name, std::vector<std::string> types, std::string body, std::string result,
            std::vector<Interval> ranges, std::vector<std::vector<double>> delicate = {}) {
  return {name, named(types), "%r = " + name + body, result, ranges, delicate};
}

/// An arith or math op of scalars.
RuleCase scalar(std::string name, std::vector<Interval> ranges,
                std::vector<std::vector<double>> delicate = {}) {
  static const char *operands[] = {"", " %a", " %a, %b", " %a, %b, %c"};
  return op(name, std::vector<std::string>(ranges.size(), S),
            std::string(operands[ranges.size()]) + " : f64", S, ranges, delicate);
}

void addAlgebra(std::vector<RuleCase> &cases) {
  std::vector<std::string> nine(9, S);
  cases.insert(cases.end(), {op("nb.vec", {S, S, S}, " %a, %b, %c : f64", V, {any, any, any}),
                             op("nb.component", {V}, " %a[1] : " + V, S, {any}),
                             op("nb.mat", nine, " %a, %b, %c, %d, %e, %f, %g, %h, %i : " + M, M,
                                std::vector<Interval>(9, any)),
                             op("nb.element", {M}, " %a[1, 2] : " + M, S, {any}),
                             op("nb.row", {M}, " %a[2] : " + M, V, {any}),
                             op("nb.add", {V, V}, " %a, %b : " + V, V, {any, any}),
                             op("nb.add", {M, M}, " %a, %b : " + M, M, {any, any}),
                             op("nb.sub", {V, V}, " %a, %b : " + V, V, {any, any}),
                             op("nb.sub", {M, M}, " %a, %b : " + M, M, {any, any}),
                             op("nb.cross", {V, V}, " %a, %b : " + V, V, {any, any}),
                             op("nb.scale", {V, S}, " %a, %b : " + V, V, {any, any}),
                             op("nb.scale", {M, S}, " %a, %b : " + M, M, {any, any}),
                             op("nb.dot", {V, V}, " %a, %b : " + V, S, {any, any}),
                             op("nb.norm", {V}, " %a : " + V, S, {positive}),
                             op("nb.normalize", {V}, " %a : " + V, V, {positive}),
                             op("nb.transform", {M, V}, " %a, %b : " + V, V, {any, any}),
                             op("nb.multiply", {M, M}, " %a, %b : " + M, M, {any, any}),
                             op("nb.transpose", {M}, " %a : " + M, M, {any}),
                             op("nb.outer", {V, V}, " %a, %b : " + V, M, {any, any}),
                             op("nb.frobenius", {M, M}, " %a, %b : " + M, S, {any, any}),
                             op("nb.miller_index", {M, V}, " %a, %b : " + V, V, {any, any})});
}

void addGeometry(std::vector<RuleCase> &cases) {
  std::string pixel = "%i = arith.constant 17 : index %j = arith.constant 1 : index "
                      "%n = arith.constant 3 : index "
                      "%r = nb.detector_coordinate %i, %j, %n, %a : index, f64";
  cases.insert(cases.end(),
               {op("nb.axis_rotation", {V, S}, " %a, %b : " + V, M, {any, {-4, 4}},
                   {{0.6, 0, 0.8, 0}, {1, 0, 0, 1e-9}, {0, 0, 0, 1}}),
                op("nb.vector_rotation", {V}, " %a : " + V, M, {any},
                   {{0, 0, 0}, {1e-9, 0, 0}, {0.3, 0.4, 0}, {0.3, 0.3, 0.2}}),
                op("nb.turn", {V, V}, " %a by %b : " + V, V, {any, any},
                   {{0.3, 0.4, 0.1, 0, 0, 0}, {0, 0, 0, 0.3, 0.3, 0.2}}),
                op("nb.euler_rotation", {S, S, S}, " %a, %b, %c : f64", M,
                   {{-4, 4}, {-4, 4}, {-4, 4}}, {{0, 0, 0}}),
                {"nb.detector_coordinate", named({S}), pixel, S, {{1e-5, 2e-4}}},
                op("nb.pixel_position", {V, V, V, V, S, S, S},
                   " %a, %b, %c, %d at %e, %f, %g : " + V, V, std::vector<Interval>(7, any)),
                op("nb.curved_position", {V, V, V, S, S, S}, " %a, %b, %c, %d, %e, %f : " + V, V,
                   std::vector<Interval>(6, any), {{1, 0, 0, 0, 0, 1, 0, -1, 0, 0.1, 0, 0}}),
                op("nb.scattering_vector", {V, V, S}, " %a, %b, %c : " + V, V,
                   {{-1, 1}, {-1, 1}, {5e-11, 2e-10}}, {{1, 0, 0, 1, 0, 0, 1e-10}})});
}

void addCrystal(std::vector<RuleCase> &cases) {
  Interval length = {5e-9, 5e-8}, angle = {1.3, 1.8};
  std::vector<Interval> cell = {length, length, length, angle, angle, angle};
  double right = 1.5707963267948966;
  std::vector<double> cubic = {1e-8, 1e-8, 1e-8, right, right, right};
  std::string operands = " %a, %b, %c, %d, %e, %f : f64";
  std::vector<std::string> six(6, S);
  cases.insert(cases.end(), {op("nb.cell_volume", six, operands, S, cell, {cubic}),
                             op("nb.reciprocal_cell", six, " right" + operands, M, cell, {cubic}),
                             op("nb.reciprocal_cell", six, " c" + operands, M, cell, {cubic}),
                             op("nb.direct_cell", {M}, " %a : " + M, M, {{-1e8, 1e8}},
                                {{1e8, 0, 0, 0, 1e8, 0, 0, 0, 1e8}}),
                             op("nb.direct_cell", {M, S, S, S}, " %a lengths(%b, %c, %d) : " + M, M,
                                {{-1e8, 1e8}, length, length, length})});
}

void addLattice(std::vector<RuleCase> &cases) {
  Interval delta = {-0.45, 0.45}, cells = {2, 6};
  std::vector<double> peak = {0, 0, 0, 5, 4, 3}, beside = {1e-9, -1e-5, 0, 5, 4, 3};
  std::vector<double> fudgedPeak = {0, 0, 0, 5, 4, 3, 1};
  std::vector<double> fudgedBeside = {1e-9, 0, 1e-4, 5, 4, 3, 1};
  for (const char *order : {"", " order 1", " order 2", " cells 1", " order 1 cells 2"})
    cases.push_back(op("nb.sincg", {S, S}, " %a, %b" + std::string(order) + " : f64", S,
                       {delta, cells}, {{0, 5}, {1e-9, 5}, {1e-4, 5}, {-0.5, 5}}));
  for (const char *order : {"", " order [1, 0, 2]", " cells [0, 1, 0]"})
    cases.push_back(op("nb.grating", {V, V}, " %a, %b" + std::string(order) + " : " + V, S,
                       {delta, cells}, {peak, beside}));
  for (const char *order : {"", " order 1", " order 4"})
    cases.push_back(op("nb.ball", {S}, " %a" + std::string(order) + " : f64", S, {{0.5, 400}},
                       {{1e-3}, {1}, {4}}));
  std::string text = " fraction %a, %b fudge %c : " + V;
  cases.insert(
      cases.end(),
      {op("nb.lattice_factor", {V, V}, " square %a, %b : " + V, S, {delta, cells}, {peak}),
       op("nb.lattice_factor", {V, V}, " square fraction %a, %b : " + V, S, {delta, cells},
          {peak, beside}),
       op("nb.lattice_factor", {V, V, S}, " round" + text, S, {delta, cells, positive},
          {fudgedPeak, fudgedBeside}),
       op("nb.lattice_factor", {V, V, S}, " gauss" + text, S, {delta, cells, positive},
          {fudgedPeak, fudgedBeside}),
       op("nb.lattice_factor", {V, V, S}, " gauss %a, %b fudge %c : " + V, S,
          {{1.6, 2.4}, cells, positive}),
       op("nb.lattice_factor", {V, V, S, V},
          " gauss_matrix fraction %a, %b cross %d fudge %c : " + V, S,
          {delta, cells, positive, {-0.9, 0.9}}, {{0, 0, 0, 5, 4, 3, 1, 0.5, -1, 0.2}}),
       op("nb.lattice_factor", {V, V, S}, " tophat" + text, S, {{-1e-3, 1e-3}, cells, positive},
          {fudgedPeak}),
       op("nb.lattice_factor", {V, V, S, M}, " gauss fraction %a, %b fudge %c reciprocal %d : " + V,
          S, {{-0.1, 0.1}, {2, 3}, positive, {-1e8, 1e8}}),
       op("nb.intensity", {S, S}, " %a, %b : f64", S, {any, any}, {{0, 0}, {1, 0}, {0, 1}})});
}

void addCorrections(std::vector<RuleCase> &cases) {
  std::string polarization = "%k = nb.normalize %c : " + V + " %u = nb.normalize %d : " + V +
                             " %r = nb.polarization %a, %b, %k, %u : " + V;
  std::string text = " %a, %b, %c, %d, %e : " + V;
  cases.insert(cases.end(), {{"nb.polarization",
                              named({S, V, V, V}),
                              polarization,
                              S,
                              {{0, 1}, {0.2, 1}, {-1, -0.2}, {-1, 1}},
                              // Along the beam, against it, and across it.
                              {{0.9, 0, 0, 1, 1, 0, 0, 0, 1, 0}, {0.9, 0, 0, 1, 1, 0, 0, 0, 0, 1}}},
                             op("nb.solid_angle", {V, S, S}, " pixel %a, %b, %c : " + V, S,
                                {{0.05, 0.2}, {0.05, 0.1}, {1e-4, 2e-4}}),
                             op("nb.solid_angle", {V, S, S}, " point %a, %b, %c : " + V, S,
                                {{0.05, 0.2}, {0.05, 0.1}, {1e-4, 2e-4}}),
                             op("nb.capture_fraction", {V, V, S, S, S}, text, S,
                                {{0.3, 0.6}, {0.3, 0.6}, {0, 3}, {1e-5, 1e-4}, {1e-4, 1e-3}}),
                             op("nb.water_background", {S, S}, " %a, %b : f64", S,
                                {{1e-5, 1e-4}, {1e20, 1e24}})});
}

void addDisorder(std::vector<RuleCase> &cases) {
  Interval length = {0.3, 1};
  cases.insert(cases.end(),
               {op("nb.diffuse_factor", {V, V, V, V}, " %a, %b lengths %c displacements %d : " + V,
                   S, {{-0.3, 0.3}, {-0.3, 0.3}, length, length},
                   {{0.1, 0.2, 0.3, 0, 0, 0, 1, 1, 1, 0.2, 0.2, 0.2}})});
}

void addArithmetic(std::vector<RuleCase> &cases) {
  for (const char *name : {"arith.addf", "arith.subf", "arith.mulf", "arith.maximumf",
                           "arith.minimumf", "arith.maxnumf", "arith.minnumf"})
    cases.push_back(scalar(name, {any, any}));
  cases.push_back(scalar("arith.divf", {any, positive}));
  cases.push_back(scalar("arith.remf", {{2.05, 2.4}, {0.9, 1}}));
  cases.push_back(scalar("arith.negf", {any}));
  for (const Interval value : {Interval{-3, -2}, Interval{-0.9, 0.9}, Interval{2, 3}})
    cases.push_back({"math.clampf",
                     named({S, S, S}),
                     "%r = math.clampf %a to [%b, %c] : f64",
                     S,
                     {value, {-1.5, -1}, {1, 1.5}}});
  std::string select = "%i = arith.cmpf ogt, %a, %b : f64 %r = arith.select %i, %c, %d : ";
  for (const std::string &type : {S, V, M})
    cases.push_back(
        {"arith.select", named({S, S, type, type}), select + type, type, {any, any, any, any}});
  cases.push_back({"arith.divf",
                   named({S}),
                   "%i = arith.constant 1.0 : f64 %r = arith.divf %i, %a : f64",
                   S,
                   {positive}});
}

void addFunctions(std::vector<RuleCase> &cases) {
  for (const char *name :
       {"math.sin", "math.cos", "math.atan", "math.sinh", "math.cosh", "math.tanh", "math.asinh",
        "math.exp", "math.exp2", "math.expm1", "math.erf", "math.erfc"})
    cases.push_back(scalar(name, {any}, {{0}}));
  for (const char *name : {"math.sqrt", "math.rsqrt", "math.cbrt", "math.log", "math.log2",
                           "math.log10", "math.log1p"})
    cases.push_back(scalar(name, {positive}));
  for (const char *name : {"math.asin", "math.acos", "math.atanh", "math.tan"})
    cases.push_back(scalar(name, {{-0.7, 0.7}}, {{0}}));
  cases.push_back(scalar("math.acosh", {{1.5, 3}}));
  cases.push_back(scalar("math.absf", {any}, {{0.05}, {-0.05}}));
  cases.push_back(scalar("math.copysign", {any, any}));
  cases.push_back(scalar("math.atan2", {any, positive}, {{0, 1}}));
  cases.push_back(scalar("math.powf", {positive, any}));
  cases.push_back(scalar("math.fma", {any, any, any}));
  cases.push_back({"math.fpowi",
                   named({S}),
                   "%i = arith.constant 3 : i32 %r = math.fpowi %a, %i : f64, i32",
                   S,
                   {any},
                   {{0}}});
}
} // namespace

const std::vector<RuleCase> &ruleCases() {
  static const std::vector<RuleCase> cases = [] {
    std::vector<RuleCase> all;
    addAlgebra(all);
    addGeometry(all);
    addCrystal(all);
    addLattice(all);
    addCorrections(all);
    addDisorder(all);
    addArithmetic(all);
    addFunctions(all);
    return all;
  }();
  return cases;
}

} // namespace mlir::nb::test
