// The declarations of runtime/gpu/hip/Driver.h, against AMD's hip_runtime_api.h: as
// DeclarationsTest.cpp does of CUDA.
#include "runtime/gpu/hip/Driver.h"
#include "test/gpu/Signatures.h"

#include <hip/hip_runtime_api.h>

#include <gtest/gtest.h>

namespace {

using namespace nanobragg::hip;

TEST(HipDeclarations, FunctionsTakeTheSameArguments) {
#define NB_COMPARE(name, symbol, parameters)                                                       \
  EXPECT_TRUE(                                                                                     \
      same(static_cast<Result(*) parameters>(nullptr), static_cast<decltype(&symbol)>(nullptr)))   \
      << #symbol;
  NB_HIP_FUNCTIONS(NB_COMPARE)
#undef NB_COMPARE
#define NB_COMPARE(result, name, symbol, parameters)                                               \
  EXPECT_TRUE(                                                                                     \
      same(static_cast<result(*) parameters>(nullptr), static_cast<decltype(&symbol)>(nullptr)))   \
      << #symbol;
  NB_HIP_OWN_FUNCTIONS(NB_COMPARE)
#undef NB_COMPARE
}

static_assert(int(Result::Success) == hipSuccess);
static_assert(int(Result::OutOfMemory) == hipErrorOutOfMemory);
static_assert(int(Result::NoDevice) == hipErrorNoDevice);
static_assert(int(Result::InvalidImage) == hipErrorInvalidImage);
static_assert(int(Result::NoBinaryForGpu) == hipErrorNoBinaryForGpu);
static_assert(int(multiprocessorCount) == hipDeviceAttributeMultiprocessorCount);
static_assert(int(nanobragg::cuda::NonBlocking) == hipStreamNonBlocking);

} // namespace
