#include "runtime/simulator/ProgramSource.h"

#include "lib/Noise/Photons.h"
#include "lib/Program/ParameterElements.h"
#include "nanobragg/DerivativeNames.h"
#include "runtime/processor/Stopwatch.h"
#include "runtime/simulator/Invariants.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

namespace nanobragg {
namespace {

using Mode = Derivative::Mode;

template <typename T>
void check(const Experiment &experiment, const BoundProgram &program, std::span<const T> image) {
  const auto precision = precisionFromString(program.descriptor().precision);
  checkImage(experiment, precision.value_or(Precision::F64), image);
}

bool hasImage(const Derivative &derivative) {
  return std::ranges::any_of(derivative.parameters, [](const std::string &name) {
    return findParameter(name)->kind() == NB_PARAMETER_IMAGE;
  });
}

/// While it lives, the region of interest is the smallest one with all pixels whose cotangent is
/// not 0: derivatives of a few pixels cost what these cost.
class RegionOfCotangent {
public:
  RegionOfCotangent(Detector &detector, std::span<const double> cotangent)
      : region{&detector.roiSlowMin, &detector.roiSlowMax, &detector.roiFastMin,
               &detector.roiFastMax},
        before{*region[0], *region[1], *region[2], *region[3]} {
    const std::size_t width = std::size_t(detector.fastPixels);
    const std::size_t height = std::size_t(detector.slowPixels);
    std::size_t top = height, bottom = 0, left = width, right = 0;
    for (std::size_t row = 0; row * width < cotangent.size(); ++row) {
      const auto pixels = cotangent.subspan(row * width, width);
      const auto lit = [](double value) { return value != 0; };
      const auto first = std::size_t(std::ranges::find_if(pixels, lit) - pixels.begin());
      if (first == width)
        continue;
      const auto behind = std::ranges::find_if(pixels.rbegin(), pixels.rend(), lit);
      top = std::min(top, row % height);
      bottom = std::max(bottom, row % height);
      left = std::min(left, first);
      right = std::max(right, width - 1 - std::size_t(behind - pixels.rbegin()));
    }
    clip(0, top, bottom);
    clip(2, left, right);
  }
  ~RegionOfCotangent() {
    for (std::size_t i = 0; i != region.size(); ++i)
      *region[i] = before[i];
  }
  RegionOfCotangent(const RegionOfCotangent &) = delete;
  RegionOfCotangent &operator=(const RegionOfCotangent &) = delete;

private:
  void clip(std::size_t i, std::size_t first, std::size_t last) {
    *region[i] = std::max(before[i], std::int64_t(first));
    *region[i + 1] = std::min(before[i + 1], std::int64_t(last));
    if (*region[i] > *region[i + 1]) // none: one pixel
      *region[i] = *region[i + 1] = before[i];
  }

  std::array<std::int64_t *, 4> region;
  std::array<std::int64_t, 4> before;
};

} // namespace

ProgramSource::ProgramSource(const Experiment &experiment, const ListedPixels &listed,
                             const SimulatorOptions &options)
    : experiment(experiment), listed(listed), options(options),
      placement(options, options.once ? samplesOf(experiment) : 0) {}

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

void ProgramSource::set(const Parameter &parameter, std::span<const double> values) {
  if (parameter.kind() == NB_PARAMETER_HKL_GRID && ownGrid(experiment))
    programs.clear(); // they are bound to the grid that others have too
  for (std::size_t i = 0; i != values.size(); ++i)
    element(experiment, parameter, i) = values[i];
}

void ProgramSource::setStructureFactors(const std::shared_ptr<const HklGrid> &grid) {
  programs.clear(); // they are bound to the grid that was
  experiment.crystal.grid = grid;
  // As nb-sim chooses where no flag says it.
  StructureFactors &interpolation = experiment.variant.structureFactors;
  if (interpolation == StructureFactors::Constant)
    interpolation =
        experiment.crystal.isThin() ? StructureFactors::Tricubic : StructureFactors::Nearest;
}

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

KernelRequest ProgramSource::request(ImageType pixels, const Derivative &derivative,
                                     Runner runner) const {
  return decide(experiment, options, derivative, pixels, runner).request;
}

BoundProgram &ProgramSource::program(ImageType pixels, const Derivative &derivative) {
  // The numbers of cells may have changed since, and with them the precision, what is left out and
  // what is compiled in.
  const KernelRequest wanted = request(pixels, derivative);
  std::string key = derivative.toString() + (pixels == ImageType::F32 ? " f32 " : " f64 ") +
                    toString(wanted.precision) + " " + wanted.cull.toString();
  for (const FixedCount &count : wanted.fixed)
    key += " " + count.toString();
  if (const auto found = programs.find(key); found != programs.end())
    return found->second;
  Program placed =
      placement.place([&](Runner runner) { return request(pixels, derivative, runner); });
  return programs.try_emplace(key, std::move(placed), experiment).first->second;
}

BoundProgram ProgramSource::interpreted(ImageType pixels, const Instruments &look) const {
  return BoundProgram(placement.interpret(request(pixels), look), experiment);
}

std::string ProgramSource::trace(const PixelIndex &pixel, ImageType pixels) const {
  return interpreted(pixels).trace(pixel);
}

std::string ProgramSource::emit(const std::string &stage, ImageType pixels) const {
  requireWholeProgram(experiment);
  const KernelRequest shown =
      placement.shown([&](Runner runner) { return request(pixels, {}, runner); });
  return placement.provider().compiler(shown)->emit(shown, stage);
}

ProgramSource::Tolerance ProgramSource::toleranceOf(const ComparisonOptions &asked) const {
  const Precision precision = request(ImageType::F64).precision;
  const Tolerance usual = precision == Precision::F64     ? Tolerance{1e-9, 1e-12}
                          : precision == Precision::Mixed ? Tolerance{1e-5, 1e-7}
                                                          : Tolerance{1e-3, 1e-4};
  return {asked.relative.value_or(usual.relative), asked.ofMaximum.value_or(usual.ofMaximum)};
}

EngineComparison ProgramSource::compare(const ComparisonOptions &asked) const {
  const KernelRequest compared = request(ImageType::F64);
  const Tolerance tolerance = toleranceOf(asked);
  // Both engines take the program's arguments, whatever passes do.
  KernelRequest plain = compared;
  plain.passes = {};
  BoundProgram arguments(placement.interpret(std::move(plain)), experiment);
  nb_compare_options c = {};
  c.rtol = tolerance.relative;
  c.atol_of_max = tolerance.ofMaximum;
  c.every_stage = asked.everyStage;
  c.threads = options.threads;
  return placement.provider().compiler(compared)->compareEngines(compared, arguments.arguments(),
                                                                 c);
}

//===----------------------------------------------------------------------===//
// Images
//===----------------------------------------------------------------------===//

RunResult ProgramSource::counted(RunResult run) {
  if (!run.device.empty()) {
    timing.device = run.device;
    timing.launches += run.launches;
    timing.uploadedBytes += run.uploadedBytes;
    timing.deviceBytes = std::max(timing.deviceBytes, run.deviceBytes);
  }
  return run;
}

template <typename... Image>
RunResult ProgramSource::runValue(BoundProgram &program, const RunOptions &run, Image... image) {
  ++timing.values;
  const TimeAdded watch(timing.value);
  RunResult result = counted(program.run(image..., withThreads(run, options)));
  if (!result.cancelled && checksImages()) {
    if constexpr (sizeof...(Image) == 0)
      check(experiment, program, program.output("image"));
    else
      check(experiment, program, std::span<const typename Image::value_type>(image)...);
  }
  return result;
}

template <typename T>
RunResult ProgramSource::render(BoundProgram &program, const RunOptions &run, std::span<T> image) {
  if (!listed.any())
    return runValue(program, run, image);
  std::vector<T> all(listed.imagePixels);
  RunResult result = runValue(program, run, std::span<T>(all));
  listed.gather(std::span<const T>(all), image);
  return result;
}

RunResult ProgramSource::render(CallersImage image, const RunOptions &run,
                                const Instruments &look) {
  const auto type =
      std::holds_alternative<std::span<float>>(image) ? ImageType::F32 : ImageType::F64;
  return std::visit(
      [&](auto pixels) {
        if (!look.any())
          return render(program(type), run, pixels);
        BoundProgram seen = interpreted(type, look);
        return render(seen, run, pixels);
      },
      image);
}

std::span<const double> ProgramSource::value(const RunOptions &run) {
  if (listed.any())
    return ImageSource::value(run);
  BoundProgram &program = this->program(ImageType::F64);
  if (runValue(program, run).cancelled)
    throw Cancelled();
  return program.output("image");
}

std::optional<DeviceMemory> ProgramSource::imageOnDevice(ImageType pixels, const RunOptions &run) {
  if (listed.any())
    return std::nullopt;
  BoundProgram &program = this->program(pixels);
  if (!program.isOnGpu())
    return std::nullopt;
  ++timing.values;
  const TimeAdded watch(timing.value);
  RunResult result = counted(program.runAndKeep(withThreads(run, options)));
  if (result.cancelled)
    throw Cancelled();
  return std::move(result.image);
}

//===----------------------------------------------------------------------===//
// Derivatives
//===----------------------------------------------------------------------===//

void ProgramSource::runDerivative(BoundProgram &program, const RunOptions &run) {
  ++timing.derivatives;
  const TimeAdded watch(timing.derivative);
  if (counted(program.run(withThreads(run, options))).cancelled)
    throw Cancelled();
}

std::span<const double> ProgramSource::fromCaller(std::span<const double> pixels) {
  if (!listed.any())
    return pixels;
  scattered = listed.scatter(pixels);
  return scattered;
}

std::vector<Gradient> ProgramSource::reverse(const Derivative &derivative,
                                             const Cotangent &cotangent,
                                             std::span<const Direction> direction,
                                             const RunOptions &run) {
  const auto *there = listed.any() ? nullptr : std::get_if<DeviceMemory>(&cotangent);
  const std::span<const double> here =
      there ? std::span(reinterpret_cast<const double *>(there->address), pixels())
            : fromCaller(onHost(cotangent));
  BoundProgram &program = this->program(ImageType::F64, derivative);
  const std::string name = cotangentName("image");
  program.bind(name, here); // on a GPU, an address that nothing on the host follows
  RunOptions how = run;
  if (there)
    how.onDevice[name] = *there;
  const bool changes = derivative.mode == Mode::HVP;
  how.images = changes || there || hasImage(derivative);
  std::vector<std::vector<double>> tangents; // until the program has run
  if (changes)
    tangents = bindDirection(program, experiment, derivative, direction);
  {
    std::optional<RegionOfCotangent> region;
    if (!there && !hasImage(derivative))
      region.emplace(experiment.detector, here);
    runDerivative(program, how);
  }
  std::vector<Gradient> gradients;
  for (const std::string &parameter : derivative.parameters) {
    const auto values = program.output(
        derivativeName(changes ? DerivativeKind::HVP : DerivativeKind::Gradient, parameter));
    gradients.push_back(
        {parameter, findParameter(parameter)->unit, {values.begin(), values.end()}});
  }
  return gradients;
}

void ProgramSource::forward(const Derivative &derivative, Directions directions, Images images,
                            const RunOptions &run) {
  BoundProgram &program = this->program(ImageType::F64, derivative);
  const auto number = [&](std::size_t k) { return numberOfDirection(k, directions.size()); };
  std::vector<std::vector<std::vector<double>>> tangents; // until the program has run
  for (std::size_t k = 0; k != directions.size(); ++k)
    tangents.push_back(bindDirection(program, experiment, derivative, directions[k], number(k)));
  runDerivative(program, run);
  for (std::size_t k = 0; k != images.size(); ++k) {
    const std::span<const double> image =
        program.output(derivative.mode == Mode::JVP
                           ? derivativeName(DerivativeKind::JVP, "image", number(k))
                           : derivativeName(DerivativeKind::Derivative, derivative.parameters[k]));
    if (listed.any())
      listed.gather(image, images[k]);
    else
      std::ranges::copy(image, images[k].begin());
  }
}

} // namespace nanobragg
