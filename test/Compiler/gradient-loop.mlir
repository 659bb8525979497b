// RUN: %nb_build/bin/nb-compile %s --emit=llvm -o %t.ll
// RUN: python3 %S/inner_loop.py %t.ll | FileCheck %s
// RUN: %nb_build/bin/nb-compile %s --emit=so --target=x86-64-v3 -o %t.so
// RUN: %nb_build/bin/nb-compile --inspect %t.so | FileCheck %s --check-prefix=OUTPUTS

// A value and its gradient, by a number, a vector, a table and a grid: one sweep whose innermost loop is
// one basic block without a call, and without a branch on data.

// CHECK: one basic block

// OUTPUTS: output
// OUTPUTS-NEXT: image {{ *}}image {{ *}}[panel_count][slow_pixels][fast_pixels] photons
// OUTPUTS-NEXT: gradient.p {{ *}}f64
// OUTPUTS-NEXT: gradient.v {{ *}}vec3 {{ *}}[3]
// OUTPUTS-NEXT: gradient.t {{ *}}table_f64
// OUTPUTS-NEXT: gradient.F {{ *}}hkl_grid {{ *}}[h][k][l]

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
