// RUN: not nb-opt %s --pass-pipeline='builtin.module(nb-fuse{tile-rows=8})' 2>&1 | FileCheck %s

// Rows are shared out when a kernel runs: the pass takes no options.

// CHECK: no such option tile-rows
func.func @any() {
  return
}
