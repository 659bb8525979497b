// Where kernels spend their time.
//
// A timer of the operating system counts the time that the threads of this process compute. Each
// time it has run out, the thread that computes is interrupted and says which instruction comes
// next. Kernels are files with debug information, so that instructions belong to lines of a
// program.
#ifndef NANOBRAGG_NBSIM_PROFILE_H
#define NANOBRAGG_NBSIM_PROFILE_H

#include "runtime/kernels/KernelProvider.h"

#include <string>

namespace nanobragg {

/// Samples a process from when it is made to when it is asked for a table. There is one at a time.
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
};

} // namespace nanobragg
#endif
