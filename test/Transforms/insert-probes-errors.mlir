// RUN: nb-opt %s --nb-insert-probes="names=[" --verify-diagnostics

// expected-error@below {{malformed pattern '[': invalid glob pattern, unmatched '['}}
module {
  func.func @none() {
    return
  }
}
