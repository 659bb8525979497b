/* Calls the kernel that nb-compile made of two-crystals.mlir: from C by main(), from Python as a
 * shared object. One header of nanobragg-mlir is all it needs. */
#include "nanobragg/KernelABI.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const nb_kernel_descriptor *two_crystals(void); /* nb-compile --symbol=two_crystals */

/* Renders pixels x pixels pixels into `image`, in photons. Lengths are in metres, angles in
 * radians. Returns 0 for success. */
int render_crystals(double cell_a, double tilt, int64_t pixels, double *image) {
  const double misset = 10 * M_PI / 180, ncells = 10, F = 100, wavelength = 1e-10, distance = 0.1;
  const double pixel_size = 1e-4, center = pixel_size * (double)pixels / 2;
  const double beam[3] = {1, 0, 0}, fast[3] = {0, 0, 1}, slow[3] = {0, -1, 0},
               spindle[3] = {0, 0, 1};
  const int64_t one = 1;
  const struct {
    const char *name;
    const void *value;
  } known[] = {{"cell_a", &cell_a},
               {"misset_x", &misset},
               {"mosaic_spread", &tilt},
               {"ncells_a", &ncells},
               {"default_F", &F},
               {"spindle_axis", spindle},
               {"beam_direction", beam},
               {"wavelength", &wavelength},
               {"distance", &distance},
               {"beam_center_fast", &center},
               {"beam_center_slow", &center},
               {"fast_axis", fast},
               {"slow_axis", slow},
               {"normal_axis", beam},
               {"pixel_size", &pixel_size},
               {"fast_pixels", &pixels},
               {"slow_pixels", &pixels},
               {"panel_count", &one}};
  const nb_kernel_descriptor *kernel = two_crystals();
  const void *arguments[64];
  for (uint32_t i = 0; i != kernel->num_parameters; ++i) {
    arguments[i] = NULL;
    for (size_t k = 0; k != sizeof known / sizeof *known; ++k)
      if (!strcmp(known[k].name, kernel->parameters[i].name))
        arguments[i] = known[k].value;
    if (!arguments[i]) {
      fprintf(stderr, "no value for %s\n", kernel->parameters[i].name);
      return 1;
    }
  }
  const size_t bytes = ((size_t)kernel->workspace_size(arguments) + 64) / 64 * 64;
  void *workspace = aligned_alloc(64, bytes);
  if (!workspace)
    return 1;
  const nb_tile all = {0, 0, pixels};
  void *outputs[] = {image};
  kernel->prepare(arguments, workspace);
  kernel->run_tile(arguments, workspace, &all, outputs, NULL, NULL);
  free(workspace);
  return 0;
}

#ifndef SHARED
int main(void) {
  enum { pixels = 128 };
  static double image[pixels * pixels];
  if (render_crystals(70e-10, 0.035, pixels, image))
    return 1;
  double brightest = 0;
  for (size_t i = 0; i != pixels * pixels; ++i)
    brightest = image[i] > brightest ? image[i] : brightest;
  printf("brightest pixel: %.6g\n", brightest);
  return 0;
}
#endif
