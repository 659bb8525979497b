/* The instruction sets beyond its architecture's baseline that a kernel can need, by LLVM's names:
 * the compiler writes into nb_kernel_descriptor::features those that it generated code for, the
 * runtime looks for them in the processor. */
#ifndef NANOBRAGG_CPUFEATURES_H
#define NANOBRAGG_CPUFEATURES_H

#define NB_X86_FEATURES(X)                                                                         \
  X("sse3")                                                                                        \
  X("ssse3")                                                                                       \
  X("sse4.1")                                                                                      \
  X("sse4.2")                                                                                      \
  X("popcnt")                                                                                      \
  X("movbe")                                                                                       \
  X("lzcnt")                                                                                       \
  X("bmi")                                                                                         \
  X("bmi2")                                                                                        \
  X("f16c")                                                                                        \
  X("avx")                                                                                         \
  X("avx2")                                                                                        \
  X("fma")                                                                                         \
  X("avx512f")                                                                                     \
  X("avx512cd")                                                                                    \
  X("avx512bw")                                                                                    \
  X("avx512dq")                                                                                    \
  X("avx512vl")                                                                                    \
  X("avx512ifma")                                                                                  \
  X("avx512vbmi")                                                                                  \
  X("avx512vbmi2")                                                                                 \
  X("avx512vnni")                                                                                  \
  X("avx512bitalg")                                                                                \
  X("avx512vpopcntdq")

#endif
