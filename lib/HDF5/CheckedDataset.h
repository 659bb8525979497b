// Data sets of files of unknown origin.
#ifndef NANOBRAGG_HDF5_CHECKEDDATASET_H
#define NANOBRAGG_HDF5_CHECKEDDATASET_H

#include "lib/HDF5/Handle.h"

#include <optional>
#include <string>
#include <vector>

namespace nanobragg::io {

/// A group or data set, and the path of the file that it is in.
struct LinkedObject {
  std::string path;
  Handle object;
};
/// The object `name` of a file, along its links; none where there is none. Throws FileError where
/// one leads astray.
std::optional<LinkedObject> findLinked(const std::string &path, hid_t file,
                                       const std::string &name);

/// A data set of numbers. HDF5 believes what a file says: it opens what links, virtual data sets
/// and external storage name, a pipe among them, and copies from a chunk as many bytes as it should
/// have. Here each is looked at before HDF5 follows it. Links and virtual data sets lead to regular
/// files in the file's own folder or below; external storage is refused; chunks have the size they
/// say; memory is bounded by the sizes of the files.
class CheckedDataset {
public:
  /// The largest data set that a file of so many bytes may hold.
  static double mostBytes(double fileBytes);
  /// Opens a file to read. Throws FileError.
  static Handle openFile(const std::string &path);
  /// A data set that was found.
  explicit CheckedDataset(LinkedObject found);
  /// As findLinked().
  static std::optional<CheckedDataset> find(const std::string &path, hid_t file,
                                            const std::string &name);

  /// Numbers of each dimension.
  const std::vector<hsize_t> &size() const { return extent; }
  /// The largest number of its type where that is unsigned, by which detectors mark pixels that are
  /// none; else infinite.
  double undefined() const;
  /// The text of its attribute "units"; empty: it has none.
  std::string unit() const;
  /// A block of it. Throws FileError.
  std::vector<double> read(const std::vector<hsize_t> &offset,
                           const std::vector<hsize_t> &count) const;

private:
  void readSelected(hid_t selected, hid_t memory, double *values) const;
  void readVirtual(const std::vector<hsize_t> &offset, hid_t selected, hid_t memory,
                   double *values) const;
  void requireFewBlocks(hid_t space) const;
  void checkContiguous() const;
  void checkChunks(hid_t selected) const;
  void checkChunk(const std::vector<hsize_t> &offset, std::size_t bytes) const;
  double extentBytes() const;
  void requireRoom(double bytes) const;
  std::optional<CheckedDataset> sourceOf(std::size_t mapping) const;
  [[noreturn]] void refuse(const std::string &why) const;

  std::string path; ///< to the file that it is in
  Handle data, creation, type;
  std::vector<hsize_t> extent;
  double fileBytes = 0;
};

} // namespace nanobragg::io
#endif
