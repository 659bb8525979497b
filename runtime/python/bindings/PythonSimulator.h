// A simulator that Python holds.
#ifndef NANOBRAGG_PYTHON_PYTHONSIMULATOR_H
#define NANOBRAGG_PYTHON_PYTHONSIMULATOR_H

#include "lib/Experiment/Experiment.h"
#include "lib/Parallel/ProcessMutex.h"
#include "lib/Program/Parameters.h"
#include "nanobragg/Simulator.h"
#include "runtime/python/bindings/Arrays.h"
#include "runtime/python/bindings/Interrupt.h"
#include "runtime/python/bindings/ParameterTable.h"

#include <atomic>
#include <mutex>
#include <stdexcept>
#include <thread>

namespace nanobragg::python {

/// Throws std::invalid_argument for what is none.
inline Precision precisionOf(const std::string &text) {
  if (const auto precision = precisionFromString(text))
    return *precision;
  throw std::invalid_argument("precision='" + text + "' is not a precision; use f64, mixed or f32");
}

/// May be used by several threads, which wait for each other: all work is done without the GIL and
/// with the lock held.
class PythonSimulator {
public:
  PythonSimulator(const Experiment &experiment, const SimulatorOptions &options)
      : simulator(experiment, options), options(options) {}
  PythonSimulator(Simulator &&simulator, const SimulatorOptions &options)
      : simulator(std::move(simulator)), options(options) {}

  /// Does `work(simulator)`, which runs nothing.
  template <typename Work>
  auto use(Work work) const {
    nb::gil_scoped_release released;
    const std::unique_lock lock = acquire();
    return work(simulator);
  }

  /// Does `work(simulator, run options)`, which runs programs, again when somebody's Ctrl-C stopped
  /// it and Python's handler thinks nothing of it. `progress` is called with the finished fraction.
  template <typename Work>
  auto run(Work work, const nb::object &progress = nb::none()) {
    for (;;) {
      CancellationToken token;
      try {
        nb::gil_scoped_release released;
        const std::unique_lock lock = acquire();
        RunOptions how;
        how.cancel = &token;
        if (!progress.is_none())
          how.progress = [&](double fraction) {
            nb::gil_scoped_acquire acquired;
            const Telling telling(teller);
            progress(fraction);
          };
        const InterruptStops watch(token);
        simulator.setRunOptions(how);
        const Reset reset{simulator};
        return work(simulator, how);
      } catch (const Cancelled &) {
        if (PyErr_CheckSignals() != 0)
          throw nb::python_error();
      }
    }
  }

  /// (slow, fast) or (panel, slow, fast); (pixels) of a list of pixels.
  Shape imageShape() const {
    if (!options.pixels.empty())
      return {options.pixels.size()};
    return python::imageShape(simulator.experiment());
  }

  mutable Simulator simulator;
  SimulatorOptions options;
  mutable ProcessMutex mutex;
  /// Counts changes.
  std::int64_t version = 0;

private:
  /// Who would wait for himself is told so.
  std::unique_lock<ProcessMutex> acquire() const {
    if (teller.load() == std::this_thread::get_id())
      throw std::runtime_error("a simulator cannot be used in the progress function of its own "
                               "run; use a copy that was made before");
    return std::unique_lock(mutex);
  }

  /// While a progress function runs in this thread.
  struct Telling {
    explicit Telling(std::atomic<std::thread::id> &teller) : teller(teller) {
      teller = std::this_thread::get_id();
    }
    ~Telling() { teller = std::thread::id(); }
    std::atomic<std::thread::id> &teller;
  };
  mutable std::atomic<std::thread::id> teller{};

  /// The options of a run point to what lives no longer than it.
  struct Reset {
    Simulator &simulator;
    ~Reset() { simulator.setRunOptions({}); }
  };
};

/// Rows (panel, slow, fast).
inline std::vector<PixelIndex> pixelsOf(const Indices &rows) {
  std::vector<PixelIndex> pixels;
  for (std::size_t i = 0; i + 2 < rows.size(); i += 3)
    pixels.push_back({rows.data()[i], rows.data()[i + 1], rows.data()[i + 2]});
  return pixels;
}

/// Sets numbers of a parameter of that name and checks them; the caller holds the lock.
void setChecked(Simulator &simulator, const Parameter &parameter, std::span<const double> values);

/// Throws unless those of the three angles of a cell that were set together agree.
void checkCell(const Simulator &simulator);

/// Each file of the bindings adds its part.
void bindExperiment(nb::module_ &module);
void bindSimulator(nb::module_ &module);
void bindFunction(nb::module_ &module);
void bindLoss(nb::module_ &module);
void bindBackground(nb::module_ &module);
void bindProfiles(nb::module_ &module);
void bindStream(nb::module_ &module);
void bindReflections(nb::module_ &module);
void bindResponse(nb::module_ &module);
void bindCompiler(nb::module_ &module);
void bindTraceFile(nb::module_ &module);
void bindJax(nb::module_ &module); ///< where XLA's headers were there

} // namespace nanobragg::python
#endif
