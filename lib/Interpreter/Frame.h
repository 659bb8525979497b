// The values of a run.
//
// A value is uniform, one for all pixels, or has one entry per pixel of a tile: component c of
// pixel i stands at c * laneStride + i. Reals are doubles, everything else that is a number is an
// int64_t; tables, grids and tensors are objects that a slot points to.
#ifndef NB_INTERPRETER_FRAME_H
#define NB_INTERPRETER_FRAME_H

#include "lib/Interpreter/Interpreter.h"

#include "dialect/NB.h"
#include "nanobragg/KernelABI.h"

#include <memory>
#include <string>
#include <vector>

namespace mlir::nb {

/// Pixels that are computed together: enough to pay for finding out what to do with them, few
/// enough that their values stay in the cache.
constexpr int64_t tileLanes = 512;
/// A cache line more, so that the components of a value do not fall on the same cache sets.
constexpr int64_t laneStride = tileLanes + 8;

enum class Kind : uint8_t { Real, Integer, Object };

/// Where a value lives in every frame.
struct Slot {
  uint32_t offset = 0;
  uint8_t components = 1;
  Kind kind = Kind::Real;
  bool varying = false; ///< one entry per pixel
  bool single = false;  ///< rounded to float
};

/// The entries of !nb.table, entry after entry, component after component; those of varying
/// entries are laneStride apart.
struct Table {
  SmallVector<int64_t, 2> shape; ///< empty when the caller did not say
  int64_t stride = 1;            ///< from one component to the next: 1 or laneStride
  const double *reals = nullptr;
  const int64_t *integers = nullptr;
  std::vector<double> ownReals;
  std::vector<int64_t> ownIntegers;
};

struct Tensor {
  Type element;
  SmallVector<int64_t> shape;
  void *data = nullptr;
  std::vector<char> own;

  int64_t size() const;
  double get(int64_t index) const;
  void set(int64_t index, double value);
};

/// The grid that a sum is.
struct OwnGrid {
  nb_hkl_grid grid;
  std::vector<double> values;
};

struct ProbeStatistics;
class Observer;
struct RunState;

/// The values of one thread, or those that are shared by all pixels.
struct Frame {
  Frame() = default;
  Frame(const Frame &) = delete;
  std::vector<double> uniformWords, varyingWords;
  std::vector<std::unique_ptr<Table>> tables; ///< by the ordinal that the planner gave
  std::vector<std::unique_ptr<OwnGrid>> grids;
  std::vector<std::unique_ptr<Tensor>> tensors;
  int64_t lanes = 1;
  const int64_t *active = nullptr; ///< lanes whose branch is taken; null: all
  Observer *observer = nullptr;
  std::vector<ProbeStatistics> *probes = nullptr; ///< null: nothing is recorded
  const RunState *run = nullptr;
  Operation *failedAt = nullptr; ///< the op that could not be evaluated; nothing runs after it
  std::string failure;           ///< why

  double *reals(Slot slot) {
    return (slot.varying ? varyingWords.data() : uniformWords.data()) + slot.offset;
  }
  int64_t *integers(Slot slot) { return reinterpret_cast<int64_t *>(reals(slot)); }
  template <typename T>
  T *&object(Slot slot) {
    return *reinterpret_cast<T **>(uniformWords.data() + slot.offset);
  }
  int64_t lanesOf(Slot slot) const { return slot.varying ? lanes : 1; }
  bool failed() const { return failedAt; }
  void fail(Operation *op, std::string why) {
    failedAt = op;
    failure = std::move(why);
  }
};

} // namespace mlir::nb

#endif
