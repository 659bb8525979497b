#include "tools/nb-bench/Measurement.h"

#include "lib/Images/FloatImage.h"
#include "nanobragg/Simulator.h"
#include "runtime/processor/Stopwatch.h"
#include "runtime/simulator/Placement.h"
#include "tools/nb-bench/InstructionCount.h"
#include "tools/nb-bench/Machine.h"
#include "tools/shared/RunSetup.h"

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
             int threads, const Plan &plan, KernelProvider &kernels) {
    result.workload = workload;
    result.precision = precision;
    result.threads = threads;
    std::vector<std::string> words = workload.words(inputs);
    // The same physics as the reference, so that the images can be compared.
    words.insert(words.end(),
                 {"-compat", "c", "--precision=" + precision, "--device=" + plan.device});
    const Stopwatch sinceStart;
    setup = std::make_unique<RunSetup>(parseCommandLine(words));
    result.setupSeconds = sinceStart.seconds();
    result.samples = samplesOf(setup->complete.experiment);

    SimulatorOptions how = setup->simulatorOptions(kernels);
    how.passes.pipeline = plan.pipeline;
    how.engine = Engine::Fused;
    how.fallback = how.once = false;
    how.threads = threads;
    simulator = std::make_unique<Simulator>(setup->complete.experiment, how);
    const double before = kernels.counters().compileSeconds;
    result.target = simulator->target(PixelType::F32);
    result.compileSeconds = kernels.counters().compileSeconds - before;
    image.resize(simulator->pixels());
    simulator->render(std::span(image)); // warms the threads and the pages of the image
    if (plan.gradients)
      prepareGradient();
  }

  void run() {
    if (const auto now = measureClock())
      clock.push_back(*now);
    const RunResult times = simulator->render(std::span(image));
    prepare.push_back(times.prepareSeconds);
    tiles.push_back(times.runSeconds);
    if (!times.device.empty())
      launches.push_back(times.deviceSeconds);
    if (!cotangent.empty())
      reverse.push_back(gradientSeconds());
  }

  Measurement take() {
    result.prepareSeconds = median(prepare);
    result.runSeconds = median(tiles);
    if (!launches.empty())
      result.deviceSeconds = median(launches);
    if (!clock.empty())
      result.clock = median(clock);
    if (!cotangent.empty())
      result.gradientSeconds = median(reverse);
    return result;
  }

  const std::vector<float> &pixels() const { return image; }

private:
  void prepareGradient() {
    cotangent.assign(simulator->pixels(), 1.0);
    gradientSeconds();
  }

  double gradientSeconds() {
    const double before = simulator->timing().derivative;
    simulator->gradient(result.workload.gradientParameters(), cotangent);
    return simulator->timing().derivative - before;
  }

  Measurement result;
  std::unique_ptr<RunSetup> setup;
  std::unique_ptr<Simulator> simulator;
  std::vector<float> image;
  std::vector<double> cotangent;
  std::vector<double> prepare, tiles, launches, reverse, clock;
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
  contestants.reserve(plan.precisions.size());
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
      row.executed = executedPerSample(
          workload, inputs, row.precision, *kernels.compiler(),
          [&](KernelRequest &request) { request.passes.pipeline = plan.pipeline; });
    if (plan.reference) {
      const double start = median(startup);
      row.reference = ReferenceTime{start, median(whole) - start};
      row.worstDifference =
          worstDifference(contestant->pixels(), io::readFloatImage(plan.reference->floatImage(),
                                                                   contestant->pixels().size()));
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

} // namespace nanobragg
