// The declarations of runtime/gpu/cuda/Driver.h, against NVIDIA's cuda.h.
//
// The types have other names there, so that what a call passes is compared: how many arguments, of
// what size, and which of them are pointers.
#include "runtime/gpu/cuda/Driver.h"
#include "test/gpu/Signatures.h"

#include <cuda.h>

#include <gtest/gtest.h>

namespace {

using namespace nanobragg::cuda;

TEST(CudaDeclarations, FunctionsTakeTheSameArguments) {
  const Driver driver;
#define NB_COMPARE(name, symbol, parameters)                                                       \
  EXPECT_TRUE(same(driver.name, static_cast<decltype(&symbol)>(nullptr))) << #symbol;
  NB_CUDA_FUNCTIONS(NB_COMPARE)
#undef NB_COMPARE
}

TEST(CudaDeclarations, ADifferenceIsSeen) {
  using Ours = Result (*)(unsigned);
  using Narrower = CUresult (*)(unsigned char);
  using Pointer = CUresult (*)(void *);
  using Longer = CUresult (*)(unsigned, int);
  EXPECT_TRUE(same(Ours(), static_cast<decltype(&cuInit)>(nullptr)));
  EXPECT_FALSE(same(Ours(), Narrower()));
  EXPECT_FALSE(same(Ours(), Pointer()));
  EXPECT_FALSE(same(Ours(), Longer()));
}

static_assert(sizeof(Address) == sizeof(CUdeviceptr));
static_assert(int(Result::Success) == CUDA_SUCCESS);
static_assert(int(Result::OutOfMemory) == CUDA_ERROR_OUT_OF_MEMORY);
static_assert(int(Result::NoDevice) == CUDA_ERROR_NO_DEVICE);
static_assert(int(Result::InvalidImage) == CUDA_ERROR_INVALID_IMAGE);
static_assert(int(Result::NoBinaryForGpu) == CUDA_ERROR_NO_BINARY_FOR_GPU);
static_assert(int(Result::InvalidPtx) == CUDA_ERROR_INVALID_PTX);
static_assert(int(Result::JitCompilerNotFound) == CUDA_ERROR_JIT_COMPILER_NOT_FOUND);
static_assert(int(Result::UnsupportedPtxVersion) == CUDA_ERROR_UNSUPPORTED_PTX_VERSION);
static_assert(int(MultiprocessorCount) == CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
static_assert(int(ComputeCapabilityMajor) == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
static_assert(int(ComputeCapabilityMinor) == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
static_assert(int(JitErrorLog) == CU_JIT_ERROR_LOG_BUFFER);
static_assert(int(JitErrorLogBytes) == CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES);
static_assert(int(NonBlocking) == CU_STREAM_NON_BLOCKING);

} // namespace
