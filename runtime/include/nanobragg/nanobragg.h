/* nanobragg-mlir from C and whatever can call it: a kernel, its numbers, an image.
 *
 *   nb_simulator *s;
 *   nb_simulator_load("kernel.so", &s);          or _link, _compile, _from_flags
 *   nb_set_f64(s, "wavelength", 1e-10);          SI units: m, rad, 1/m, photons/m^2, electrons
 *   nb_run(s, NULL, image, sizeof image);        float image[panel][slow][fast]
 *   nb_simulator_free(s);
 *
 * Errors: functions that can fail return an nb_status; nb_last_error() then returns one sentence.
 * nb_simulator_warnings() returns a line for each number or flag that is doubtful but not refused.
 *
 * Ownership: arguments are copied before a function returns and never modified; what a simulator
 * returns is valid as long as the simulator. The image belongs to the caller and is the only memory
 * that a run writes. A simulator can be run again with other numbers as often as you
 * like: nothing is compiled again.
 *
 * Threads: any function may be called from any thread. Calls for one simulator wait for each other
 * (except nb_cancel), those for different simulators do not. */
#ifndef NANOBRAGG_NANOBRAGG_H
#define NANOBRAGG_NANOBRAGG_H

#include "nanobragg/KernelABI.h"

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define NB_API __attribute__((visibility("default")))
#else
#define NB_API
#endif

typedef enum nb_status {
  NB_OK = 0,
  NB_CANCELLED = 1,    /* the image is incomplete */
  NB_BAD_ARGUMENT = 2, /* an unknown name, a wrong kind, an impossible number or shape */
  NB_BAD_KERNEL = 3,   /* unreadable, no kernel, of another version or for another processor */
  NB_FAILED = 4        /* out of memory, no compiler, an input file that cannot be read */
} nb_status;

/* The error of the last failing call of this thread; empty before the first. */
NB_API const char *nb_last_error(void);

/* ---- Simulators: a kernel and the numbers that it will be run with ---- */

typedef struct nb_simulator nb_simulator;

/* The kernel of a file that nb-compile --emit=so wrote. */
NB_API nb_status nb_simulator_load(const char *file, nb_simulator **simulator);

/* A kernel that is linked into the program (nb-compile --emit=obj). Its nb_kernel_get_descriptor
 * returns the first argument. The version for this processor is selected here. */
NB_API nb_status nb_simulator_link(const nb_kernel_descriptor *kernel, nb_simulator **simulator);

/* The kernel of this variant (as nb_kernel_descriptor::variant) for this machine: one that the
 * process has, or from the kernel cache, or compiled once for all simulators. */
NB_API nb_status nb_simulator_compile(const char *variant, nb_simulator **simulator);

/* The same for a device, as nb-sim's --device: "cpu" (as above), "cuda", "cuda:N" for the GPU of
 * that number, "auto" for a GPU if there is a suitable one, or "gpu-on-cpu". A kernel file or a
 * linked kernel for GPUs runs on the first GPU of CUDA_VISIBLE_DEVICES. */
NB_API nb_status nb_simulator_compile_for(const char *variant, const char *device,
                                          nb_simulator **simulator);

/* The simulator that nb-sim would run with these flags (without the program's name). --device,
 * --precision, --threads, --no-fuse and --kernel apply, too. All parameters are set. Flags of
 * output are ignored; flags that request anything but an image are refused. */
NB_API nb_status nb_simulator_from_flags(int count, const char *const *flags,
                                         nb_simulator **simulator);

NB_API void nb_simulator_free(nb_simulator *simulator); /* NULL is allowed */

/* A line for each warning about the flags and numbers of the simulator: flags without effect,
 * corrected inputs, numbers that would be usual in another unit. Empty without warnings. Setting a
 * number again removes its warning. The text is valid until the next call of this function for the
 * simulator. */
NB_API const char *nb_simulator_warnings(const nb_simulator *s);

/* Names, kinds and units of the parameters, the variant, the target. The functions are NULL if
 * the interpreter replaces the kernel (--no-fuse, or NANOBRAGG_DISABLE_COMPILE=1 in the
 * environment when the simulator was made). */
NB_API const nb_kernel_descriptor *nb_simulator_kernel(const nb_simulator *simulator);

/* ---- Parameters, by name ----
 *
 * Those that have a neutral value start with it: no rotation, no spread, one domain, one phi step,
 * one source, one panel, no oversampling, the MOSFLM axes, the whole image as region of interest.
 * The others (cell, F, wavelength, fluence, distance, beam centre, pixels, ...) have to be set.
 * Functions that set values refuse NaN, infinities (except the attenuation depth), angles that no
 * cell has, numbers that only a forgotten unit explains, such as a wavelength of 0.98 (m), and
 * edges, wavelengths, distances and pixel sizes that are not above zero. The run refuses values
 * that do not fit together, such as a table longer than its count or a region outside the image.
 * nb-sim --list-parameters and nb-compile --inspect list names, kinds, shapes and units. */

NB_API nb_status nb_set_f64(nb_simulator *s, const char *name, double value);
NB_API nb_status nb_set_index(nb_simulator *s, const char *name, int64_t value);
NB_API nb_status nb_set_vec3(nb_simulator *s, const char *name, const double value[3]);
NB_API nb_status nb_set_mat3(nb_simulator *s, const char *name, const double row_major[9]);
/* count numbers. When it is run, a table must have as many entries as its count parameter says. */
NB_API nb_status nb_set_table_f64(nb_simulator *s, const char *name, const double *values,
                                  int64_t count);
/* count vectors, 3 * count numbers. */
NB_API nb_status nb_set_table_vec3(nb_simulator *s, const char *name, const double *values,
                                   int64_t count);
NB_API nb_status nb_set_hkl_grid(nb_simulator *s, const char *name, const nb_hkl_grid *grid);
/* [panel][slow][fast]; 0: the pixel is not rendered. */
NB_API nb_status nb_set_mask(nb_simulator *s, const char *name, const uint8_t *mask,
                             const int64_t shape[3]);
/* For kind NB_PARAMETER_IMAGE, shape[0] panels, shape[1] rows and shape[2] pixels in a row, as the
 * image that is rendered: pixels[panel][slow][fast]. The parameter `image_cotangent` of a gradient
 * kernel is the derivative of the loss with respect to each pixel; 1 everywhere for the sum of the
 * image. */
NB_API nb_status nb_set_image(nb_simulator *s, const char *name, const double *pixels,
                              const int64_t shape[3]);
/* Sets all parameters as nb-sim would with these flags. Refuses flags that need a kernel of another
 * variant, and names the difference. */
NB_API nb_status nb_set_flags(nb_simulator *s, int count, const char *const *flags);

NB_API nb_status nb_get_f64(const nb_simulator *s, const char *name, double *value);
NB_API nb_status nb_get_index(const nb_simulator *s, const char *name, int64_t *value);
/* The numbers of a vec3, mat3 or table. *count is their number; at most `capacity` are copied. */
NB_API nb_status nb_get_numbers(const nb_simulator *s, const char *name, double *values,
                                int64_t capacity, int64_t *count);

/* ---- Images ---- */

/* panels, slow pixels, fast pixels */
NB_API nb_status nb_image_shape(const nb_simulator *s, int64_t shape[3]);

typedef struct nb_run_options {
  int32_t threads; /* 0: as many as the machine offers; 4096 at most */
  /* Called with the finished fraction of the image from whichever thread finished a tile, one call
   * at a time; NULL: not at all. Of the functions for this simulator it may call only nb_cancel. */
  void (*progress)(void *context, double fraction);
  void *context;
} nb_run_options;

/* Renders photons per pixel into image[panel][slow][fast], float or double as the kernel's
 * image_type says. `bytes` is the size of the image's memory and must fit. options may be NULL. The
 * image is the same for any number of threads. It is the first output of kernels that have several;
 * NULL and 0 for a kernel that renders none. */
NB_API nb_status nb_run(nb_simulator *s, const nb_run_options *options, void *image, size_t bytes);

/* Another output of the last run that completed, by its name in nb_kernel_descriptor::outputs:
 *   "gradient.NAME"  derivative of the loss with respect to parameter NAME, per unit of the
 *                    parameter and in its layout: 1 number, 3, 9 (row-major), the entries of a
 *                    table in order, or a value for each reflection of the grid, [h][k][l], l
 *                    fastest;
 *   "hvp.NAME", ...  alike; images are [panel][slow][fast].
 * The simulator keeps them until the next run. At most `capacity` numbers are copied into `values`,
 * which belongs to the caller; *count is how many there are (NULL with capacity 0 returns only
 * this). The image that nb_run wrote is not among them. */
NB_API nb_status nb_get_output(const nb_simulator *s, const char *name, double *values,
                               int64_t capacity, int64_t *count);

/* The run in progress, or else the next one, ends after the tiles that it has begun and returns
 * NB_CANCELLED; after that the simulator can be run as before. */
NB_API void nb_cancel(nb_simulator *s);

/* ---- Tables of reflections ---- */

typedef struct nb_reflections nb_reflections;

/* The reflections of the image that nb-sim would render with these flags, in closed form: the
 * crystal is Gaussian (-gauss_xtal) and its averages are closed (--average=closed). Rows of a lower
 * partiality are omitted; the limit is above 0 and at most 1. */
NB_API nb_status nb_reflections_from_flags(int count, const char *const *flags, double partiality,
                                           nb_reflections **table);
NB_API void nb_reflections_free(nb_reflections *table); /* NULL is allowed */

/* The returned numbers live as long as the table. */
NB_API int64_t nb_reflections_rows(const nb_reflections *table);
NB_API const int32_t *nb_reflections_miller_index(const nb_reflections *table); /* [row][3] */
NB_API const int32_t *nb_reflections_panel(const nb_reflections *table);        /* [row] */
/* A column by name, a number for each row: photons; partiality; fast, slow (pixels; 0, 0 is the
 * outer corner of the panel's first one); angle (degrees); covariance_ff, covariance_fs,
 * covariance_ss (pixels^2); wavelength, wavelength_sigma (Angstrom). */
NB_API nb_status nb_reflections_column(const nb_reflections *table, const char *name,
                                       const double **numbers);

/* ---- Where kernels came from, since the process began ---- */

typedef struct nb_counters {
  uint64_t hits;     /* requests answered with a kernel that the process had */
  uint64_t loads;    /* from the cache */
  uint64_t compiles; /* by the compiler */
} nb_counters;
NB_API void nb_get_counters(nb_counters *counters); /* NULL is allowed */

#ifdef __cplusplus
}
#endif
#endif
