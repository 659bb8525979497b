// Where the images of a simulator come from.
//
// A source is a program (ProgramSource), the response of a detector to the photons of another
// source (ResponseSource), or a sum of programs whose weights each pixel has of its own
// (QuadratureSource). Sources are composed: the photons of a response may be such a sum, and any of
// them may be of a list of pixels.
#ifndef NANOBRAGG_SIMULATOR_IMAGESOURCE_H
#define NANOBRAGG_SIMULATOR_IMAGESOURCE_H

#include "nanobragg/Simulator.h"

#include "lib/Experiment/Experiment.h"
#include "lib/Experiment/PixelList.h"
#include "lib/Program/Derivative.h"
#include "lib/Program/Parameters.h"

#include <variant>

namespace nanobragg {

class BoundProgram;
class ProgramSource;

/// Methods as those of Simulator with the same names. Images and cotangents have pixels() numbers;
/// parameters have their own names, in the order of the table. Whatever is cancelled and has no
/// RunResult to say so throws Cancelled.
class ImageSource {
public:
  using Pixels = std::vector<double>;
  using Names = std::vector<std::string>;
  using Directions = std::span<const std::vector<Direction>>;
  using Images = std::span<const std::span<double>>;
  using CallersImage = std::variant<std::span<float>, std::span<double>>;
  /// On the host, or on the GPU that runs the program.
  using Cotangent = std::variant<std::span<const double>, DeviceMemory>;

  ImageSource() = default;
  ImageSource(const ImageSource &) = delete;
  ImageSource &operator=(const ImageSource &) = delete;
  virtual ~ImageSource() = default;

  /// The program of the experiment with all its stages, as text and for the interpreter; the
  /// experiment, its list and options are there.
  virtual const ProgramSource &whole() const = 0;
  /// The source whose program decides the engine, and whose time is told.
  virtual const ProgramSource &deciding() const { return whole(); }
  /// How averages in closed form are taken, and why; empty: there are none, or not yet.
  virtual std::string averages() const { return {}; }
  /// That source's program of an image that this one is asked for.
  virtual BoundProgram &program(ImageType pixels) = 0;
  virtual double samples() const = 0;

  /// As many numbers as the parameter has.
  virtual void set(const Parameter &parameter, std::span<const double> values) = 0;
  virtual void setStructureFactors(const std::shared_ptr<const HklGrid> &grid) = 0;

  /// With instruments the interpreter makes the image.
  virtual RunResult render(CallersImage image, const RunOptions &run, const Instruments &look) = 0;
  virtual std::span<const double> value(const RunOptions &run);
  virtual std::optional<DeviceMemory> imageOnDevice(ImageType, const RunOptions &) { return {}; }
  virtual std::span<const double> photons() { return {}; }
  virtual std::string trace(const PixelIndex &pixel, ImageType pixels) const;
  virtual EngineComparison compareEngines(const ComparisonOptions &options);

  /// A gradient or, along the direction, its change: `derivative` is of mode VJP or HVP.
  virtual std::vector<Gradient> reverse(const Derivative &derivative, const Cotangent &cotangent,
                                        std::span<const Direction> direction,
                                        const RunOptions &run) = 0;
  /// Derivative images: of mode Jacobian, one for each parameter and no directions; of mode JVP, of
  /// the first of the directions as many as there are images.
  virtual void forward(const Derivative &derivative, Directions directions, Images images,
                       const RunOptions &run) = 0;

  std::size_t pixels() const;

private:
  Pixels lastValue;
};

/// The source of an experiment, for its pixels in `listed` if that has any.
std::unique_ptr<ImageSource> makeSource(const Experiment &experiment, const ListedPixels &listed,
                                        const SimulatorOptions &options);
/// The same for those of options.pixels.
std::unique_ptr<ImageSource> makeSource(Experiment experiment, const SimulatorOptions &options);

/// The parameters that a program of this variant takes, in their order.
ImageSource::Names namesUsedBy(const ProgramVariant &variant, const ImageSource::Names &parameters);
/// The changes of these parameters.
std::vector<Direction> partOf(std::span<const Direction> direction,
                              const ImageSource::Names &parameters);
/// One for each parameter, 0.
std::vector<Gradient> zeroGradients(const Experiment &experiment,
                                    const ImageSource::Names &parameters);

/// Throws std::invalid_argument where the cotangent is on a GPU.
std::span<const double> onHost(const ImageSource::Cotangent &cotangent);
/// With as many threads as the options have where the run itself does not say.
RunOptions withThreads(RunOptions run, const SimulatorOptions &options);
/// For the parts of a run, of which each would tell its own progress.
RunOptions withoutProgress(RunOptions run);
std::vector<std::span<double>> spansOf(std::vector<std::vector<double>> &images);

} // namespace nanobragg
#endif
