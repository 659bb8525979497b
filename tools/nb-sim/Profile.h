// Where kernels spend their time.
//
// A counter of the processor's cycles interrupts each thread about a thousand times per second that
// it computes, and the thread says which instruction comes next. Where such counters are not
// permitted, Linux's clock of the thread does the same, and without that a timer of the process.
// Kernels are files with debug information, so that instructions belong to lines of a
// program.
#ifndef NANOBRAGG_NBSIM_PROFILE_H
#define NANOBRAGG_NBSIM_PROFILE_H

#include "runtime/kernels/KernelProvider.h"

#include <string>

namespace nanobragg {

/// Samples a process, its threads that are members of a ThreadTeam, from when it is made to when it
/// is asked for a table. There is one at a time.
class Profile {
public:
  /// The provider's kernels get debug information from now on.
  explicit Profile(KernelProvider &kernels);
  ~Profile();
  Profile(const Profile &) = delete;
  Profile &operator=(const Profile &) = delete;

  /// Ends the sampling; the lines of the program by their share of the kernels' samples. Kernels
  /// are still loaded.
  std::string table();

private:
  KernelProvider &kernels;
  std::string sampledBy; ///< a line that says what interrupts
};

} // namespace nanobragg
#endif
