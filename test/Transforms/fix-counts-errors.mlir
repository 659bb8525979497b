// RUN: nb-opt %s --nb-fix-counts="counts=ncells_a=10" --nb-differentiate="mode=vjp parameters=ncells_a" --split-input-file --verify-diagnostics
// RUN: not nb-opt %s --nb-fix-counts="counts=ncells_a=10,ncells_a=11" 2>&1 | FileCheck %s --check-prefix=TWICE
// RUN: not nb-opt %s --nb-fix-counts="counts=layers=2" 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not nb-opt %s --nb-fix-counts="counts=layers" 2>&1 | FileCheck %s --check-prefix=FORM

// TWICE: the count 'ncells_a' is compiled in as 10 already, and 11 is asked for
// NONE: the kernel has no count 'layers'
// FORM: 'layers' does not give a count a value

// expected-error@below {{'ncells_a' is compiled in as 10 (nb-fix-counts), and cannot be differentiated with respect to}}
func.func @image(%a: f64 {nb.name = "ncells_a"}) -> f64 {
  return %a : f64
}
