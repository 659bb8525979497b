// RUN: nb-opt %s --pass-pipeline="builtin.module(gpu.module(nb-gpu-to-rocdl))" --verify-roundtrip | FileCheck %s

// All pointers are to global memory, those that are loaded, too. The size of the grid is the first
// of the arguments that the runtime adds.

// CHECK-LABEL: llvm.func @roots
// CHECK-SAME: !llvm.ptr<1>
// CHECK-SAME: rocdl.kernel
// CHECK: rocdl.workgroup.id.x
// CHECK: %[[ADDED:.*]] = llvm.call_intrinsic "llvm.amdgcn.implicitarg.ptr"() : () -> !llvm.ptr<4>
// CHECK: llvm.load %[[ADDED]] : !llvm.ptr<4> -> i32
// CHECK: llvm.intr.sqrt
// CHECK: llvm.intr.floor
// CHECK: llvm.intr.roundeven
// CHECK: llvm.load %{{.*}} : !llvm.ptr<1> -> !llvm.ptr<1>
// CHECK: llvm.store %{{.*}}, %{{.*}} : f64, !llvm.ptr<1>
// CHECK-NOT: !llvm.ptr{{$|[,) ]}}
gpu.module @kernels {
  gpu.func @roots(%outputs: !llvm.ptr, %x: f64) kernel {
    %b = gpu.block_id x
    %g = gpu.grid_dim x
    %s = arith.addi %b, %g : index
    %i = arith.index_cast %s : index to i64
    %r = math.sqrt %x : f64
    %f = math.floor %r : f64
    %e = math.roundeven %f : f64
    %out = llvm.load %outputs : !llvm.ptr -> !llvm.ptr
    %place = llvm.getelementptr %out[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f64
    llvm.store %e, %place : f64, !llvm.ptr
    gpu.return
  }

  // Threads of a wave exchange words.
  // CHECK-LABEL: llvm.func @exchange
  // CHECK: rocdl.ds_bpermute
  gpu.func @exchange(%out: !llvm.ptr, %x: i32) kernel {
    %mask = arith.constant 32 : i32
    %width = arith.constant 64 : i32
    %y, %valid = gpu.shuffle xor %x, %mask, %width : i32
    llvm.store %y, %out : i32, !llvm.ptr
    gpu.return
  }

  // CHECK-LABEL: llvm.func @add
  // CHECK: llvm.atomicrmw fadd {{.*}} syncscope("agent") monotonic
  // CHECK-SAME: rocdl.no_fine_grained_memory
  gpu.func @add(%grid: memref<?xf64>, %i: index, %x: f64) kernel {
    %old = memref.atomic_rmw addf %x, %grid[%i] : (f64, memref<?xf64>) -> f64
    gpu.return
  }
}
