// The library of a vendor's driver, opened when it is asked for: it is on no machine without one.
#ifndef NANOBRAGG_RUNTIME_GPU_DRIVERLIBRARY_H
#define NANOBRAGG_RUNTIME_GPU_DRIVERLIBRARY_H

#include <initializer_list>
#include <string>
#include <type_traits>

namespace nanobragg::gpu {

/// Stays open: drivers do not survive dlclose.
class DriverLibrary {
public:
  /// The first of these that there is. Throws NoGpu with "there is no `what`", why, and `remedy`.
  DriverLibrary(std::initializer_list<const char *> files, const char *what, const char *remedy);

  /// Null: it has no such function.
  void *look(const char *symbol) const;

  /// Makes `function` the symbol. Throws NoGpu with `tooOld`, the symbol, and `remedy`.
  template <typename Function>
  void find(Function &function, const char *symbol, const char *tooOld, const char *remedy) const {
    static_assert(std::is_pointer_v<Function>);
    function = reinterpret_cast<Function>(found(symbol, tooOld, remedy));
  }

private:
  void *found(const char *symbol, const char *tooOld, const char *remedy) const;

  void *handle = nullptr;
};

} // namespace nanobragg::gpu
#endif
