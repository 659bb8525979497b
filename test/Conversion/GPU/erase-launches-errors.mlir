// RUN: nb-opt %s --nb-erase-launches --verify-diagnostics

// expected-note@below {{it launches a kernel of the GPU}}
func.func @image_run_tile(%n: index) {
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %n, %gy = %n, %gz = %n)
             threads(%tx, %ty, %tz) in (%sx = %n, %sy = %n, %sz = %n) {
    gpu.terminator
  }
  return
}

func.func @caller(%n: index) {
  // expected-error@below {{uses 'image_run_tile', which nb-erase-launches erases}}
  call @image_run_tile(%n) : (index) -> ()
  return
}
