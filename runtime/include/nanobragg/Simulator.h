// Images and their derivatives.
//
// Everything is computed through this class: by nb-sim, nb-gradcheck and nb-bench, and by programs
// that simulate or fit:
//
//   auto simulator = Simulator::fromFlags({"-hkl", "P1.hkl", "-cell", "100", ...});
//   simulator.set("cell_a", 101e-10);                        // SI units; nothing is compiled again
//   std::span<const double> image = simulator.value();
//   LossGradient g = simulator.gradient("cell,misset", Loss::chiSquare(data, {sigma}));
//
// Numbers and derivatives are in SI units (m, rad, 1/m, photons/m^2, electrons), images are f64
// photons per pixel, times the gain where there is one, [panel][slow][fast]. Parameters and groups
// of them have the names that nb-sim --list-parameters prints. Each kind of derivative needs its
// own program, which is made at its first use and shared by all simulators of the process.
// Gradients are bitwise the same for any number of threads. SimulatorOptions selects kernel or
// interpreter, GPU or processor, and the replacement if one cannot be used.
//
// The Python module (runtime/python) is a thin layer over this class, as the C interface is over
// its parts (runtime/capi).
//
// A program that needs only some pixels (a refinement) lists them in SimulatorOptions::pixels:
// image, derivatives and losses are then of those pixels alone.
//
// Several shots are a loop over set() and render(). The detector's response to the photons (point
// spread, noise) is part of the program, a stage after its image
// (docs/rationale/detector-response.md).
//
//
// Errors are exceptions: std::invalid_argument for names and sizes,
// std::runtime_error when a program cannot be made or run.
#ifndef NANOBRAGG_SIMULATOR_H
#define NANOBRAGG_SIMULATOR_H

#include "nanobragg/DeadGradient.h"
#include "nanobragg/Engine.h"
#include "nanobragg/KernelABI.h"
#include "nanobragg/Loss.h"
#include "nanobragg/Reflections.h"
#include "nanobragg/Run.h"
#include "nanobragg/SimulatorOptions.h"

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace nanobragg {

struct Experiment;
struct ListedPixels;

/// The derivative of one number with respect to all numbers of a parameter.
struct Gradient {
  std::string parameter;
  std::string unit; ///< the parameter's: the gradient is per this unit
  std::vector<double> values;
};

struct LossGradient {
  double loss = 0;
  std::vector<Gradient> gradient;
  Loss::Slopes ofLoss; ///< for its background and read-out noise, if it has them
};

/// The derivative of every pixel with respect to one number.
struct DerivativeImage {
  std::string parameter;
  std::string unit;
  std::vector<double> pixels;
};

/// A change of some parameters: all numbers of each.
struct Direction {
  std::string parameter;
  std::vector<double> values;
};

/// Seconds spent in the programs themselves, since the simulator was made.
struct SimulatorTiming {
  double value = 0, derivative = 0;
  std::int64_t values = 0, derivatives = 0; ///< runs
  // The following describe a GPU.
  std::string device;                           ///< its name; empty: the processor
  std::int64_t launches = 0, uploadedBytes = 0; ///< over all runs
  std::int64_t deviceBytes = 0;                 ///< the most of its memory that a program held
};

/// One experiment whose numbers may change. It may be used by one thread at a time.
class NB_CPP_API Simulator {
public:
  /// Keeps a copy of the experiment.
  explicit Simulator(const Experiment &experiment, const SimulatorOptions &options = {});
  /// The experiment that nb-sim would simulate with these flags (without the program's name). The
  /// flags also set those `options` that have their default values.
  static Simulator fromFlags(const std::vector<std::string> &flags,
                             const SimulatorOptions &options = {});
  /// A simulator of an experiment whose pixels are listed already: `experiment`, `listed` and
  /// `options` are those of another simulator. Throws std::invalid_argument if they do not belong
  /// together.
  static Simulator ofListed(const Experiment &experiment, const ListedPixels &listed,
                            const SimulatorOptions &options);
  Simulator(Simulator &&) noexcept;
  Simulator &operator=(Simulator &&) noexcept;
  ~Simulator();
  /// Another simulator with the same numbers and options and its own grid. Programs are shared
  /// within the process.
  Simulator copy() const;
  /// Settings of those runs that take no RunOptions: value(), loss() and all derivatives. A
  /// cancelled run throws Cancelled. `run` is copied; what it points to must outlive the runs.
  void setRunOptions(const RunOptions &run);

  /// The engine that has been chosen; prepare() makes the choice final.
  Engine engine() const;
  /// Why the interpreter runs: the reason for which no kernel could be compiled.
  const std::optional<std::string> &fallbackReason() const;
  /// Why the processor is used although there is a GPU, if the device was chosen automatically.
  const std::optional<std::string> &deviceFallbackReason() const;
  const Experiment &experiment() const;
  /// Where the pixels of SimulatorOptions::pixels are in the image of experiment(); empty without
  /// them.
  const ListedPixels &listed() const;
  const SimulatorTiming &timing() const;
  /// How averages in closed form are computed (as a sum of spots, or for each pixel), and why.
  /// Empty if there are none, or before the first image if that decides.
  std::string averages() const;
  /// The processor or chip that the image's code was generated for, or "interpreter". Makes the
  /// program if there is none.
  std::string target(PixelType pixels = PixelType::F64);
  /// Panels, slow pixels, fast pixels.
  std::array<std::int64_t, 3> shape() const;
  std::size_t pixels() const;
  /// Number of samples of an image; with point spread, of all pixels whose light reaches it.
  double samples() const;
  /// 0 for pixels outside the region of interest or masked, 1 for all others.
  std::span<const std::uint8_t> rendered() const;

  /// The numbers of a parameter: one, or those of a vector, matrix, table or grid, whose count
  /// cannot change. Throws std::invalid_argument for an unknown name, another count, and a number
  /// that is not finite or out of the range of its quantity.
  std::vector<double> get(std::string_view parameter) const;
  void set(std::string_view parameter, double value);
  void set(std::string_view parameter, std::span<const double> values);
  /// The same without checking the values, for finite differences at the end of a range.
  void setBeyondRange(std::string_view parameter, std::span<const double> values);

  /// Structure factors in electrons on a box of Miller indices, which are copied. They replace
  /// those of the experiment, which may have another box or none; default_F still applies outside
  /// the box.
  void setStructureFactors(const nb_hkl_grid &grid);

  /// Parameters whose derivatives are all zero, with the reason, if that is known without a
  /// computation.
  std::vector<DeadGradient> deadGradients(std::string_view parameters) const;

  /// Makes the program of the image now rather than when it is first rendered: errors are thrown
  /// here, and engine() and the reasons of fallbacks become final. Derivatives have
  /// programs of their own.
  void prepare(PixelType pixels = PixelType::F64);

  /// Photons per pixel into `image`, which the caller owns and which has pixels() elements. Floats
  /// are rendered as such, without doubles in between. With instruments the interpreter makes the
  /// same image, and RunResult::report contains what they found.
  RunResult render(std::span<float> image, const RunOptions &run = {},
                   const Instruments &look = {});
  RunResult render(std::span<double> image, const RunOptions &run = {},
                   const Instruments &look = {});
  /// The complete image, in the memory of the one GPU that renders it; nothing is copied to the
  /// host. Empty, and nothing is rendered, if the image would end on the host: on the processor,
  /// for a list of pixels, and if the host completes the image (point spread).
  std::optional<DeviceMemory> imageOnDevice(PixelType pixels, const RunOptions &run = {});
  /// How the interpreter computes one pixel, as lines `TRACE key value`.
  std::string trace(const PixelIndex &pixel, PixelType pixels = PixelType::F64);
  /// The program of the image as text: "nb" (as the frontend wrote it), "mlir" (after the passes on
  /// it), "llvm", "asm", or of a GPU "ptx".
  std::string emit(const std::string &stage, PixelType pixels = PixelType::F64);
  /// Renders with both engines in f64 and reports how much the images differ. If that exceeds the
  /// tolerance, it also finds the pass and the value that differ first.
  EngineComparison compareEngines(const ComparisonOptions &options = {});

  /// With point spread, the photons that the last image was made of, before they spread and without
  /// gains; empty otherwise. Valid until the next run.
  std::span<const double> photons() const;
  /// The image, valid until the next call of value().
  std::span<const double> value();
  double loss(const Loss &loss);

  /// Reverse mode: from the derivative of a loss with respect to each pixel to that with respect to
  /// `parameters`, comma-separated names and groups. The order is that of the table of parameters.
  std::vector<Gradient> gradient(std::string_view parameters, std::span<const double> cotangent);
  /// The same for a cotangent of doubles in the memory of the GPU that runs the program. Throws
  /// std::invalid_argument if it is elsewhere, or if imageOnDevice() returns nothing.
  std::vector<Gradient> gradient(std::string_view parameters, const DeviceMemory &cotangent);
  LossGradient gradient(std::string_view parameters, const Loss &loss);

  /// Forward mode: an image for each parameter, in the same order. Each must be a single number.
  std::vector<DerivativeImage> jacobian(std::string_view parameters);
  /// The derivative of the image along a direction. Parameters that the direction does not name
  /// are constant. One program serves all directions in `parameters`.
  std::vector<double> jvp(std::string_view parameters, std::span<const Direction> direction);
  /// The same along several directions at once, an image for each. Every number of directions needs
  /// its own program.
  std::vector<std::vector<double>> jvps(std::string_view parameters,
                                        std::span<const std::vector<Direction>> directions);
  /// Into images of the caller, for as many directions as there are images.
  void jvps(std::string_view parameters, std::span<const std::vector<Direction>> directions,
            std::span<const std::span<double>> images);

  /// Second order, forward over reverse: how the gradient of sum(cotangent * image) changes along
  /// the direction.
  std::vector<Gradient> hvp(std::string_view parameters, std::span<const Direction> direction,
                            std::span<const double> cotangent);
  /// The same of a loss, with its own second derivative: its Hessian times the direction.
  std::vector<Gradient> hvp(std::string_view parameters, std::span<const Direction> direction,
                            const Loss &loss);

  /// The reflections of the image in closed form: docs/reflections.md. Throws std::invalid_argument
  /// if the averages have no closed form.
  ReflectionTable reflections(const ReflectionLimits &limits = {});
  /// How the columns of the last table change along directions, as jvps(). Throws std::logic_error
  /// before the first table.
  std::vector<ReflectionNumbers> reflectionJvps(std::string_view parameters,
                                                std::span<const std::vector<Direction>> directions);
  /// From the derivatives of a loss with respect to the columns of the last table to those with
  /// respect to the parameters. A column is empty (zero) or contains a number for each row.
  std::vector<Gradient> reflectionGradient(std::string_view parameters,
                                           const ReflectionNumbers &cotangents);

private:
  struct State;
  explicit Simulator(std::unique_ptr<State> state);
  std::unique_ptr<State> state;
};

} // namespace nanobragg
#endif
