/* The contract between a compiled kernel, the runtime that runs it and the compiler that makes it.
 *
 * A kernel is a set of C functions described by one nb_kernel_descriptor. It needs nothing from the
 * process that runs it: no allocator, no threads, no library. Physical numbers arrive at run time,
 * by name, in the order that the descriptor lists them; the choices of the program variant (crystal
 * shape, corrections, ...) are compiled in and recorded in `variant`.
 *
 * A kernel has outputs: images, which it writes row by row, and numbers, vectors, tables and grids
 * that are sums over the pixels of all rows, such as the gradient of a loss.
 *
 * Calling sequence:
 *   bytes = workspace_size(arguments);
 *   prepare(arguments, workspace);                         once per set of numbers
 *   run_tile(arguments, workspace, &tile, outputs, accumulator, scratch);
 *                                                          once per tile, from any thread
 *   finish(arguments, workspace, accumulators, count, outputs);
 *                                                          after all tiles, unless it is NULL
 *
 * A kernel of a GPU has no run_tile but code for the GPU, see nb_device_kernel; the other functions
 * run on the host as always.
 *
 * `arguments[i]` points to the value of parameter i, laid out as its kind says. Nothing that
 * `arguments` reaches is written. `workspace` is `bytes` long, 64-byte aligned, written by prepare
 * and finish and only read by run_tile, so that tiles may run concurrently.
 *
 * Sums over pixels: each accumulator is accumulator_size(arguments) bytes, 64-byte aligned, zeroed
 * before its first tile; tiles that run concurrently have different ones. `scratch` is
 * scratch_size(arguments) bytes, 64-byte aligned, not shared with a tile that runs at the same
 * time; its content is undefined before and after. finish adds the accumulators in order and may
 * write into them. The result depends only on the division of the rows into tiles and on the
 * accumulator of each tile: if these are the same, the bits are the same for any number of threads.
 */
#ifndef NANOBRAGG_KERNELABI_H
#define NANOBRAGG_KERNELABI_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version changes when a field gets another meaning or place; a program runs only kernels of
 * its own version. It does not change when fields are added, at the end of nb_kernel_descriptor,
 * nb_reach_numbers, nb_reach_tables, nb_tile and nb_lit:
 *
 *  - A descriptor contains its own size and those of the two structures that `reach` fills. Check a
 *    field that was added after version 14 by NB_KERNEL_HAS before reading it; in the other two
 *    structures, fields that a kernel does not know are 0.
 *  - A kernel that needs a program to do something new sets a bit of `needs`. A program refuses a
 *    kernel with a bit that it does not know.
 *  - The entries of arrays (parameters, outputs, codes) stay as they are; additions to them get an
 *    array of their own. */
#define NB_KERNEL_ABI_VERSION 14u

/* Bits of `needs`. */
#define NB_KERNEL_NEEDS_LIT 1u /* the program finds where light can fall, see `reach` */
#define NB_KERNEL_NEEDS_KNOWN NB_KERNEL_NEEDS_LIT

/* Does the descriptor that the pointer `kernel` points to have the field? */
#define NB_KERNEL_HAS(kernel, field)                                                               \
  ((kernel)->size >= offsetof(nb_kernel_descriptor, field) + sizeof((kernel)->field))

#define NB_KERNEL_FIXED "fixed:"

/* The data that arguments[i] points to. All arrays are dense, last index fastest. A table has
 * memory for one entry at least: where a branch guards a lookup, a kernel may read entry 0, and not
 * use it. */
typedef enum nb_parameter_kind {
  NB_PARAMETER_F64 = 0,        /* one double */
  NB_PARAMETER_INDEX = 1,      /* one int64_t */
  NB_PARAMETER_VEC3 = 2,       /* three doubles: x, y, z in the lab frame */
  NB_PARAMETER_MAT3 = 3,       /* nine doubles, row-major */
  NB_PARAMETER_TABLE_F64 = 4,  /* array of doubles */
  NB_PARAMETER_TABLE_VEC3 = 5, /* array of double[3] */
  NB_PARAMETER_HKL_GRID = 6,   /* one nb_hkl_grid */
  NB_PARAMETER_MASK = 7,       /* uint8_t[panel][slow][fast]; 0 = the pixel is not rendered */
  NB_PARAMETER_IMAGE = 8 /* double[panel][slow][fast], e.g. the derivative of a loss with respect to
                          * the pixels; it does not matter where none is rendered */
} nb_parameter_kind;

/* Structure factors on a dense box of Miller indices, bounds inclusive:
 * data[((h - h_min) * nk + (k - k_min)) * nl + (l - l_min)], nk = k_max - k_min + 1, ... Fewer than
 * 2^31 nodes. */
typedef struct nb_hkl_grid {
  int64_t h_min, h_max, k_min, k_max, l_min, l_max;
  const double *data;
} nb_hkl_grid;

typedef struct nb_kernel_parameter {
  const char *name; /* e.g. "cell_a" */
  nb_parameter_kind kind;
  const char *unit; /* "m", "rad", "1", ... : SI throughout */
} nb_kernel_parameter;

/* The data that outputs[i] points to: memory of the caller, dense, last index fastest. */
typedef enum nb_output_kind {
  NB_OUTPUT_IMAGE = 0,      /* float or double [panel][slow][fast], see image_type */
  NB_OUTPUT_F64 = 1,        /* one double */
  NB_OUTPUT_VEC3 = 2,       /* three doubles */
  NB_OUTPUT_MAT3 = 3,       /* nine doubles, row-major */
  NB_OUTPUT_TABLE_F64 = 4,  /* array of doubles */
  NB_OUTPUT_TABLE_VEC3 = 5, /* array of double[3] */
  NB_OUTPUT_TABLE_MAT3 = 6, /* array of double[9] */
  NB_OUTPUT_HKL_GRID = 7    /* the values alone, double[h][k][l] over the box of the grid that the
                             * output is the gradient with respect to */
} nb_output_kind;

typedef struct nb_kernel_output {
  const char *name; /* "image", "gradient.cell_a", ... */
  nb_output_kind kind;
  const char *unit;
} nb_kernel_output;

/* The samples of a tile that a kernel with `reach` computes. A block is block_slow rows of
 * block_fast pixels (nb_reach_numbers). Orientations are numbered as the tables `incident` (beams)
 * and `direct` (bases) are. Block i has the beams outer[outer_begin[i]] ... up to
 * outer[outer_begin[i + 1] - 1], and the j-th beam of all has the bases inner[inner_begin[j]] ...
 * up to inner[inner_begin[j + 1] - 1], both ascending. Averaged programs have reflections in place
 * of bases, of which there may be more than 2^31: `reflection` in place of `inner`. */
typedef struct nb_lit {
  int64_t blocks;
  const int32_t *slow, *fast; /* the first pixel of each block */
  const int32_t *outer_begin, *outer, *inner_begin, *inner;
  const int64_t *reflection;
  const int32_t *slow_end; /* one number: rows from there on are not rendered */
} nb_lit;

/* Rows slow_begin <= slow < slow_end of one panel. */
typedef struct nb_tile {
  int64_t panel;
  int64_t slow_begin;
  int64_t slow_end;
  const nb_lit *lit; /* for kernels with `reach`, which compute these blocks and ignore the rows;
                      * the caller clears all other pixels of images */
} nb_tile;

/* The numbers by which the runtime finds where light can fall, see `reach`; counts are doubles,
 * too. A sample of direction d (a unit vector), beam (k, lambda) and basis B has light only if an
 * integer vector n is so near to h = B (d - k) / lambda that form(h - n) <= 1. Or, of a grating,
 * only if the product over the axes of max(1, cells |sin(pi h)|) is at most `grating`. In an
 * average, exp(-form(h - n)) is what is averaged. */
typedef struct nb_reach_numbers {
  double panels, slow_pixels, fast_pixels;
  double fast_min, fast_max, slow_min, slow_max; /* the region of interest, inclusive */
  double beams, bases;                           /* entries of the tables of these */
  double group;                                  /* number of consecutive bases that are similar */
  double depths;                                 /* entries of the table of these */
  double oversample;
  double pixel_size;             /* m */
  double form[6];                /* xx, yy, zz, xy, xz, yz */
  double grating;                /* above 0: there is no form */
  double cells[3];               /* numbers of cells in a grating */
  double fringes;                /* 1: terms vanish between the fringes of a grating */
  double dark;                   /* 1: pixels without light are 0 */
  double directions;             /* entries of the table of these for each pixel; 0: panels */
  double curved;                 /* 1: panels are curved; 0: flat */
  double block_fast, block_slow; /* pixels of a block along a row, and rows of it */

  /* 1: terms are averages in closed form, and bases are reflections, see nb_reach_tables; `group`,
   * `grating` and what belongs to it are unused. */
  double averaged;
  double bound;                  /* terms whose exponent is above this are ignored */
  double normals;                /* variables that are normal, of mean 0 and variance 1 */
  double boxes;                  /* variables that are uniform between -1/2 and 1/2 */
  double spots;                  /* 1: bases are spots of a table, see nb_reach_tables */
  double h_most, k_most, l_most; /* (h, k, l), |h| <= h_most and so on, has the number ((h + h_most)
                                  * (2 k_most + 1) + k + k_most) (2 l_most + 1) + l + l_most */
} nb_reach_numbers;

/* Where the numbers and tables stand in the workspace, counted in doubles. A point of the detector
 * is origin + F fast + S slow + depth normal, F in m from the panel's edge: pixel i has the
 * sub-pixels pixel_size / oversample (i oversample + j + 1/2), j < oversample. */
typedef struct nb_reach_tables {
  int64_t numbers;    /* nb_reach_numbers */
  int64_t direct;     /* double[9]: rows a, b, c, in m */
  int64_t incident;   /* double[3]: k */
  int64_t wavelength; /* in m */
  /* double[3] for each panel. Flat ones: the corner of the first pixel, and the axes. Curved ones:
   * (angle about the slow axis, angle about the fast axis, 0) of nb.curved_position, in rad, at the
   * points with (fast, slow, depth) = (0, 0, 0), (1, 0, 0), (0, 1, 0) and (0, 0, 1) m. */
  int64_t origin, fast_axis, slow_axis, normal;
  int64_t depth;       /* in m */
  int64_t direction;   /* double[3] for each pixel and each of its samples: d */
  int64_t curved_beam; /* double[3] for each curved panel: the vector that is rotated, */
  int64_t curved_fast; /* about this axis last */
  int64_t curved_slow; /* and about this one first */
  int64_t radius;      /* for each curved panel and each depth, in m */

  /* For averaged programs the derivatives of a beam's numbers with respect to the variables t that
   * its terms are averages over, normal ones first: for each beam and each variable, beam after
   * beam. `direct` has one entry for each beam. Pixels are areas, and a sensor has all depths
   * between the least and the largest; in a table of directions, the entries of a pixel are its
   * corners.
   *
   * With q = (d - k) / lambda and h = B q, the derivative of h with respect to t is J = B' q + B
   * q', where q' = -k' / lambda - q lambda' / lambda. With C = (2 form)^-1 + the sum of J J^T over
   * the normal variables, the exponent of reflection n is x^T C^-1 x / 2, x = h - n + the sum of t
   * J over the boxes. */
  int64_t varied_direct;     /* double[9] */
  int64_t varied_wavelength; /* in m */
  int64_t varied_incident;   /* double[3] */

  /* For spots: place (fast, slow, in pixels from the corner of the panel, and number of the panel)
   * and extent (an ellipse: largest distances along fast and slow, and their correlation). If the
   * image is a list of pixels, `directions` is 1, `direction` contains fast, slow and panel of each
   * pixel, and the pixels of a row are on one panel. All else is unused. */
  int64_t spot_place;  /* double[3] */
  int64_t spot_extent; /* double[3] */
} nb_reach_tables;

/* Code of one GPU chip. */
typedef struct nb_device_code {
  const char *chip; /* "sm_90", "gfx942" */
  const char *kind; /* "cubin": for chips of the same major version and this minor one or a later;
                     * "ptx": text, ended by a null byte, that the driver compiles for this chip
                     * or a later one; "spirv": what an OpenCL runtime compiles; "hsaco": an AMD
                     * chip's code object, for this chip alone */
  const char *version; /* for cubin, of the CUDA toolkit that made it; for hsaco, of the LLVM that
                        * did; else: of the language */
  const void *bytes;
  uint64_t size; /* without the null byte */
} nb_device_code;

/* The part of a kernel that runs on a GPU. All pointers are into the memory of the device, and
 * nothing writes what a launch reads while it runs.
 *
 * `entry`(arguments, workspace, tile, outputs, accumulators) does what run_tile does. `arguments`
 * is an array of pointers to copies of the values (the data of an nb_hkl_grid, too, lie on the
 * device), `workspace` is a copy of what prepare has written, which holds no pointers, and
 * outputs[i] is looked at for images alone. The grid has one dimension and any number B of blocks
 * of `threads` threads. A chunk is `threads` neighbouring pixels of a row, the last one of each row
 * may be narrower; block b renders the chunks b, b + B, b + 2 B, ... of the tile, counted along its
 * rows. In a kernel with `reach` (the tile's nb_lit and its lists lie on the device, too) a warp
 * of threads that run in step renders a block of as many pixels, warp w of W blocks w, w + W, ...
 *
 * Sums over pixels: each warp w, counted over all blocks, adds to the accumulator that begins
 * w * accumulator_size(arguments) bytes into `accumulators`; they are zeroed before the first
 * launch. `reduce`(accumulators, int64_t warps, int64_t doubles), launched with one block of one
 * warp for each of the `doubles` of an accumulator, adds those of all warps up in a fixed order,
 * leaves the sum in the first and zero in the others. A copy of the first is what finish gets. The
 * result depends on tiles and B and on nothing else. */
typedef struct nb_device_kernel {
  const char *entry;
  const char *reduce; /* NULL in a kernel that only renders images */
  uint32_t threads;   /* threads of a block */
  uint32_t warp;      /* the number of them that run in step */
  uint32_t num_codes;
  const nb_device_code *codes; /* the best first: cubin before ptx, later chips before earlier */
} nb_device_kernel;

typedef enum nb_image_type { NB_IMAGE_F32 = 0, NB_IMAGE_F64 = 1 } nb_image_type;

typedef struct nb_kernel_descriptor {
  uint32_t abi_version; /* NB_KERNEL_ABI_VERSION */
  uint32_t size;        /* bytes of this structure, as the kernel's compiler knew it */
  uint64_t needs;       /* NB_KERNEL_NEEDS_LIT, ... */
  nb_image_type image_type;
  const char *name;
  const char *variant;   /* canonical text of the program variant (ProgramVariant::toString), then
                          * "derivative=" with the derivatives that it returns, if any, and
                          * NB_KERNEL_FIXED "NAME=VALUE" for each count that was compiled in and must
                          * have this value; see KernelSpecification.h */
  const char *target;    /* LLVM triple and CPU that the code was generated for */
  const char *precision; /* "f64", ... */
  uint32_t num_parameters;
  const nb_kernel_parameter *parameters;
  uint32_t num_outputs;
  const nb_kernel_output *outputs;

  /* Bytes of workspace that this set of numbers needs. */
  int64_t (*workspace_size)(const void *const *arguments);
  /* Fills the workspace with all that does not depend on a pixel. */
  void (*prepare)(const void *const *arguments, void *workspace);
  /* Writes the rows of the tile into outputs[i] for each image i (float or double, see image_type)
   * and adds what they contribute to the other outputs to `accumulator`. Pixels outside the region
   * of interest or masked are written as 0 and contribute nothing. NULL in a kernel of a GPU. */
  void (*run_tile)(const void *const *arguments, const void *workspace, const nb_tile *tile,
                   void *const *outputs, void *accumulator, void *scratch);

  /* These four are NULL in a kernel that only renders images, and so are its accumulator and
   * scratch. A kernel of a GPU needs no scratch memory. */

  /* Bytes of one accumulator. */
  int64_t (*accumulator_size)(const void *const *arguments);
  /* Bytes of memory that a tile needs while it runs. */
  int64_t (*scratch_size)(const void *const *arguments);
  /* Adds up the accumulators, each to the sum of those before it, and writes all outputs that are
   * no images. */
  void (*finish)(const void *const *arguments, void *workspace, void *const *accumulators,
                 int64_t count, void *const *outputs);
  /* How many numbers each output is (bytes / 4 for images of float, bytes / 8 for all others). */
  void (*output_sizes)(const void *const *arguments, int64_t *sizes);

  /* Instruction sets that the code needs beyond the architecture's baseline, LLVM's names separated
   * by blanks; NULL: none. */
  const char *features;
  /* The same kernel for processors that lack some of them, or NULL. The best comes first. */
  const struct nb_kernel_descriptor *alternative;

  /* The part that runs on a GPU in place of run_tile; NULL: a kernel of the processor. */
  const nb_device_kernel *device;

  /* Says where prepare has written the numbers that find light. NULL: the kernel computes all
   * samples and takes no nb_lit. */
  void (*reach)(const void *const *arguments, nb_reach_tables *tables);
  /* The bytes of nb_reach_numbers that prepare writes, and of nb_reach_tables that reach does; 0
   * without reach. */
  uint32_t reach_numbers_size, reach_tables_size;
} nb_kernel_descriptor;

/* The function that a kernel file defines under the name nb_kernel_get_descriptor (objects may have
 * another name). The result is the first of the versions, see `alternative`. */
typedef const nb_kernel_descriptor *(*nb_kernel_get_descriptor_fn)(void);

/* The section of a shared object or object with the same information for programs that do not load
 * it: for each version lines `KEY VALUE`, ended by a null byte. */
#define NB_KERNEL_TEXT_SECTION ".nb_kernel"

#ifdef __cplusplus
}
#endif
#endif
