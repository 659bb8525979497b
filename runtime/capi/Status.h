// How the functions of the C interface fail.
#ifndef NANOBRAGG_CAPI_STATUS_H
#define NANOBRAGG_CAPI_STATUS_H

#include "lib/Quantities/UsageError.h"
#include "runtime/capi/Handle.h"

#include <algorithm>
#include <new>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace nanobragg {

/// A kernel that cannot be used, as opposed to anything else that failed.
struct BadKernel : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Keeps the sentence for nb_last_error.
nb_status failed(nb_status status, const char *why);

/// Runs `work`; exceptions do not leave the library.
template <typename Work>
nb_status guarded(Work work) noexcept {
  try {
    return work();
  } catch (const std::bad_alloc &) {
    return failed(NB_FAILED, "out of memory");
  } catch (const BadKernel &error) {
    return failed(NB_BAD_KERNEL, error.what());
  } catch (const UsageError &error) {
    return failed(NB_BAD_ARGUMENT, error.what());
  } catch (const std::invalid_argument &error) {
    return failed(NB_BAD_ARGUMENT, error.what());
  } catch (const std::exception &error) {
    return failed(NB_FAILED, error.what());
  }
}

/// Runs `work` while no other call for this simulator does.
template <typename Work>
nb_status locked(const nb_simulator *simulator, Work work) noexcept {
  return guarded([&] {
    if (!simulator)
      throw std::invalid_argument("the simulator is NULL");
    std::lock_guard lock(simulator->mutex);
    work();
    return NB_OK;
  });
}

/// An argument that the caller must not leave out. Throws std::invalid_argument when it is NULL.
const char *given(const char *text, const char *what);
void *given(void *memory, const char *what);

/// Copies at most `capacity` numbers to the caller and tells how many there are.
template <typename Number>
void handOut(std::span<const Number> numbers, double *values, std::int64_t capacity,
             std::int64_t *count) {
  const auto copied = std::min<std::int64_t>(capacity, std::int64_t(numbers.size()));
  if (copied > 0)
    std::copy_n(numbers.begin(), copied,
                static_cast<double *>(given(values, "the place for the numbers")));
  if (count)
    *count = std::int64_t(numbers.size());
}

/// The caller's flags as words. Throws std::invalid_argument.
std::vector<std::string> words(int count, const char *const *flags);

} // namespace nanobragg
#endif
