#include "tools/nb-sim/MakeSeries.h"

#include "lib/IO/ExptFile.h"
#include "lib/IO/NexusFile.h"
#include "nanobragg/Simulator.h"
#include "tools/nb-sim/DialsExperimentOf.h"
#include "tools/nb-sim/ExchangeFiles.h"
#include "tools/nb-sim/FrameFiles.h"
#include "tools/nb-sim/FramePlan.h"
#include "tools/nb-sim/FrameWriter.h"
#include "tools/nb-sim/SeriesProgress.h"

#include <filesystem>
#include <map>
#include <memory>
#include <thread>

namespace nanobragg {
namespace {

class SeriesRun {
public:
  SeriesRun(RunSetup &&runSetup, KernelProvider &kernels, const ProcessStart &start)
      : setup(std::move(runSetup)), kernels(kernels), start(start), plan(setup),
        files(setup.line, plan.count()), inputs(setup.loaded.inputs) {}

  void run() {
    const io::DialsExperiment first = describe(0, plan.count());
    refuseUnfitCbf(setup.line, first);
    openNexus(first);
    SeriesProgress progress(stdout, plan.count(),
                            setup.line.tool.progress && !setup.line.tool.quiet);
    FrameWriter writer(writers());
    std::vector<io::DialsExperiment> shots;
    for (std::int64_t i = 0; i < plan.count(); ++i) {
      if (isDone(i)) {
        progress.skip();
        continue;
      }
      auto done = std::make_shared<Rendered>(render(i));
      writer.add([this, done, i, &progress] {
        write(i, *done);
        progress.finishOne();
      });
    }
    writer.finish();
    if (nexus)
      nexus->finish();
    if (setup.line.outputs.exptFile)
      writeExperiments(first);
    progress.end();
    printSummary(progress);
  }

private:
  struct Rendered {
    CommandLine line;
    CompleteExperiment complete;
    std::vector<float> image;
  };

  unsigned writers() const {
    const int wanted = requestedThreads(setup.line.tool);
    return wanted > 0 ? unsigned(wanted) : std::max(1u, std::thread::hardware_concurrency());
  }

  bool isDone(std::int64_t i) const {
    if (!setup.line.series.resume)
      return false;
    if (nexus && !nexus->isDone(std::size_t(i)))
      return false;
    return files.allThere(i + 1, setup.complete.experiment.detector);
  }

  CompleteExperiment complete(const Frame &frame, const std::optional<Mat3> &matrix) {
    if (matrix)
      inputs.matrix = *matrix;
    return chooseDefaults(frame.line.options, inputs, setup.line.semantics);
  }

  io::DialsExperiment describe(std::int64_t i, std::int64_t frames) {
    const Frame frame = plan.frame(i);
    return dialsExperimentOf(complete(frame, frame.lattices.front()), frame.line, setup.loaded,
                             plan.stills() ? 1 : frames);
  }

  void openNexus(const io::DialsExperiment &first) {
    if (!setup.line.outputs.nexusFile)
      return;
    io::NexusOptions options = nexusOptionsOf(setup.line, setup.complete.experiment);
    options.frames = std::size_t(plan.count());
    options.resume = setup.line.series.resume;
    options.stills = plan.stills();
    nexus = io::openNexus(*setup.line.outputs.nexusFile, first, options);
  }

  Rendered render(std::int64_t i) {
    Frame frame = plan.frame(i);
    Rendered result{std::move(frame.line), {}, {}};
    for (const std::optional<Mat3> &lattice : frame.lattices) {
      Frame own{result.line, {}};
      CompleteExperiment one = complete(own, lattice);
      Simulator simulator(one.experiment, optionsOf());
      if (!told) {
        simulator.prepare(PixelType::F32);
        setup.tellFallbacks(simulator, "renders");
        told = true;
      }
      std::vector<float> image(simulator.pixels());
      const RunResult run = simulator.render(std::span<float>(image));
      kernelSeconds += run.prepareSeconds + run.runSeconds;
      if (result.image.empty()) {
        result.image = std::move(image);
        result.complete = std::move(one);
        continue;
      }
      for (std::size_t p = 0; p < image.size(); ++p)
        result.image[p] += image[p];
    }
    return result;
  }

  SimulatorOptions optionsOf() const {
    SimulatorOptions options = setup.simulatorOptions(kernels);
    options.once = plan.count() == 1;
    return options;
  }

  void write(std::int64_t i, Rendered &r) {
    const bool still = plan.stills();
    const io::DialsExperiment description = dialsExperimentOf(r.complete, r.line, setup.loaded, 1);
    if (nexus)
      writeNexus(std::size_t(i), r);
    files.write(i + 1, r.image, r.line, r.complete, description);
    if (still && setup.line.outputs.exptFile) {
      const std::lock_guard lock(mutex);
      stills[i] = description;
    }
  }

  void writeNexus(std::size_t i, const Rendered &r) {
    if (r.line.outputs.noise)
      nexus->write(i, std::as_bytes(std::span<const std::int32_t>(
                          FrameFiles::countsOf(r.image, r.line, r.complete))));
    else
      nexus->write(i, std::as_bytes(std::span<const float>(r.image)));
  }

  void writeExperiments(const io::DialsExperiment &first) {
    io::OutputFile out(*setup.line.outputs.exptFile);
    io::ExptImages images;
    std::vector<io::DialsExperiment> list;
    namespace fs = std::filesystem;
    const auto absolute = [](const std::string &name) {
      std::error_code ignored;
      return fs::absolute(name, ignored).lexically_normal().string();
    };
    const std::string name = nexus ? *setup.line.outputs.nexusFile : files.imageName();
    if (!plan.stills()) {
      images.pattern = absolute(nexus ? name : files.pattern(name));
      list.push_back(first);
      list.front().imageSet = 0;
      for (std::size_t i = 1; i < setup.loaded.dials.size(); ++i) {
        list.push_back(first);
        list.back().crystal = setup.loaded.dials[i].crystal;
        list.back().crystalText = setup.loaded.dials[i].crystalText;
        list.back().imageSet = 0;
      }
    } else {
      for (std::int64_t i = 0; i < plan.count(); ++i) {
        list.push_back(stills.contains(i) ? stills[i] : describe(i, 1));
        list.back().imageSet = i;
        if (!nexus)
          images.names.push_back(absolute(files.numbered(name, i + 1)));
      }
      if (nexus)
        images.names.push_back(absolute(name));
    }
    io::writeExpt(out, list, images);
    out.commit();
  }

  void printSummary(const SeriesProgress &progress) const {
    if (setup.line.tool.quiet)
      return;
    const double seconds = start.sinceMain.seconds();
    const std::int64_t made = progress.made();
    std::printf("%lld frames in %.2f s", (long long)made, seconds);
    if (progress.skipped() > 0)
      std::printf(", %lld were there", (long long)progress.skipped());
    if (made > 0)
      std::printf("; the kernel ran %.2f ms of the %.2f ms a frame took",
                  1e3 * kernelSeconds / double(made), 1e3 * seconds / double(made));
    std::printf("\n");
    const auto &names = files.names(1, setup.complete.experiment.detector);
    for (const std::string &name : names)
      std::printf("wrote %s%s\n", name.c_str(), plan.count() > 1 ? " and so on" : "");
    if (nexus)
      std::printf("wrote %s\n", setup.line.outputs.nexusFile->c_str());
    if (setup.line.outputs.exptFile)
      std::printf("wrote %s\n", setup.line.outputs.exptFile->c_str());
  }

  RunSetup setup;
  KernelProvider &kernels;
  const ProcessStart &start;
  FramePlan plan;
  FrameFiles files;
  Inputs inputs; ///< whose matrix is that of the frame at hand
  std::unique_ptr<io::NexusWriter> nexus;
  bool told = false;
  double kernelSeconds = 0;
  std::mutex mutex;
  std::map<std::int64_t, io::DialsExperiment> stills;
};

} // namespace

void makeSeries(RunSetup &&setup, KernelProvider &kernels, const ProcessStart &start) {
  SeriesRun(std::move(setup), kernels, start).run();
}

} // namespace nanobragg
