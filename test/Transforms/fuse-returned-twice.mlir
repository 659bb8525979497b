// RUN: nb-opt %s --cse --nb-fuse | FileCheck %s
// RUN: nb-opt %s --cse --nb-cpu-pipeline -o /dev/null

// Equal images are one op after CSE, and each result of a function needs memory of its own: one sweep
// with as many results.

// CHECK-LABEL: func.func @zeros
// CHECK: %[[R:.*]]:3 = nb.image
// CHECK-NOT: nb.image
// CHECK: return %[[R]]#{{[0-2]}}, %[[R]]#{{[0-2]}}, %[[R]]#{{[0-2]}} :
func.func @zeros(%n: index, %x: f64)
    -> (tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>) {
  %zero = arith.constant 0.0 : f64
  %v = nb.image panel %p in %n, slow %s in %n, fast %f in %n : tensor<?x?x?xf64> {
    nb.yield %x : f64
  }
  %a = nb.image panel %p in %n, slow %s in %n, fast %f in %n : tensor<?x?x?xf64> {
    nb.yield %zero : f64
  }
  %b = nb.image panel %p in %n, slow %s in %n, fast %f in %n : tensor<?x?x?xf64> {
    nb.yield %zero : f64
  }
  return %v, %a, %b : tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>
}
