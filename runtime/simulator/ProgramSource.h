// Images and derivatives by the programs of an experiment.
#ifndef NANOBRAGG_SIMULATOR_PROGRAMSOURCE_H
#define NANOBRAGG_SIMULATOR_PROGRAMSOURCE_H

#include "runtime/simulator/BoundProgram.h"
#include "runtime/simulator/ImageSource.h"
#include "runtime/simulator/Placement.h"

#include <map>

namespace nanobragg {

class ProgramSource final : public ImageSource {
public:
  ProgramSource(const Experiment &experiment, const ListedPixels &listed,
                const SimulatorOptions &options);

  const ProgramSource &whole() const override { return *this; }
  BoundProgram &program(ImageType pixels) override { return program(pixels, {}); }
  double samples() const override { return samplesOf(experiment); }
  std::string averages() const override {
    return experiment.variant.averaging == Averaging::Closed ? "of each pixel: " + noSpots
                                                             : std::string();
  }
  void set(const Parameter &parameter, std::span<const double> values) override;
  void setStructureFactors(const std::shared_ptr<const HklGrid> &grid) override;
  /// Lists of the experiment have other lengths now.
  void unbind() { programs.clear(); }
  RunResult render(CallersImage image, const RunOptions &run, const Instruments &look) override;
  std::span<const double> value(const RunOptions &run) override;
  std::optional<DeviceMemory> imageOnDevice(ImageType pixels, const RunOptions &run) override;
  std::string trace(const PixelIndex &pixel, ImageType pixels) const override;
  std::vector<Gradient> reverse(const Derivative &derivative, const Cotangent &cotangent,
                                std::span<const Direction> direction,
                                const RunOptions &run) override;
  void forward(const Derivative &derivative, Directions directions, Images images,
               const RunOptions &run) override;

  /// For the interpreter, whatever the engine; not kept.
  BoundProgram interpreted(ImageType pixels, const Instruments &look = {}) const;
  std::string emit(const std::string &stage, ImageType pixels) const;
  EngineComparison compare(const ComparisonOptions &options) const;

  struct Tolerance {
    double relative, ofMaximum;
  };
  /// The tolerances of docs/precision.md, and for the roundings of sums in f64.
  Tolerance toleranceOf(const ComparisonOptions &options) const;

  Experiment experiment; ///< for the pixels in the list, if there is one
  const ListedPixels listed;
  const SimulatorOptions options;
  Placement placement;
  SimulatorTiming timing;
  std::string noSpots; ///< why they are not the sum of spots

private:
  /// The request to the compiler. Derivatives are of f64 images.
  KernelRequest request(ImageType pixels, const Derivative &derivative = {},
                        Runner runner = Runner::Processor) const;
  /// The program of the image or of a derivative, made when it is first asked for.
  BoundProgram &program(ImageType pixels, const Derivative &derivative);

  /// Runs it, counts the time; `image` are pixels of the program's image, or none.
  template <typename... Image>
  RunResult runValue(BoundProgram &program, const RunOptions &run, Image... image);
  template <typename T>
  RunResult render(BoundProgram &program, const RunOptions &run, std::span<T> image);
  void runDerivative(BoundProgram &program, const RunOptions &run);
  RunResult counted(RunResult run);
  /// Numbers of the caller's pixels as a program gets them, valid until the next call.
  std::span<const double> fromCaller(std::span<const double> pixels);

  std::map<std::string, BoundProgram> programs; ///< bound to the grid
  Pixels scattered;                             ///< the result of fromCaller
};

} // namespace nanobragg
#endif
