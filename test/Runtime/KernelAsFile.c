/* A kernel that is a file, for tests of the cache. pixel = s + slow + fast, where s sums the
 * characters of the variant, which BuildKernelFile.cpp writes over the marker: another
 * variant is another image. Each row takes (phi_steps - 1) milliseconds. */
#include "nanobragg/KernelABI.h"

#include <time.h>

/* Visible and writable, so that the compiler cannot know what it will hold. */
__attribute__((visibility("default"))) char nb_test_variant[2048] = "@variant@";

static const nb_kernel_parameter parameters[] = {
    {.name = "fast_pixels", .kind = NB_PARAMETER_INDEX, .unit = "1"},
    {.name = "slow_pixels", .kind = NB_PARAMETER_INDEX, .unit = "1"},
    {.name = "phi_steps", .kind = NB_PARAMETER_INDEX, .unit = "1"},
};

static const nb_kernel_output outputs[] = {
    {.name = "image", .kind = NB_OUTPUT_IMAGE, .unit = "photons"}};

static int64_t argument(const void *const *arguments, int which) {
  return *(const int64_t *)arguments[which];
}

static int64_t workspace_size(const void *const *arguments) {
  (void)arguments;
  return 0;
}

static void prepare(const void *const *arguments, void *workspace) {
  (void)arguments;
  (void)workspace;
}

static void run_tile(const void *const *arguments, const void *workspace, const nb_tile *tile,
                     void *const *outputs, void *accumulator, void *scratch) {
  (void)workspace;
  (void)accumulator;
  (void)scratch;
  const int64_t fast_pixels = argument(arguments, 0), slow_pixels = argument(arguments, 1);
  const struct timespec pause = {0, (argument(arguments, 2) - 1) * 1000000};
  float sum = 0;
  for (const char *c = nb_test_variant; *c; ++c)
    sum += (float)*c;
  for (int64_t slow = tile->slow_begin; slow != tile->slow_end; ++slow) {
    if (pause.tv_nsec)
      nanosleep(&pause, 0);
    float *row = (float *)outputs[0] + (tile->panel * slow_pixels + slow) * fast_pixels;
    for (int64_t fast = 0; fast != fast_pixels; ++fast)
      row[fast] = sum + (float)(slow + fast);
  }
}

__attribute__((visibility("default"))) const nb_kernel_descriptor *nb_kernel_get_descriptor(void) {
  static const nb_kernel_descriptor descriptor = {
      .abi_version = NB_KERNEL_ABI_VERSION,
      .size = sizeof(nb_kernel_descriptor),
      .image_type = NB_IMAGE_F32,
      .name = "test",
      .variant = nb_test_variant,
      .target = "test",
      .precision = "f64",
      .num_parameters = sizeof(parameters) / sizeof(*parameters),
      .parameters = parameters,
      .num_outputs = 1,
      .outputs = outputs,
      .workspace_size = workspace_size,
      .prepare = prepare,
      .run_tile = run_tile,
  };
  return &descriptor;
}
