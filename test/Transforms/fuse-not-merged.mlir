// RUN: nb-opt %s --nb-fuse | FileCheck %s

// Other counts, other dimensions, another region of interest: other loops.

// CHECK-LABEL: func.func @different
// CHECK: nb.sum source %{{.*}} in %[[N:.*]] : f64
// CHECK: nb.sum source %{{.*}} in %[[M:.*]] : f64
// CHECK: nb.sum phi %{{.*}} in %{{.*}} : f64
// CHECK: nb.image {{.*}} roi({{.*}}) :
// CHECK: nb.image {{.*}} :
func.func @different(%n: index, %m: index, %t: !nb.table<?xf64>)
    -> (f64, f64, f64, tensor<?x?x?xf64>, tensor<?x?x?xf64>) {
  %I = nb.sum source %i in %n : f64 {
    %x = nb.lookup %t[%i] : !nb.table<?xf64>
    nb.yield %x : f64
  }
  %J = nb.sum source %i in %m : f64 {
    %x = nb.lookup %t[%i] : !nb.table<?xf64>
    nb.yield %x : f64
  }
  %K = nb.sum phi %i in %n : f64 {
    %x = nb.lookup %t[%i] : !nb.table<?xf64>
    nb.yield %x : f64
  }
  %a = nb.image panel %p in %n, slow %s in %n, fast %f in %n roi(%n, %n, %n, %n)
      : tensor<?x?x?xf64> {
    nb.yield %I : f64
  }
  %b = nb.image panel %p in %n, slow %s in %n, fast %f in %n : tensor<?x?x?xf64> {
    nb.yield %I : f64
  }
  return %I, %J, %K, %a, %b : f64, f64, f64, tensor<?x?x?xf64>, tensor<?x?x?xf64>
}
