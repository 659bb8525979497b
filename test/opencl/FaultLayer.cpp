// A layer of the OpenCL loader (OPENCL_LAYERS) in which NB_OPENCL_FAULT fails: "memory", "build",
// "lost", or what a device is asked about: "f64", "spirv", "shared". With "twice" each device is
// there twice.
#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl_icd.h>
#include <CL/cl_layer.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace {

const cl_icd_dispatch *target;

bool fails(std::string_view what) {
  const char *fault = std::getenv("NB_OPENCL_FAULT");
  return fault && fault == what;
}

void *CL_API_CALL allocate(cl_context context, cl_svm_mem_flags flags, size_t bytes,
                           cl_uint alignment) {
  return fails("memory") ? nullptr : target->clSVMAlloc(context, flags, bytes, alignment);
}

cl_int CL_API_CALL build(cl_program program, cl_uint count, const cl_device_id *devices,
                         const char *options, void(CL_CALLBACK *done)(cl_program, void *),
                         void *data) {
  return fails("build") ? CL_BUILD_PROGRAM_FAILURE
                        : target->clBuildProgram(program, count, devices, options, done, data);
}

cl_int CL_API_CALL finish(cl_command_queue queue) {
  const cl_int result = target->clFinish(queue);
  return fails("lost") ? CL_OUT_OF_RESOURCES : result;
}

cl_int CL_API_CALL info(cl_device_id device, cl_device_info name, size_t bytes, void *value,
                        size_t *size) {
  const bool lacks = (name == CL_DEVICE_DOUBLE_FP_CONFIG && fails("f64")) ||
                     (name == CL_DEVICE_IL_VERSION && fails("spirv")) ||
                     (name == CL_DEVICE_SVM_CAPABILITIES && fails("shared"));
  if (!lacks)
    return target->clGetDeviceInfo(device, name, bytes, value, size);
  std::memset(value, 0, bytes);
  return CL_SUCCESS;
}

cl_int CL_API_CALL devices(cl_platform_id platform, cl_device_type type, cl_uint entries,
                           cl_device_id *found, cl_uint *count) {
  if (!fails("twice"))
    return target->clGetDeviceIDs(platform, type, entries, found, count);
  cl_uint once = 0;
  const cl_int result = target->clGetDeviceIDs(platform, type, entries / 2, found, &once);
  if (result != CL_SUCCESS)
    return result;
  if (found)
    std::copy_n(found, entries / 2, found + entries / 2);
  if (count)
    *count = 2 * once;
  return result;
}

} // namespace

extern "C" __attribute__((visibility("default"))) cl_int CL_API_CALL
clGetLayerInfo(cl_layer_info name, size_t bytes, void *value, size_t *size) {
  const cl_layer_api_version version = CL_LAYER_API_VERSION_100;
  if (name == CL_LAYER_API_VERSION && value && bytes >= sizeof version)
    std::memcpy(value, &version, sizeof version);
  if (size)
    *size = sizeof version;
  return CL_SUCCESS;
}

extern "C" __attribute__((visibility("default"))) cl_int CL_API_CALL
clInitLayer(cl_uint entries, const cl_icd_dispatch *dispatch, cl_uint *count,
            const cl_icd_dispatch **layer) {
  static cl_icd_dispatch own;
  target = dispatch;
  std::memcpy(&own, dispatch, std::min(entries * sizeof(void *), sizeof own));
  own.clSVMAlloc = allocate;
  own.clBuildProgram = build;
  own.clFinish = finish;
  own.clGetDeviceIDs = devices;
  own.clGetDeviceInfo = info;
  *count = sizeof own / sizeof(void *);
  *layer = &own;
  return CL_SUCCESS;
}

/// As newer loaders call it.
extern "C" __attribute__((visibility("default"))) cl_int CL_API_CALL
clInitLayerWithProperties(cl_uint entries, const cl_icd_dispatch *dispatch, cl_uint *count,
                          const cl_icd_dispatch **layer, const cl_ulong *) {
  return clInitLayer(entries, dispatch, count, layer);
}
