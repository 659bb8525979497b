//===- Measurement.cpp ----------------------------------------------------===//
#include "Measurement.h"

#include "FloatImage.h"
#include "RunSetup.h"
#include "Timing.h"
#include "nanobragg/KernelRunner.h"

#include <algorithm>
#include <cmath>

namespace nanobragg {
namespace {

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 ? values[half] : (values[half - 1] + values[half]) / 2;
}

double worstDifference(const std::vector<float> &image, const std::vector<float> &reference) {
  double worst = 0, brightest = 0;
  for (std::size_t i = 0; i != image.size(); ++i) {
    worst = std::max(worst, std::abs(double(image[i]) - double(reference[i])));
    brightest = std::max(brightest, double(reference[i]));
  }
  return brightest > 0 ? worst / brightest : worst;
}

} // namespace

Measurement measure(const Workload &workload, int threads, const Plan &plan,
                    KernelProvider &kernels) {
  Measurement result;
  result.shape = workload.shape;
  result.threads = threads;

  const std::vector<std::string> shared = workload.words();
  std::vector<std::string> words = shared;
  // The same physics as the reference, so that the images can be compared.
  words.insert(words.end(), {"-compat", "c", "--precision=" + plan.precision});
  const Stopwatch sinceStart;
  const RunSetup setup(parseCommandLine(words));
  result.setupSeconds = sinceStart.seconds();
  result.samples = setup.samples();

  const double compiledBefore = kernels.counters().compileSeconds;
  KernelRunner runner(kernels.get(setup.kernelRequest()), setup.derived.experiment);
  result.compileSeconds = kernels.counters().compileSeconds - compiledBefore;

  std::vector<float> image(std::size_t(runner.shape().pixels()));
  runner.run(image, {.threads = threads}); // warms the threads and the pages of the image
  std::vector<double> prepare, run, reference, referenceStartup;
  for (int i = 0; i != plan.repeat; ++i) {
    const RunResult mine = runner.run(image, {.threads = threads});
    prepare.push_back(mine.prepareSeconds);
    run.push_back(mine.runSeconds);
    if (plan.reference) {
      referenceStartup.push_back(plan.reference->runStartup(shared, threads));
      reference.push_back(plan.reference->run(shared, threads));
    }
  }
  result.prepareSeconds = median(prepare);
  result.runSeconds = median(run);
  if (plan.reference) {
    result.referenceStartupSeconds = median(referenceStartup);
    result.referenceRunSeconds = median(reference) - *result.referenceStartupSeconds;
    result.ratio = *result.referenceRunSeconds / (result.prepareSeconds + result.runSeconds);
    result.worstDifference =
        worstDifference(image, io::readFloatImage(plan.reference->floatImage(), image.size()));
  }
  return result;
}

} // namespace nanobragg
