// Integers of any width wrap in the interpreter as in kernels, and are read with their sign or without it.
// RUN: nb-run %s --arg arg0=3 --no-fuse | FileCheck %s
// RUN: nb-run %s --arg arg0=3 | FileCheck %s

// CHECK: result 0: 3 x 1 x 1, sum 7016933673, from 2338977891 to 2338977891
func.func @image(%n: index) -> tensor<?x?x?xf64> {
  %one = arith.constant 1 : index
  %true = arith.constant true
  %most = arith.constant 2147483647 : i32
  %c1 = arith.constant 1 : i32
  %c5 = arith.constant 5 : i32
  %c100 = arith.constant 100 : i8
  %half = arith.constant 0.5 : f32
  %big = arith.constant 3.0e9 : f64
  %image = nb.image panel %p in %n, slow %s in %one, fast %f in %one : tensor<?x?x?xf64> {
    %least = arith.addi %most, %c1 : i32
    %product = arith.muli %most, %most : i32
    %left = arith.shli %most, %c1 : i32
    %signed = arith.shrsi %least, %c5 : i32
    %unsigned = arith.shrui %least, %c5 : i32
    %quotient = arith.divui %least, %c5 : i32
    %rest = arith.remui %left, %c5 : i32
    %byte = arith.addi %c100, %c100 : i8
    %ofByte = arith.extui %byte : i8 to i32
    %toggled = arith.addi %true, %true : i1
    %ofBit = arith.extsi %true : i1 to i32
    %bits = arith.bitcast %half : f32 to i32
    %whole = arith.fptoui %big : f64 to i32
    %order = arith.cmpi slt, %true, %toggled : i1
    %above = arith.cmpi ugt, %least, %most : i32
    %x0 = arith.sitofp %least : i32 to f64
    %x1 = arith.sitofp %product : i32 to f64
    %x2 = arith.sitofp %left : i32 to f64
    %x3 = arith.sitofp %signed : i32 to f64
    %x4 = arith.uitofp %unsigned : i32 to f64
    %x5 = arith.uitofp %quotient : i32 to f64
    %x6 = arith.uitofp %rest : i32 to f64
    %x7 = arith.sitofp %ofByte : i32 to f64
    %x8 = arith.sitofp %ofBit : i32 to f64
    %x9 = arith.sitofp %bits : i32 to f64
    %x10 = arith.uitofp %whole : i32 to f64
    %x11 = arith.uitofp %order : i1 to f64
    %x12 = arith.sitofp %above : i1 to f64
    %s1 = arith.addf %x0, %x1 : f64
    %s2 = arith.addf %s1, %x2 : f64
    %s3 = arith.addf %s2, %x3 : f64
    %s4 = arith.addf %s3, %x4 : f64
    %s5 = arith.addf %s4, %x5 : f64
    %s6 = arith.addf %s5, %x6 : f64
    %s7 = arith.addf %s6, %x7 : f64
    %s8 = arith.addf %s7, %x8 : f64
    %s9 = arith.addf %s8, %x9 : f64
    %s10 = arith.addf %s9, %x10 : f64
    %s11 = arith.addf %s10, %x11 : f64
    %s12 = arith.addf %s11, %x12 : f64
    nb.yield %s12 : f64
  }
  return %image : tensor<?x?x?xf64>
}
