// RUN: nb-opt %s --nb-to-gpu --split-input-file --verify-diagnostics

// Loops that no image has.

// expected-error @below {{the loops over panels, rows and pixels are not directly nested}}
func.func @a_run_tile(%a: !llvm.ptr, %w: !llvm.ptr, %t: !llvm.ptr, %o: !llvm.ptr, %s: !llvm.ptr,
                      %r: !llvm.ptr) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %p = %c0 to %c1 step %c1 {
    scf.for %i = %c0 to %c1 step %c1 {
      scf.for %j = %c0 to %c1 step %c1 {
        scf.for %k = %c0 to %c1 step %c1 {
        } {nb.loop = #nb.dim<fast>}
      }
    } {nb.loop = #nb.dim<slow>}
  } {nb.loop = #nb.dim<panel>}
  return
}

// -----

func.func @b_run_tile(%a: !llvm.ptr, %w: !llvm.ptr, %t: !llvm.ptr, %o: !llvm.ptr, %s: !llvm.ptr,
                      %r: !llvm.ptr) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %p = %c0 to %c1 step %c1 {
    scf.for %i = %c0 to %c1 step %c1 {
      // expected-error @below {{the first loop over pixels does not cover the row}}
      scf.for %k = %c1 to %c1 step %c1 {
      } {nb.loop = #nb.dim<fast>}
    } {nb.loop = #nb.dim<slow>}
  } {nb.loop = #nb.dim<panel>}
  return
}

// -----

func.func @c_run_tile(%a: !llvm.ptr, %w: !llvm.ptr, %t: !llvm.ptr, %o: !llvm.ptr, %s: !llvm.ptr,
                      %r: !llvm.ptr) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %p = %c0 to %c1 step %c1 {
    // expected-error @below {{the rows must not depend on the panel}}
    scf.for %i = %c0 to %p step %c1 {
      scf.for %k = %c0 to %c1 step %c1 {
      } {nb.loop = #nb.dim<fast>}
    } {nb.loop = #nb.dim<slow>}
  } {nb.loop = #nb.dim<panel>}
  return
}

// -----

// expected-error @below {{takes fewer pointers than a kernel has}}
func.func @few_run_tile(%a: !llvm.ptr, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %p = %c0 to %c1 step %c1 {
    scf.for %i = %c0 to %c1 step %c1 {
      scf.for %k = %c0 to %c1 step %c1 {
      } {nb.loop = #nb.dim<fast>}
    } {nb.loop = #nb.dim<slow>}
  } {nb.loop = #nb.dim<panel>}
  return
}
