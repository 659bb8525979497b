// The declarations of runtime/gpu/opencl/Driver.h, against Khronos' headers.
#define CL_TARGET_OPENCL_VERSION 300
#include "runtime/gpu/opencl/Driver.h"
#include "test/gpu/Signatures.h"

#include <CL/cl.h>
#include <CL/cl_ext.h>

#include <gtest/gtest.h>

namespace {

using namespace nanobragg::opencl;

TEST(OpenClDeclarations, FunctionsTakeTheSameArguments) {
  const Driver driver;
#define NB_COMPARE(name, symbol, parameters)                                                       \
  EXPECT_TRUE(same(driver.name, static_cast<decltype(&symbol)>(nullptr))) << #symbol;
  NB_OPENCL_FUNCTIONS(NB_COMPARE)
#undef NB_COMPARE
#define NB_COMPARE(type, name, symbol, parameters)                                                 \
  EXPECT_TRUE(same(driver.name, static_cast<decltype(&symbol)>(nullptr))) << #symbol;
  NB_OPENCL_MAKERS(NB_COMPARE)
#undef NB_COMPARE
}

TEST(OpenClDeclarations, NumbersAreTheSame) {
  EXPECT_EQ(std::int32_t(Result::DeviceNotFound), CL_DEVICE_NOT_FOUND);
  EXPECT_EQ(std::int32_t(Result::OutOfResources), CL_OUT_OF_RESOURCES);
  EXPECT_EQ(std::int32_t(Result::OutOfHostMemory), CL_OUT_OF_HOST_MEMORY);
  EXPECT_EQ(std::int32_t(Result::BuildProgramFailure), CL_BUILD_PROGRAM_FAILURE);
  EXPECT_EQ(std::int32_t(Result::NoPlatform), CL_PLATFORM_NOT_FOUND_KHR);
  EXPECT_EQ(anyDevice, CL_DEVICE_TYPE_ALL);
  EXPECT_EQ(ofGpu, CL_DEVICE_TYPE_GPU);
  EXPECT_EQ(readWrite, CL_MEM_READ_WRITE);
  EXPECT_EQ(coarseGrain, CL_DEVICE_SVM_COARSE_GRAIN_BUFFER);
  EXPECT_EQ(deviceType, CL_DEVICE_TYPE);
  EXPECT_EQ(computeUnits, CL_DEVICE_MAX_COMPUTE_UNITS);
  EXPECT_EQ(globalMemorySize, CL_DEVICE_GLOBAL_MEM_SIZE);
  EXPECT_EQ(deviceName, CL_DEVICE_NAME);
  EXPECT_EQ(doubleConfig, CL_DEVICE_DOUBLE_FP_CONFIG);
  EXPECT_EQ(sharedMemory, CL_DEVICE_SVM_CAPABILITIES);
  EXPECT_EQ(ilVersion, CL_DEVICE_IL_VERSION);
  EXPECT_EQ(buildLog, CL_PROGRAM_BUILD_LOG);
  EXPECT_EQ(sharedPointers, CL_KERNEL_EXEC_INFO_SVM_PTRS);
  EXPECT_EQ(subGroupSize, CL_KERNEL_MAX_SUB_GROUP_SIZE_FOR_NDRANGE);
}

} // namespace
