// RUN: not nb-opt %s --nb-hoist-invariants=tabulate=perhaps 2>&1 | FileCheck %s

// CHECK: 'perhaps' is invalid value for boolean argument
func.func @any() {
  return
}
