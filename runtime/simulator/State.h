// What a simulator keeps.
#ifndef NANOBRAGG_SIMULATOR_STATE_H
#define NANOBRAGG_SIMULATOR_STATE_H

#include "nanobragg/Simulator.h"

#include "lib/Experiment/Derivative.h"
#include "lib/Experiment/Parameters.h"
#include "lib/Experiment/PixelList.h"
#include "runtime/processor/Stopwatch.h"
#include "runtime/simulator/BoundProgram.h"
#include "runtime/simulator/Invariants.h"
#include "runtime/simulator/Placement.h"
#include "runtime/simulator/Quadrature.h"
#include "runtime/simulator/ResponseChain.h"

#include <map>
#include <memory>

namespace nanobragg {

/// It computes derivatives itself where one program makes the image.
struct Simulator::State : DerivativeSource {
  State(const Experiment &experiment, const SimulatorOptions &options);
  /// For an experiment that has this list.
  State(const Experiment &experiment, const ListedPixels &listed, const SimulatorOptions &options);
  /// The same numbers, list of pixels and options; no programs.
  State(const State &other);

  /// What the compiler is asked for. Derivatives are of f64 images.
  KernelRequest request(ImageType pixels, const Derivative &derivative = {}) const;
  /// The program of the image or of a derivative, made when it is first asked for.
  BoundProgram &program(ImageType pixels, const Derivative &derivative = {});

  /// For the interpreter, whatever the engine; not kept.
  BoundProgram interpreted(ImageType pixels, const Instruments &look = {}) const {
    return BoundProgram(placement.interpret(request(pixels), look), experiment);
  }

  /// Runs it, counts the time; `image` are pixels of the caller, or none.
  template <typename... Image>
  RunResult runValue(BoundProgram &program, const RunOptions &run, Image... image) {
    ++timing.values;
    const TimeAdded watch(timing.value);
    RunResult result = counted(program.run(image..., withThreads(run)));
    if (!result.cancelled && checksImages())
      checkImages(program, std::span<const typename Image::value_type>(image)...);
    return result;
  }
  RunResult counted(RunResult run);
  RunOptions withThreads(RunOptions run) const;
  /// Into pixels of the caller, listed ones if there is a list.
  template <typename T>
  RunResult render(BoundProgram &program, const RunOptions &run, std::span<T> image) {
    if (!listed.any())
      return runValue(program, run, image);
    listed.requireSize(image.size());
    std::vector<T> all(listed.imagePixels);
    RunResult result = runValue(program, run, std::span<T>(all));
    listed.gather(std::span<const T>(all), image);
    return result;
  }
  /// `images`: the program's images are looked at afterwards.
  void runDerivative(BoundProgram &program, bool images = true) {
    runDerivative(program, everyRun, images);
  }
  void runDerivative(BoundProgram &program, const RunOptions &how, bool images);

  /// Is the image that the program makes what the caller gets?
  bool isOfProgram() const { return !chain && !quadrature && !listed.any(); }
  /// Pixels that the caller sees.
  std::size_t pixels() const {
    return listed.any() ? listed.places.size() : std::size_t(experiment.pixelCount());
  }
  /// An image of a program as the caller gets it.
  std::vector<double> toCaller(std::span<const double> image) const;
  void toCaller(std::span<const double> image, std::span<double> pixels) const;
  /// Numbers of the caller's pixels as a program gets them, valid until the next call.
  std::span<const double> fromCaller(std::span<const double> pixels);

  /// The parameters of names and groups with commas between.
  Names namesOf(std::string_view parameters) const;
  /// Throws std::invalid_argument when the experiment has none of this name.
  const Parameter &parameter(std::string_view name) const;
  /// Looked for when it is first asked for: images need it not.
  std::span<const std::uint8_t> renderedPixels();

  /// The state that decides what runs the programs.
  const State &deciding() const {
    return chain        ? *chain->photonSimulator().state
           : quadrature ? *quadrature->first().state
                        : *this;
  }
  /// What computes derivatives. The interpreter runs the program of all stages, where its image is
  /// the same.
  DerivativeSource &derivatives() {
    const bool inProgram =
        options.engine == Engine::Interpreter && ResponseChain::isInProgram(experiment);
    return chain && !inProgram ? static_cast<DerivativeSource &>(*chain)
           : quadrature        ? static_cast<DerivativeSource &>(*quadrature)
                               : *this;
  }

  std::vector<Gradient> gradient(const Names &parameters,
                                 std::span<const double> cotangent) override;
  std::vector<DerivativeImage> jacobian(const Names &parameters) override;
  void jvps(const Names &parameters, Directions directions, Images images) override;
  std::vector<Gradient> hvp(const Names &parameters, std::span<const Direction> direction,
                            std::span<const double> cotangent) override;

  Experiment experiment; ///< for the pixels in the list, if there is one
  ListedPixels listed;
  SimulatorOptions options;
  RunOptions everyRun; ///< that is given none of its own
  Placement placement;
  /// What runs a program with a stage that needs neighbours; null where there is none.
  const std::unique_ptr<ResponseChain> chain;
  /// What decides how many draws each pixel has; null where the program does.
  const std::unique_ptr<Quadrature> quadrature;
  bool gridIsOwn = false;                       ///< or does somebody else have it too?
  std::map<std::string, BoundProgram> programs; ///< bound to the grid
  SimulatorTiming timing;
  std::vector<double> listedValue; ///< the last value() of a list
  /// Kept from one gradient of a loss to the next.
  std::vector<double> lossCotangent;
  Loss::Memory lossMemory;

private:
  template <typename T>
  void checkImages(const BoundProgram &program, std::span<const T> image) const {
    const auto precision = precisionFromString(program.descriptor().precision);
    checkImage(experiment, precision.value_or(Precision::F64), image);
  }
  void checkImages(const BoundProgram &program) const {
    checkImages(program, program.output("image"));
  }

  std::vector<std::uint8_t> rendered;
  std::vector<double> scattered; ///< what fromCaller gave
};

} // namespace nanobragg
#endif
