// RUN: nb-opt %s --convert-nb-to-loops --nb-outline-kernel --split-input-file --verify-diagnostics

// expected-error @below {{has two image loop nests, and a kernel has one: --nb-fuse merges images of the same size}}
func.func @two(%n: index, %x: f64) -> (tensor<?x?x?xf64>, tensor<?x?x?xf64>) {
  %a = nb.image panel %p in %n, slow %s in %n, fast %f in %n : tensor<?x?x?xf64> {
    nb.yield %x : f64
  }
  %b = nb.image panel %p in %n, slow %s in %n, fast %f in %n : tensor<?x?x?xf64> {
    nb.yield %x : f64
  }
  return %a, %b : tensor<?x?x?xf64>, tensor<?x?x?xf64>
}

// -----

func.func @unconverted(%n: index, %m: !nb.mat3<f64>) -> tensor<?x?x?xf64> {
  // expected-error @below {{a value of type '!nb.mat3<f64>' cannot be kept in the workspace; run --convert-nb-to-arith first}}
  %t = nb.transpose %m : !nb.mat3<f64>
  %a = nb.image panel %p in %n, slow %s in %n, fast %f in %n : tensor<?x?x?xf64> {
    %e = nb.element %t[0, 1] : !nb.mat3<f64>
    nb.yield %e : f64
  }
  return %a : tensor<?x?x?xf64>
}

// -----

// expected-error @below {{result 1 is returned before; return it once}}
func.func @twice(%n: index, %x: f64) -> (tensor<?x?x?xf64>, tensor<?x?x?xf64>) {
  %a = nb.image panel %p in %n, slow %s in %n, fast %f in %n : tensor<?x?x?xf64> {
    nb.yield %x : f64
  }
  return %a, %a : tensor<?x?x?xf64>, tensor<?x?x?xf64>
}

// -----

// expected-error @below {{argument 1 of type 'i32' is not one of the kernel ABI's parameter kinds (f64, index, !nb.vec3<f64>, !nb.mat3<f64>, a table, an !nb.hkl_grid<f64> or a tensor of mask or image)}}
func.func @foreign_argument(%n: index, %x: i32) -> tensor<?x?x?xf64> {
  %y = arith.sitofp %x : i32 to f64
  %a = nb.image panel %p in %n, slow %s in %n, fast %f in %n : tensor<?x?x?xf64> {
    nb.yield %y : f64
  }
  return %a : tensor<?x?x?xf64>
}

// -----

func.func @whole_argument(%n: index, %v: !nb.vec3<f64>) -> tensor<?x?x?xf64> {
  %a = nb.image panel %p in %n, slow %s in %n, fast %f in %n : tensor<?x?x?xf64> {
    // expected-error @below {{'nb.norm' takes a value of type '!nb.vec3<f64>' as a whole; run --convert-nb-to-loops and --convert-nb-to-arith first}}
    %x = nb.norm %v : !nb.vec3<f64>
    nb.yield %x : f64
  }
  return %a : tensor<?x?x?xf64>
}

// -----

func.func @unknown_size(%n: index, %x: f64, %sizes: memref<?xindex>) -> tensor<?x?x?xf64> {
  // expected-note @below {{it is computed from this}}
  %size = memref.load %sizes[%n] : memref<?xindex>
  // expected-error @below {{its size is not known ahead of a kernel's run}}
  %memory = memref.alloc(%size) : memref<?xf64>
  %a = nb.image panel %p in %n, slow %s in %n, fast %f in %n : tensor<?x?x?xf64> {
    nb.yield %x : f64
  }
  return %a : tensor<?x?x?xf64>
}

// -----

func.func @fixed_memory(%n: index, %x: f64) -> tensor<?x?x?xf64> {
  // expected-error @below {{memory of a kernel has one dimension of unknown size, but got 'memref<4xf64>'}}
  %memory = memref.alloc() : memref<4xf64>
  %a = nb.image panel %p in %n, slow %s in %n, fast %f in %n : tensor<?x?x?xf64> {
    nb.yield %x : f64
  }
  return %a : tensor<?x?x?xf64>
}

// -----

// Nothing of the module is changed when one of its functions cannot be outlined.

func.func @good(%n: index, %x: f64) -> tensor<?x?x?xf64> {
  %a = nb.image panel %p in %n, slow %s in %n, fast %f in %n : tensor<?x?x?xf64> {
    nb.yield %x : f64
  }
  return %a : tensor<?x?x?xf64>
}

func.func @stored(%n: index, %x: f64, %buffer: memref<?xf64>) -> tensor<?x?x?xf64> {
  %a = nb.image panel %p in %n, slow %s in %n, fast %f in %n : tensor<?x?x?xf64> {
    nb.yield %x : f64
  }
  %zero = arith.constant 0 : index
  %y = nb.stored %buffer : memref<?xf64> as f64
  // expected-error @below {{'memref.store' uses a value that lies in memory; only a kernel's return can}}
  memref.store %y, %buffer[%zero] : memref<?xf64>
  return %a : tensor<?x?x?xf64>
}

// -----

func.func @memory(%n: index, %m: memref<?xf64>) -> tensor<?x?x?xf64> {
  // expected-error @below {{a value of type 'memref<1xf64>' cannot be kept in the workspace; what lowers memory (finalize-memref-to-llvm, convert-to-llvm) belongs after --nb-outline-kernel}}
  %one = memref.cast %m : memref<?xf64> to memref<1xf64>
  %a = nb.image panel %p in %n, slow %s in %n, fast %f in %n : tensor<?x?x?xf64> {
    %x = memref.load %one[%p] : memref<1xf64>
    nb.yield %x : f64
  }
  return %a : tensor<?x?x?xf64>
}

// -----

func.func @shifted_rows(%n: index, %x: f64) -> tensor<?x?x?xf64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %image = memref.alloc(%n) : memref<?xf64>
  scf.for %p = %c0 to %n step %c1 {
    // expected-error @below {{the loop over rows no longer goes from 0 in steps of 1, as a tile's does; what changed it belongs after --nb-outline-kernel}}
    scf.for %s = %c1 to %n step %c1 {
      memref.store %x, %image[%s] : memref<?xf64>
    } {nb.loop = #nb.dim<slow>}
  } {nb.loop = #nb.dim<panel>}
  %a = nb.stored %image : memref<?xf64> as tensor<?x?x?xf64>
  return %a : tensor<?x?x?xf64>
}

// -----

func.func @coalesced(%n: index, %x: f64) -> tensor<?x?x?xf64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %image = memref.alloc(%n) : memref<?xf64>
  // expected-error @below {{the loops over panels and rows are no longer one in the other, which a tile bounds; what merged or dissolved them (affine-loop-coalescing) belongs after --nb-outline-kernel}}
  scf.for %p = %c0 to %n step %c1 {
    memref.store %x, %image[%p] : memref<?xf64>
  } {nb.loop = #nb.dim<panel>}
  %a = nb.stored %image : memref<?xf64> as tensor<?x?x?xf64>
  return %a : tensor<?x?x?xf64>
}
