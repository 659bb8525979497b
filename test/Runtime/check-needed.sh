#!/bin/sh
# check-needed.sh PROGRAM: fails if the program's dynamic section asks for MLIR, LLVM or the
# compiler library, or asks for nothing at all (then the check itself is broken).
set -eu
needed=$(readelf -d "$1" | grep NEEDED)
echo "$needed"
echo "$needed" | grep -q 'libc\.so' || { echo "no dynamic section was read"; exit 1; }
if echo "$needed" | grep -E 'libMLIR|libLLVM|libnb-compiler'; then
  echo "$1 must open the compiler on demand, not link it"
  exit 1
fi
