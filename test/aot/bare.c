/* Renders a still with a kernel that is linked in, without any library, not even libc: a kernel
 * needs nothing of its surroundings. The image goes to standard output as floats. Runs under qemu's
 * user emulation for processors that are not at hand. */
#include "kernel.h"

enum { PIXELS = 48, LARGEST_WORKSPACE = 1 << 20 };

static const double degree = 3.14159265358979323846 / 180;

/* A value may be a number or three; what is not here is 0. */
static struct {
  const char *name;
  double numbers[3];
} values[] = {
    {"cell_a", {70e-10}},
    {"cell_b", {80e-10}},
    {"cell_c", {90e-10}},
    {"ncells_a", {4}},
    {"ncells_b", {4}},
    {"ncells_c", {4}},
    {"default_F", {10}},
    {"spindle_axis", {0, 0, 1}},
    {"beam_direction", {1, 0, 0}},
    {"polarization_axis", {0, 0, 1}},
    {"wavelength", {1e-10}},
    {"source_weight", {1}},
    {"fluence", {1e29}},
    {"distance", {0.05}},
    {"beam_center_fast", {0.025}},
    {"beam_center_slow", {0.025}},
    {"fast_axis", {0, 0, 1}},
    {"slow_axis", {0, -1, 0}},
    {"normal_axis", {1, 0, 0}},
    {"twotheta_axis", {0, 1, 0}},
    {"pixel_size", {1e-3}},
};
static double angles[] = {90, 100, 90, 10, 20, 30};
static const char *angle_names[] = {"cell_alpha", "cell_beta", "cell_gamma",
                                    "misset_x",   "misset_y",  "misset_z"};
static const double zeros[3];
static const int64_t one = 1, zero = 0, pixels = PIXELS, last = PIXELS - 1;
static _Alignas(64) char workspace[LARGEST_WORKSPACE];
static float image[PIXELS * PIXELS];

static int same(const char *a, const char *b) {
  for (; *a && *a == *b; ++a, ++b) {
  }
  return *a == *b;
}

static int ends_with(const char *text, const char *end) {
  for (; *text; ++text)
    if (same(text, end))
      return 1;
  return 0;
}

static const void *value_of(const nb_kernel_parameter *parameter) {
  const char *name = parameter->name;
  if (parameter->kind == NB_PARAMETER_INDEX)
    return ends_with(name, "_pixels") ? &pixels
           : ends_with(name, "_max")  ? &last
           : ends_with(name, "_min")  ? &zero
                                      : &one;
  for (unsigned i = 0; i != sizeof values / sizeof *values; ++i)
    if (same(name, values[i].name))
      return values[i].numbers;
  for (unsigned i = 0; i != sizeof angles / sizeof *angles; ++i)
    if (same(name, angle_names[i]))
      return &angles[i];
  return zeros;
}

static void system_call(long number, long a, const void *b, long c) {
#if defined(__aarch64__)
  register long x8 __asm__("x8") = number;
  register long x0 __asm__("x0") = a;
  register const void *x1 __asm__("x1") = b;
  register long x2 __asm__("x2") = c;
  __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2) : "memory");
#else
  __asm__ volatile("syscall" : "+a"(number) : "D"(a), "S"(b), "d"(c) : "rcx", "r11", "memory");
#endif
}

#if defined(__aarch64__)
enum { WRITE = 64, EXIT = 93 };
#else
enum { WRITE = 1, EXIT = 60 };
#endif

static void run(const nb_kernel_descriptor *kernel, const void *const *arguments) {
  const nb_tile all = {0, 0, PIXELS, 0};
  kernel->prepare(arguments, workspace);
  void *outputs[] = {image};
  kernel->run_tile(arguments, workspace, &all, outputs, 0, 0);
}

/* The stack is aligned as for a called function from here on. */
__attribute__((used, noinline)) static void start(void) {
  const void *arguments[128];
  const nb_kernel_descriptor *kernel = nb_kernel_get_descriptor();
  for (unsigned i = 0; i != sizeof angles / sizeof *angles; ++i)
    angles[i] *= degree;
  for (unsigned i = 0; i != kernel->num_parameters; ++i)
    arguments[i] = value_of(&kernel->parameters[i]);
  if (kernel->num_parameters > 128 || kernel->workspace_size(arguments) > LARGEST_WORKSPACE)
    system_call(EXIT, 2, 0, 0);
  run(kernel, arguments);
  system_call(WRITE, 1, image, sizeof image);
  system_call(EXIT, 0, 0, 0);
}

#if defined(__aarch64__)
__asm__(".globl _start\n_start: bl start\n");
#else
__asm__(".globl _start\n_start: call start\n");
#endif
