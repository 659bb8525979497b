// The runs of nb-sim, one for each kind of request. Every error is an exception.
#ifndef NANOBRAGG_NBSIM_ACTIONS_H
#define NANOBRAGG_NBSIM_ACTIONS_H

#include "lib/MPI/Ranks.h"
#include "runtime/kernels/KernelProvider.h"
#include "tools/nb-sim/Timing.h"
#include "tools/shared/RunSetup.h"

#include <cstdio>

namespace nanobragg {

/// Reads, compiles, renders and writes what the command line asks for. Returns the exit status.
/// Where ranks share the work, the line says afterwards what this one does.
int simulate(CommandLine &line, const ProcessStart &start);

/// --doctor: prints the parts of the installation and the devices, and renders a small image with
/// the kernel of each. Returns the exit status: Failure where the compiler is missing or a test
/// fails.
int doctor();

/// --check: prints the images, samples, program, files and time of a run, which is not made. The
/// time is measured on a few hundred pixels.
void check(const RunSetup &setup, KernelProvider &kernels);

/// One line per parameter: name, unit, value in this experiment, whether it can be differentiated
/// with respect to, and meaning. Parameters that the experiment's variant does not take are listed
/// without a value. Then the groups with their members.
void listParameters(const Experiment &experiment, std::FILE *out);

/// Prints what --grad asks for and writes the files of --jacobian and --timing. Throws UsageError
/// for names that are no parameters of the experiment.
void printDerivatives(const RunSetup &setup, KernelProvider &kernels, std::FILE *out);

/// Renders the image, prints what the C program prints about it and writes its files.
void makeImage(RunSetup &setup, KernelProvider &kernels, const ProcessStart &start);

/// Renders the pixels of --pixels and writes one number for each into -floatfile: an array of NumPy
/// (.npy), lines `panel fast slow photons` (.txt), or 32-bit floats. Throws io::FileError.
void makeList(const RunSetup &setup, KernelProvider &kernels, const ProcessStart &start);

/// Renders one frame after the other, while threads draw the noise of earlier ones, compress and
/// write them. The files are those that a run for each frame alone would write. Frames that are
/// finished stay. With `ranks`, and with --shard, this process makes its part of the series; the
/// results are bit by bit those of one process.
void makeSeries(RunSetup &setup, KernelProvider &kernels, const ProcessStart &start,
                Ranks *ranks = nullptr);

} // namespace nanobragg
#endif
