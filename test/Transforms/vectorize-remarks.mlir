// RUN: nb-opt %s --nb-vectorize --remarks-filter=nb-vectorize -o /dev/null 2>&1 | FileCheck %s
// RUN: nb-opt %s --nb-vectorize --nb-vectorize --remarks-filter=nb-vectorize -o /dev/null 2>&1 \
// RUN:   | FileCheck %s --check-prefix=TWICE

// CHECK: [Passed] vectorized {{.*}}Remark="computes 8 pixels at once: 2 op(s) in lanes, 1 scalar"
// TWICE: [Missed] vectorized {{.*}}Remark="the image is in lanes already"
func.func @image(%n: index, %size: f64) -> tensor<?x?x?xf64> {
  %img = nb.image panel %p in %n, slow %s in %n, fast %f in %n : tensor<?x?x?xf64> {
    %area = arith.mulf %size, %size : f64
    %F = nb.detector_coordinate %f, %s, %n, %size : index, f64
    %x = arith.mulf %F, %area : f64
    nb.yield %x : f64
  }
  return %img : tensor<?x?x?xf64>
}
