/* Renders a still of a round crystal with a cubic cell into a grey image (PGM). */
#include "round_crystal.h"

#include <nanobragg/nanobragg.h>
#include <stdio.h>
#include <stdlib.h>

enum { PIXELS = 256 };

static void check(nb_status status) {
  if (status == NB_OK)
    return;
  fprintf(stderr, "render: error: %s\n", nb_last_error());
  exit(1);
}

static void set_up(nb_simulator *s) {
  const double degree = 3.14159265358979323846 / 180;
  check(nb_set_f64(s, "cell_a", 100e-10));
  check(nb_set_f64(s, "cell_b", 100e-10));
  check(nb_set_f64(s, "cell_c", 100e-10));
  check(nb_set_f64(s, "cell_alpha", 90 * degree));
  check(nb_set_f64(s, "cell_beta", 90 * degree));
  check(nb_set_f64(s, "cell_gamma", 90 * degree));
  check(nb_set_f64(s, "misset_x", 10 * degree));
  check(nb_set_f64(s, "ncells_a", 5));
  check(nb_set_f64(s, "ncells_b", 5));
  check(nb_set_f64(s, "ncells_c", 5));
  check(nb_set_f64(s, "default_F", 100));
  check(nb_set_f64(s, "wavelength", 1e-10));
  check(nb_set_f64(s, "fluence", 1e24));
  check(nb_set_f64(s, "distance", 0.1));
  check(nb_set_f64(s, "pixel_size", 1e-4));
  check(nb_set_f64(s, "beam_center_fast", PIXELS / 2 * 1e-4));
  check(nb_set_f64(s, "beam_center_slow", PIXELS / 2 * 1e-4));
  check(nb_set_index(s, "fast_pixels", PIXELS));
  check(nb_set_index(s, "slow_pixels", PIXELS));
}

static void write_pgm(const char *path, const float *image) {
  float most = 0;
  for (int i = 0; i < PIXELS * PIXELS; ++i)
    most = image[i] > most ? image[i] : most;
  FILE *file = fopen(path, "wb");
  if (!file) {
    perror(path);
    exit(1);
  }
  fprintf(file, "P5\n%d %d\n255\n", PIXELS, PIXELS);
  for (int i = 0; i < PIXELS * PIXELS; ++i)
    fputc(most > 0 ? (int)(255 * image[i] / most) : 0, file);
  if (fclose(file) != 0) {
    perror(path);
    exit(1);
  }
  printf("brightest pixel: %g photons\n", most);
}

int main(int argc, char **argv) {
  static float image[PIXELS][PIXELS];
  if (argc != 2) {
    fprintf(stderr, "usage: render FILE.pgm\n");
    return 2;
  }
  nb_simulator *simulator;
  check(nb_simulator_link(round_crystal(), &simulator));
  printf("code for %s\n", nb_simulator_kernel(simulator)->target);
  set_up(simulator);
  fputs(nb_simulator_warnings(simulator), stderr);
  check(nb_run(simulator, NULL, image, sizeof image));
  write_pgm(argv[1], &image[0][0]);
  nb_simulator_free(simulator);
  return 0;
}
