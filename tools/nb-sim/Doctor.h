// The parts that are installed, and whether they work: --doctor.
#ifndef NANOBRAGG_NBSIM_DOCTOR_H
#define NANOBRAGG_NBSIM_DOCTOR_H

namespace nanobragg {

/// Prints the parts of the installation and the devices, and renders a small image with the kernel
/// of each. Returns the exit status: Failure where the compiler is missing or a test fails.
int doctor();

} // namespace nanobragg
#endif
