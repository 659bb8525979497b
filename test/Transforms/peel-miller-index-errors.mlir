// RUN: not nb-opt %s --pass-pipeline='builtin.module(nb-peel-miller-index{shape=square})' 2>&1 | FileCheck %s

// Every shape is peeled: the pass takes no options.

// CHECK: no such option shape
func.func @any() {
  return
}
