#include "tools/nb-sim/MakeSeries.h"

#include "lib/IO/NexusFile.h"
#include "nanobragg/Simulator.h"
#include "tools/nb-sim/DialsExperimentOf.h"
#include "tools/nb-sim/ExchangeFiles.h"
#include "tools/nb-sim/FrameFiles.h"
#include "tools/nb-sim/FramePlan.h"
#include "tools/nb-sim/FrameWriter.h"
#include "tools/nb-sim/Noise.h"
#include "tools/nb-sim/SeriesExpt.h"
#include "tools/nb-sim/SeriesJournal.h"
#include "tools/nb-sim/SeriesProgress.h"
#include "tools/nb-sim/SpotLabels.h"

#include <cmath>
#include <memory>
#include <thread>

namespace nanobragg {
namespace {

class SeriesRun {
public:
  SeriesRun(RunSetup &&runSetup, KernelProvider &kernels, const ProcessStart &start)
      : setup(std::move(runSetup)), kernels(kernels), start(start), journal(journalOf(setup)),
        plan(setup), files(setup.line, plan.count()), inputs(setup.loaded.inputs),
        labels(setup, plan.count(), plan.stills()),
        stills(plan.stills() ? std::size_t(plan.count()) : 0) {}

  void run() {
    const io::DialsExperiment first = describe(0, plan.count());
    refuseUnfitCbf(setup.line, first);
    std::optional<io::OutputFile> expt;
    if (setup.line.outputs.exptFile)
      expt.emplace(*setup.line.outputs.exptFile);
    openNexus(first);
    writeShots();
    SeriesProgress progress(stdout, plan.count(),
                            setup.line.tool.progress && !setup.line.tool.quiet);
    FrameWriter writer(writers());
    for (std::int64_t i = 0; i < plan.count(); ++i) {
      const bool there = isDone(i);
      if (there && !labels.wanted()) {
        progress.skip();
        if (plan.stills())
          stills[std::size_t(i)] = describeStill(i);
        continue;
      }
      auto done = std::make_shared<Rendered>(render(i));
      writer.add([this, done, i, there, &progress] {
        finish(i, *done, there);
        there ? progress.skip() : progress.finishOne();
      });
    }
    writer.finish();
    if (nexus)
      nexus->finish();
    writeModels(first, expt);
    progress.end();
    printSummary(progress);
  }

private:
  struct Lattice {
    CompleteExperiment complete;
    std::vector<float> image;
    std::vector<double> photons; ///< with point spread, see Simulator::photons()
  };
  struct Rendered {
    CommandLine line;
    std::vector<Lattice> lattices;
  };

  static std::unique_ptr<SeriesJournal> journalOf(RunSetup &setup) {
    if (!setup.line.series.any())
      return nullptr; // lattices on one image
    return std::make_unique<SeriesJournal>(FrameFiles(setup.line, 1).journalName(), setup.line,
                                           setup.loaded);
  }

  unsigned writers() const {
    const int wanted = requestedThreads(setup.line.tool);
    return wanted > 0 ? unsigned(wanted) : std::max(1u, std::thread::hardware_concurrency());
  }

  bool isDone(std::int64_t i) const {
    return journal && journal->isDone(i + 1) && (!nexus || nexus->isDone(std::size_t(i))) &&
           files.allThere(i + 1, setup.complete.experiment.detector);
  }

  CompleteExperiment complete(const CommandLine &ofFrame, const FrameLattice &lattice) {
    CommandLine line = ofFrame;
    applyShot(lattice.own, line);
    if (lattice.matrix)
      inputs.matrix = *lattice.matrix;
    applyMaterials(line.files, inputs);
    return chooseDefaults(line.options, inputs, setup.line.semantics);
  }

  io::DialsExperiment describe(std::int64_t i, std::int64_t frames) {
    const Frame frame = plan.frame(i);
    return dialsExperimentOf(complete(frame.line, frame.lattices.front()), frame.line, setup.loaded,
                             plan.stills() ? 0 : frames);
  }

  /// Of a still that is there and was not rendered: its lattices.
  std::vector<io::DialsExperiment> describeStill(std::int64_t i) {
    const Frame frame = plan.frame(i);
    std::vector<io::DialsExperiment> lattices;
    for (const FrameLattice &lattice : frame.lattices)
      lattices.push_back(
          dialsExperimentOf(complete(frame.line, lattice), frame.line, setup.loaded, 0));
    return lattices;
  }

  void openNexus(const io::DialsExperiment &first) {
    if (!setup.line.outputs.nexusFile)
      return;
    io::NexusOptions options = nexusOptionsOf(setup.line, setup.complete.experiment);
    options.frames = std::size_t(plan.count());
    options.resume = journal && journal->goesOn();
    options.stills = plan.stills();
    nexus = io::openNexus(*setup.line.outputs.nexusFile, first, options);
  }

  void writeShots() {
    const std::optional<std::string> &name = setup.line.outputs.shotsFile;
    if (!name || !setup.line.series.shots)
      return;
    if (plan.table().empty())
      throw UsageError("--write-shots: the shots are experiments of DIALS; use --write-expt");
    io::OutputFile file(*name);
    file.write(shotTableText(plan.table()));
    file.commit();
  }

  Rendered render(std::int64_t i) {
    Frame frame = plan.frame(i);
    Rendered result{std::move(frame.line), {}};
    for (const FrameLattice &lattice : frame.lattices) {
      CompleteExperiment one = complete(result.line, lattice);
      if (!result.lattices.empty()) { // there is one drop of water, and one of each material
        one.experiment.waterSize = 0;
        one.experiment.variant.background = false;
      }
      // The weight is that of the crystal: what else is on its image is divided by it first.
      one.experiment.background.area /= lattice.own.weight;
      one.experiment.waterSize /= std::cbrt(lattice.own.weight);
      Simulator simulator(one.experiment, optionsOf());
      if (!told) {
        simulator.prepare(PixelType::F32);
        setup.tellFallbacks(simulator, "renders");
        told = true;
      }
      std::vector<float> image(simulator.pixels());
      const RunResult run = simulator.render(std::span<float>(image));
      kernelSeconds += run.prepareSeconds + run.runSeconds;
      std::vector<double> photons(simulator.photons().begin(), simulator.photons().end());
      if (lattice.own.weight != 1) {
        for (float &pixel : image)
          pixel = float(double(pixel) * lattice.own.weight);
        for (double &pixel : photons)
          pixel *= lattice.own.weight;
      }
      result.lattices.push_back({std::move(one), std::move(image), std::move(photons)});
    }
    return result;
  }

  SimulatorOptions optionsOf() const {
    SimulatorOptions options = setup.simulatorOptions(kernels);
    options.once = plan.count() == 1;
    return options;
  }

  /// All that follows from a rendered frame, on a thread of its own.
  void finish(std::int64_t i, Rendered &r, bool filesThere) {
    if (labels.wanted())
      for (const Lattice &lattice : r.lattices)
        labels.add(
            i, lattice.complete,
            simulatedExperiment(lattice.complete, r.line, setup.loaded, plan.stills() ? 0 : 1),
            lattice.image);
    if (plan.stills())
      for (const Lattice &lattice : r.lattices)
        stills[std::size_t(i)].push_back(
            dialsExperimentOf(lattice.complete, r.line, setup.loaded, 0));
    if (filesThere)
      return;
    auto &[complete, image, photons] = r.lattices.front();
    for (std::size_t k = 1; k < r.lattices.size(); ++k) {
      for (std::size_t p = 0; p < image.size(); ++p)
        image[p] += r.lattices[k].image[p];
      for (std::size_t p = 0; p < photons.size(); ++p)
        photons[p] += r.lattices[k].photons[p];
    }
    if (nexus)
      writeNexus(std::size_t(i), {image, photons}, r.line, complete);
    files.write(i + 1, {image, photons}, r.line, complete,
                dialsExperimentOf(complete, r.line, setup.loaded, 1));
    if (journal)
      journal->finish(i + 1);
  }

  void writeNexus(std::size_t i, const RenderedImage &image, const CommandLine &line,
                  const CompleteExperiment &complete) {
    if (line.outputs.noise)
      nexus->write(i, std::as_bytes(std::span<const std::int32_t>(
                          countsOf(image, line, complete))));
    else
      nexus->write(i, std::as_bytes(image.pixels));
  }

  /// What the images show: .expt, .refl, .stream.
  void writeModels(const io::DialsExperiment &first, std::optional<io::OutputFile> &expt) {
    if (expt && plan.stills())
      writeStillsExpt(*expt, setup, files, stills);
    else if (expt)
      writeScanExpt(*expt, setup, files, first);
    if (labels.wanted())
      labels.write(
          [&](std::int64_t i) {
            const std::string name = files.imageName();
            if (nexus)
              return SpotLabels::ImageName{absoluteName(name), "//" + std::to_string(i)};
            return SpotLabels::ImageName{absoluteName(files.numbered(name, i + 1)), ""};
          },
          first.scan ? first.scan->first - 1 : 0);
    if (expt)
      expt->commit();
    labels.publish();
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
    for (const std::string &name : files.names(1, setup.complete.experiment.detector))
      std::printf("wrote %s%s\n", name.c_str(), plan.count() > 1 ? " and so on" : "");
    const OutputOptions &o = setup.line.outputs;
    for (const auto &name : {o.nexusFile, o.exptFile, o.shotsFile})
      if (name)
        std::printf("wrote %s\n", name->c_str());
    for (const std::string &name : labels.names())
      std::printf("wrote %s\n", name.c_str());
  }

  RunSetup setup;
  KernelProvider &kernels;
  const ProcessStart &start;
  std::unique_ptr<SeriesJournal> journal; ///< before the plan: it knows the seeds
  FramePlan plan;
  FrameFiles files;
  Inputs inputs; ///< whose matrix is that of the frame at hand
  SpotLabels labels;
  std::unique_ptr<io::NexusWriter> nexus;
  bool told = false;
  double kernelSeconds = 0;
  std::vector<std::vector<io::DialsExperiment>> stills; ///< of each, its lattices
};

} // namespace

void makeSeries(RunSetup &&setup, KernelProvider &kernels, const ProcessStart &start) {
  SeriesRun(std::move(setup), kernels, start).run();
}

} // namespace nanobragg
