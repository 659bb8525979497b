// RUN: not nb-opt %s --nb-fuse=tile-rows=0 2>&1 | FileCheck %s

// CHECK: error: nb-fuse: tile-rows must be positive, but is 0
func.func @any() {
  return
}
