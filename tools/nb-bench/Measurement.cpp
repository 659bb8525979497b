#include "tools/nb-bench/Measurement.h"

#include "lib/IO/FloatImage.h"
#include "tools/nb-bench/InstructionCount.h"
#include "tools/shared/RunSetup.h"
#include "runtime/processor/Stopwatch.h"
#include "runtime/gpu/DevicePlacement.h"
#include "runtime/processor/KernelRunner.h"
#include "nanobragg/Simulator.h"

#include <algorithm>
#include <cmath>
#include <memory>

namespace nanobragg {
namespace {

double worstDifference(const std::vector<float> &image, const std::vector<float> &reference) {
  double worst = 0, brightest = 0;
  for (std::size_t i = 0; i != image.size(); ++i) {
    worst = std::max(worst, std::abs(double(image[i]) - double(reference[i])));
    brightest = std::max(brightest, double(reference[i]));
  }
  return brightest > 0 ? worst / brightest : worst;
}

/// One kernel and its times.
class Contestant {
public:
  Contestant(const Workload &workload, const BenchInputs &inputs, const std::string &precision,
             int threads, const Plan &plan, KernelProvider &kernels)
      : options{.threads = threads} {
    result.workload = workload;
    result.precision = precision;
    result.threads = threads;
    std::vector<std::string> words = workload.words(inputs);
    // The same physics as the reference, so that the images can be compared.
    words.insert(words.end(), {"-compat", "c", "--precision=" + precision, "--device=" + plan.device});
    const Stopwatch sinceStart;
    setup = std::make_unique<RunSetup>(parseCommandLine(words));
    result.setupSeconds = sinceStart.seconds();
    result.samples = setup->samples();

    const double before = kernels.counters().compileSeconds;
    KernelRequest request = setup->kernelRequest();
    findDevice(request);
    const KernelHandle kernel = kernels.get(request);
    result.compileSeconds = kernels.counters().compileSeconds - before;
    result.target = kernel->target;
    runner = std::make_unique<KernelRunner>(kernel, setup->complete.experiment, request.gpu);
    image.resize(std::size_t(runner->shape().pixels()));
    runner->run(image, options); // warms the threads and the pages of the image
    if (plan.gradients && precision == "f64")
      prepareGradient(plan.device, kernels);
  }

  void run() {
    const RunResult times = runner->run(image, options);
    prepare.push_back(times.prepareSeconds);
    tiles.push_back(times.runSeconds);
    if (!times.device.empty())
      launches.push_back(times.deviceSeconds);
    if (simulator)
      reverse.push_back(gradientSeconds());
  }

  Measurement take() {
    result.prepareSeconds = median(prepare);
    result.runSeconds = median(tiles);
    if (!launches.empty())
      result.deviceSeconds = median(launches);
    if (simulator)
      result.gradientSeconds = median(reverse);
    return result;
  }

  const std::vector<float> &pixels() const { return image; }

private:
  void prepareGradient(const std::string &device, KernelProvider &kernels) {
    SimulatorOptions how;
    how.engine = Engine::Fused;
    how.fallback = false;
    how.threads = options.threads;
    how.device = device;
    how.kernels = &kernels;
    simulator = std::make_unique<Simulator>(setup->complete.experiment, how);
    cotangent.assign(simulator->pixels(), 1.0);
    gradientSeconds();
  }

  double gradientSeconds() {
    const double before = simulator->timing().derivative;
    simulator->gradient(result.workload.gradientParameters(), cotangent);
    return simulator->timing().derivative - before;
  }

  RunOptions options;
  Measurement result;
  std::unique_ptr<RunSetup> setup;
  std::unique_ptr<KernelRunner> runner;
  std::vector<float> image;
  std::unique_ptr<Simulator> simulator;
  std::vector<double> cotangent;
  std::vector<double> prepare, tiles, launches, reverse;
};

} // namespace

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 ? values[half] : (values[half - 1] + values[half]) / 2;
}

std::vector<Measurement> measure(const Workload &workload, const BenchInputs &inputs, int threads,
                                 const Plan &plan, KernelProvider &kernels) {
  std::vector<std::unique_ptr<Contestant>> contestants;
  for (const std::string &precision : plan.precisions)
    contestants.push_back(
        std::make_unique<Contestant>(workload, inputs, precision, threads, plan, kernels));
  const std::vector<std::string> words = workload.words(inputs);
  std::vector<double> whole, startup;
  for (int i = 0; i != plan.repeat; ++i) {
    for (const auto &contestant : contestants)
      contestant->run();
    if (plan.reference) {
      startup.push_back(plan.reference->runStartup(words, threads));
      whole.push_back(plan.reference->run(words, threads));
    }
  }

  std::vector<Measurement> rows;
  for (const auto &contestant : contestants) {
    Measurement row = contestant->take();
    if (plan.countInstructions)
      row.instructions =
          instructionsPerSample(workload, inputs, row.precision,
                                [&](const KernelRequest &request) { return kernels.get(request); });
    if (plan.reference) {
      const double start = median(startup);
      row.reference = ReferenceTime{start, median(whole) - start};
      row.worstDifference = worstDifference(
          contestant->pixels(),
          io::readFloatImage(plan.reference->floatImage(), contestant->pixels().size()));
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

} // namespace nanobragg
