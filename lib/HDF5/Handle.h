// HDF5 objects that close themselves.
#ifndef NANOBRAGG_HDF5_HANDLE_H
#define NANOBRAGG_HDF5_HANDLE_H

#include "lib/Files/FileError.h"

#include <hdf5.h>
#include <string>
#include <utility>

namespace nanobragg::io {

class Handle {
public:
  Handle() = default;
  explicit Handle(hid_t id) : id(id) {}
  Handle(Handle &&other) noexcept : id(std::exchange(other.id, -1)) {}
  Handle &operator=(Handle &&other) noexcept {
    std::swap(id, other.id);
    return *this;
  }
  ~Handle() { close(); }
  void close() {
    if (id < 0)
      return;
    switch (H5Iget_type(id)) {
    case H5I_FILE:
      H5Fclose(id);
      break;
    case H5I_GROUP:
      H5Gclose(id);
      break;
    case H5I_DATASET:
      H5Dclose(id);
      break;
    case H5I_DATASPACE:
      H5Sclose(id);
      break;
    case H5I_DATATYPE:
      H5Tclose(id);
      break;
    case H5I_ATTR:
      H5Aclose(id);
      break;
    case H5I_GENPROP_LST:
      H5Pclose(id);
      break;
    default: // no other kind is opened here
      break;
    }
    id = -1;
  }
  operator hid_t() const { return id; }
  bool valid() const { return id >= 0; }

private:
  hid_t id = -1;
};

/// Throws FileError "`path`: `what`" for what HDF5 reports as a failure.
inline Handle checked(hid_t id, const std::string &path, const std::string &what) {
  if (id < 0)
    throw FileError(path, what);
  return Handle(id);
}

} // namespace nanobragg::io
#endif
