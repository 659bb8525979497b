#include "tools/nb-sim/MakeSeries.h"

#include "lib/Quantities/Printable.h"
#include "lib/Formats/DumpFile.h"
#include "lib/Files/FileError.h"
#include "lib/Formats/NexusFile.h"
#include "lib/Parallel/TaskQueue.h"
#include "lib/Parallel/ThreadTeam.h"
#include "nanobragg/Simulator.h"
#include "tools/nb-sim/DialsExperimentOf.h"
#include "tools/nb-sim/ExchangeFiles.h"
#include "tools/nb-sim/FrameDeal.h"
#include "tools/nb-sim/FrameFiles.h"
#include "tools/nb-sim/FramePlan.h"
#include "tools/nb-sim/Noise.h"
#include "tools/nb-sim/SeriesExpt.h"
#include "tools/nb-sim/SeriesJournal.h"
#include "tools/nb-sim/SeriesProgress.h"
#include "tools/nb-sim/SpotLabels.h"
#include "tools/nb-sim/TrueFactors.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <sstream>
#include <unistd.h>
#include <utility>

namespace nanobragg {
namespace {

class SeriesRun {
public:
  SeriesRun(RunSetup &setup, KernelProvider &kernels, const ProcessStart &start, Ranks *ranks)
      : setup(setup), kernels(kernels), start(start), ranks(ranks),
        leads(setup.line.series.shard ? setup.line.series.shard->index == 0
                                      : !ranks || ranks->rank() == 0),
        claims(claimsOf(setup.line, ranks, leads)), journal(journalOf(setup, ranks)),
        part(journal ? journal->part() : alone), plan(setup), files(setup.line, plan.count()),
        inputs(setup.loaded.inputs),
        labels(setup, plan.count(), plan.stills(), setup.line.series.shard ? part : alone,
               !ranks || leads),
        stills(setup.line.outputs.exptFile && leads && plan.stills() ? std::size_t(plan.count())
                                                                     : 0) {}

  void run() {
    const io::DialsExperiment first = describe(0, plan.count());
    refuseUnfitCbf(setup.line, first);
    std::optional<io::OutputFile> expt;
    if (setup.line.outputs.exptFile && leads)
      expt.emplace(*setup.line.outputs.exptFile);
    if (setup.line.outputs.mtzFile && leads)
      factors = trueFactors(setup);
    openNexus(first);
    writeShots();
    FrameDeal deal(
        plan.count(), [&](std::int64_t i) { return !labels.wanted() && isDone(i); },
        [&](std::int64_t i) { return double(plan.lattices(i)); }, setup.line.series, ranks);
    SeriesProgress progress(stdout, plan.count() - deal.others(),
                            setup.line.tool.progress && !setup.line.tool.quiet);
    for (std::int64_t i = 0; i < deal.done(); ++i)
      progress.skip();
    prepareKernel();
    TaskQueue writer(writers());
    while (const std::optional<std::int64_t> next = deal.next()) {
      const std::int64_t i = *next;
      const bool there = labels.wanted() && isDone(i);
      auto done = std::make_shared<Rendered>(render(i));
      writer.add([this, done, i, there, &progress] {
        finish(i, *done, there);
        there ? progress.skip() : progress.finishOne();
      });
      tellOthers(progress);
    }
    writer.finish();
    busySeconds = start.sinceMain.seconds();
    tellOthers(progress);
    if (nexus)
      nexus->finish();
    while (ranks && !ranks->arrived(0.2))
      tellOthers(progress);
    tellOthers(progress);
    joinParts(first);
    gatherLabels();
    writeModels(first, expt);
    writeStructureFactors();
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
    LightMap map;
  };

  /// Claims outputs that another series, with a journal of another name, may write too; before the
  /// journal, which begins anew.
  static std::vector<io::OutputFile> claimsOf(const CommandLine &line, Ranks *ranks, bool leads) {
    const OutputOptions &o = line.outputs;
    const int part = line.series.shard ? int(line.series.shard->index)
                     : ranks           ? ranks->rank()
                                       : alone;
    std::vector<io::OutputFile> claims;
    if (!line.series.any())
      return claims;
    std::vector<std::string> images = FrameFiles(line, 1).given();
    if (o.nexusFile)
      images.push_back(*o.nexusFile); // perhaps through a link, beside which its journal stands
    for (const std::string &name : images)
      claims.push_back(io::OutputFile::claim(name, part + 1));
    if (leads)
      for (const auto &name : {o.exptFile, o.shotsFile, o.mtzFile})
        if (name)
          claims.push_back(io::OutputFile::claim(*name));
    if (leads || line.series.shard)
      for (const auto &name : {o.reflFile, o.streamFile})
        if (name)
          claims.push_back(io::OutputFile::claim(*name, line.series.shard ? part + 1 : 0));
    return claims;
  }

  static std::unique_ptr<SeriesJournal> journalOf(RunSetup &setup, Ranks *ranks) {
    if (!setup.line.series.any())
      return nullptr; // lattices on one image
    const OutputOptions &o = setup.line.outputs;
    if (setup.line.series.shard && !setup.line.series.shots && o.reflFile)
      throw UsageError("--write-refl: a reflection of a rotation may reach over images of several "
                       "shards, which know nothing of each other; give the command to ranks of "
                       "MPI, or leave it out here, and when all images are there give the same "
                       "command to one process, with --resume");
    return std::make_unique<SeriesJournal>(FrameFiles(setup.line, 1).journalName(), setup.line,
                                           setup.loaded, ranks);
  }

  /// Rank 0 shows what all have made.
  void tellOthers(SeriesProgress &progress) {
    if (!ranks)
      return;
    const std::int64_t own = progress.made();
    madeByAll = ranks->finished(own - toldOthers);
    toldOthers = own;
    if (ranks->rank() == 0)
      progress.setElsewhere(madeByAll - own);
  }

  /// The file with the frames of a part.
  std::string nexusOf(int which) const {
    const std::string &name = *setup.line.outputs.nexusFile;
    return which == alone && part != alone ? keptName(name) : partName(name, which);
  }

  bool hasNexus(int which) const {
    std::error_code ignored;
    return std::filesystem::exists(nexusOf(which), ignored);
  }

  /// Shows the frames of all parts as one file.
  void joinParts(const io::DialsExperiment &first) {
    std::vector<std::string> reports;
    if (ranks)
      reports = ranks->gather(report());
    readReports(reports);
    if (part == alone || !nexus || (ranks && !leads))
      return;
    const auto usable = [&](int which) { return hasNexus(which); };
    while (true) {
      FinishedImages finished;
      if (ranks) {
        finished = journal->finishedBefore();
        std::erase_if(finished, [&](const auto &entry) { return !hasNexus(entry.second); });
        for (const auto &[image, which] : madeByRanks)
          finished[image] = which;
      } else {
        finished = journal->finishedByAll(usable);
      }
      std::map<int, io::NexusPart> parts;
      for (const auto &[image, which] : finished)
        if (image <= plan.count())
          parts[which].frames.push_back(std::size_t(image - 1));
      io::NexusOptions options = nexusOptions();
      options.resume = false;
      options.complete = true;
      for (auto &[which, shown] : parts) {
        shown.file = std::filesystem::path(nexusOf(which)).filename().string();
        options.parts.push_back(std::move(shown));
      }
      joined = std::int64_t(finished.size());
      if (!options.parts.empty())
        io::openNexus(*setup.line.outputs.nexusFile, first, options)->finish();
      // A shard that ended meanwhile may have put its view into place before this one.
      if (ranks || journal->finishedByAll(usable).size() == finished.size())
        return;
    }
  }

  /// Rank 0 writes those of all.
  void gatherLabels() {
    if (!ranks || !labels.wanted())
      return;
    std::optional<Frame> frame;
    std::int64_t at = -1;
    const auto model = [&](std::int64_t i, std::size_t lattice) {
      if (at != i)
        frame.emplace(plan.frame(at = i));
      return simulatedExperiment(complete(frame->line, frame->lattices[lattice]), frame->line,
                                 setup.loaded, plan.stills() ? 0 : 1);
    };
    const std::vector<std::string> all = ranks->gather(leads ? "" : labels.packed());
    for (const std::string &packed : all)
      labels.take(packed, model);
  }

  /// The report of a rank for rank 0: seconds until it had no more to do, and its images.
  std::string report() const {
    std::string text = std::to_string(busySeconds) + " " + std::to_string(kernelSeconds);
    for (const std::int64_t image : madeHere)
      text += " " + std::to_string(image);
    return text;
  }

  void readReports(const std::vector<std::string> &reports) {
    leastBusy = mostBusy = busySeconds;
    if (!reports.empty())
      kernelSeconds = 0;
    for (std::size_t rank = 0; rank < reports.size(); ++rank) {
      std::istringstream words(reports[rank]);
      double busy = 0, kernel = 0;
      words >> busy >> kernel;
      leastBusy = std::min(leastBusy, busy);
      mostBusy = std::max(mostBusy, busy);
      kernelSeconds += kernel;
      for (std::int64_t image = 0; words >> image;)
        madeByRanks[image] = int(rank);
    }
  }

  unsigned writers() const { return unsigned(threadsOf(requestedThreads(setup.line.tool))); }

  bool isDone(std::int64_t i) const {
    if (!journal)
      return false;
    const auto found = journal->finishedBefore().find(i + 1);
    if (found == journal->finishedBefore().end() ||
        !files.allThere(i + 1, setup.complete.experiment.detector))
      return false;
    return !nexus ||
           (found->second == part ? nexus->isDone(std::size_t(i)) : hasNexus(found->second));
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

  /// The lattices of a still that is there and was not rendered.
  std::vector<io::DialsExperiment> describeStill(std::int64_t i) {
    const Frame frame = plan.frame(i);
    std::vector<io::DialsExperiment> lattices;
    for (const FrameLattice &lattice : frame.lattices)
      lattices.push_back(
          dialsExperimentOf(complete(frame.line, lattice), frame.line, setup.loaded, 0));
    return lattices;
  }

  /// The crystals of --lattices behind the first.
  std::vector<io::DialsExperiment> describeSharing() {
    std::vector<io::DialsExperiment> others;
    if (!setup.line.series.lattices)
      return others;
    const Frame frame = plan.frame(0);
    for (std::size_t k = 1; k < frame.lattices.size(); ++k)
      others.push_back(dialsExperimentOf(complete(frame.line, frame.lattices[k]), frame.line,
                                         setup.loaded, plan.count()));
    return others;
  }

  void openNexus(const io::DialsExperiment &first) {
    if (!setup.line.outputs.nexusFile)
      return;
    if (part != alone)
      keepNexusOfOne();
    nexus = io::openNexus(partName(*setup.line.outputs.nexusFile, part), first, nexusOptions());
  }

  io::NexusOptions nexusOptions() const {
    io::NexusOptions options = nexusOptionsOf(setup.line, setup.complete.experiment);
    options.frames = std::size_t(plan.count());
    options.resume = journal && journal->goesOn();
    options.complete = !journal;
    options.stills = plan.stills();
    return options;
  }

  /// A series that one process began and parts go on with: its file gets a second name before the
  /// first becomes that of the view. A link, since of several shards the first one makes it.
  void keepNexusOfOne() const {
    const auto &before = journal->finishedBefore();
    if (std::ranges::none_of(before, [](const auto &entry) { return entry.second == alone; }))
      return;
    const std::string &name = *setup.line.outputs.nexusFile;
    if (::link(name.c_str(), keptName(name).c_str()) != 0 && errno != EEXIST && errno != ENOENT)
      throw io::FileError(name, std::string("cannot be given the name ") + keptName(name) + " (" +
                                    std::strerror(errno) +
                                    "); finish this series with one process, without --shard");
  }

  void writeShots() {
    const std::optional<std::string> &name = setup.line.outputs.shotsFile;
    if (!name || !setup.line.series.shots || !leads)
      return;
    if (plan.table().empty())
      throw UsageError("--write-shots: the shots are experiments of DIALS; use --write-expt");
    io::OutputFile file(*name);
    file.write(shotTableText(plan.table()));
    file.commit();
  }

  Rendered render(std::int64_t i) {
    Frame frame = plan.frame(i);
    Rendered result{std::move(frame.line), {}, {}};
    bool wet = false;
    for (const FrameLattice &lattice : frame.lattices) {
      CompleteExperiment one = complete(result.line, lattice);
      const std::size_t pixels = std::size_t(one.experiment.pixelCount());
      if (!lattice.there) {
        result.lattices.push_back({std::move(one), std::vector<float>(pixels), {}});
        continue;
      }
      if (std::exchange(wet, true)) { // there is one drop of water, and one of each material
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
      if (!run.shortfall.empty() && !shortfallTold) {
        std::fprintf(stderr, "WARNING: %s\n", run.shortfall.c_str());
        shortfallTold = true;
      }
      std::vector<double> photons(simulator.photons().begin(), simulator.photons().end());
      if (lattice.own.weight != 1) {
        for (float &pixel : image)
          pixel = float(double(pixel) * lattice.own.weight);
        for (double &pixel : photons)
          pixel *= lattice.own.weight;
      }
      if (setup.line.outputs.mapFile)
        result.map.add(one, result.line, lattice.own.weight, setup, kernels);
      result.lattices.push_back({std::move(one), std::move(image), std::move(photons)});
    }
    return result;
  }

  /// One rank of a machine compiles, and the others find the kernel in the cache.
  void prepareKernel() {
    if (!ranks)
      return;
    if (ranks->rankHere() != 0)
      ranks->meetHere();
    Frame frame = plan.frame(0);
    Simulator(complete(frame.line, frame.lattices.front()).experiment, optionsOf())
        .prepare(PixelType::F32);
    if (ranks->rankHere() == 0)
      ranks->meetHere();
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
    if (!stills.empty())
      for (const Lattice &lattice : r.lattices)
        stills[std::size_t(i)].push_back(
            dialsExperimentOf(lattice.complete, r.line, setup.loaded, 0));
    if (filesThere)
      return;
    auto &[complete, image, photons] = r.lattices.front();
    const auto addTo = [](auto &sum, const auto &more) {
      sum.resize(std::max(sum.size(), more.size()));
      for (std::size_t p = 0; p < more.size(); ++p)
        sum[p] += more[p];
    };
    for (std::size_t k = 1; k < r.lattices.size(); ++k) {
      addTo(image, r.lattices[k].image);
      addTo(photons, r.lattices[k].photons);
    }
    if (nexus)
      writeNexus(std::size_t(i), {image, photons}, r.line, complete);
    files.write(i + 1, {image, photons, &r.map}, r.line, complete,
                dialsExperimentOf(complete, r.line, setup.loaded, 1));
    if (journal)
      journal->finish(i + 1);
    if (ranks) {
      const std::lock_guard lock(madeMutex);
      madeHere.push_back(i + 1);
    }
  }

  void writeNexus(std::size_t i, const RenderedImage &image, const CommandLine &line,
                  const CompleteExperiment &complete) {
    if (line.outputs.noise)
      nexus->write(i,
                   std::as_bytes(std::span<const std::int32_t>(countsOf(image, line, complete))));
    else
      nexus->write(i, std::as_bytes(image.pixels));
  }

  /// Writes the models behind the images: .expt, .refl, .stream.
  void writeModels(const io::DialsExperiment &first, std::optional<io::OutputFile> &expt) {
    for (std::size_t i = 0; i < stills.size(); ++i)
      if (stills[i].empty()) // it was there, or another process made it
        stills[i] = describeStill(std::int64_t(i));
    if (expt && plan.stills())
      writeStillsExpt(*expt, setup, files, stills);
    else if (expt)
      writeScanExpt(*expt, setup, files, first, describeSharing());
    if (labels.wanted() && (!ranks || leads))
      labels.write(
          [&](std::int64_t i) {
            const std::string name = files.imageName();
            if (nexus)
              return SpotLabels::ImageName{absoluteName(name), "//" + std::to_string(i)};
            return SpotLabels::ImageName{absoluteName(files.numbered(name, i + 1)), ""};
          },
          [&](std::int64_t i) { return std::size_t(plan.lattices(i)); },
          first.scan ? first.scan->first - 1 : 0);
    if (expt)
      expt->commit();
    labels.publish();
  }

  void writeStructureFactors() const {
    const auto &dump = setup.line.outputs.dumpFile, &mtz = setup.line.outputs.mtzFile;
    const auto &grid = setup.complete.experiment.crystal.grid;
    if (leads && dump && grid) {
      io::OutputFile file(*dump);
      io::writeDump(file, *grid);
      file.commit();
    }
    if (leads && mtz) {
      io::OutputFile file(*mtz);
      file.write(factors);
      file.commit();
    }
  }

  void printSummary(const SeriesProgress &progress) const {
    if (setup.line.tool.quiet)
      return;
    const double seconds = start.sinceMain.seconds();
    const std::int64_t made = ranks ? madeByAll : progress.made();
    std::printf("%lld frames in %.2f s", (long long)made, seconds);
    if (ranks)
      std::printf(" by %d ranks, which had work for %.2f to %.2f s", ranks->size(), leastBusy,
                  mostBusy);
    if (progress.skipped() > 0)
      std::printf(", %lld were there", (long long)progress.skipped());
    if (made > 0)
      std::printf("; the kernel ran %.2f ms of the %.2f ms a frame took",
                  1e3 * kernelSeconds / double(made), 1e3 * seconds / double(made));
    std::printf("\n");
    for (const std::string &name : files.names(1, setup.complete.experiment.detector))
      std::printf("wrote %s%s\n", printable(name).c_str(), plan.count() > 1 ? " and so on" : "");
    const OutputOptions &o = setup.line.outputs;
    if (o.nexusFile && part != alone)
      std::printf("wrote %s, a view of %lld of %lld frames in %s and so on\n",
                  printable(*o.nexusFile).c_str(), (long long)joined, (long long)plan.count(),
                  printable(nexusOf(part)).c_str());
    else if (o.nexusFile)
      std::printf("wrote %s\n", printable(*o.nexusFile).c_str());
    for (const auto &name : {o.exptFile, o.shotsFile, o.mtzFile})
      if (name && leads)
        std::printf("wrote %s\n", printable(*name).c_str());
    for (const std::string &name : labels.names())
      std::printf("wrote %s\n", printable(name).c_str());
  }

  RunSetup &setup;
  KernelProvider &kernels;
  const ProcessStart &start;
  Ranks *ranks; ///< null: none
  bool leads;   ///< does it write what there is one of?
  std::vector<io::OutputFile> claims;
  std::unique_ptr<SeriesJournal> journal; ///< before the plan: it knows the seeds
  int part;
  FramePlan plan;
  FrameFiles files;
  Inputs inputs; ///< whose matrix is that of the frame at hand
  SpotLabels labels;
  std::unique_ptr<io::NexusWriter> nexus;
  std::string factors; ///< the content of --write-mtz
  bool told = false;
  bool shortfallTold = false;
  double kernelSeconds = 0, busySeconds = 0, leastBusy = 0, mostBusy = 0;
  std::int64_t toldOthers = 0, madeByAll = 0, joined = 0;
  std::mutex madeMutex;
  std::vector<std::int64_t> madeHere;                   ///< images of a rank
  FinishedImages madeByRanks;                           ///< all, on rank 0
  std::vector<std::vector<io::DialsExperiment>> stills; ///< the lattices of each; for .expt alone
};

} // namespace

void makeSeries(RunSetup &setup, KernelProvider &kernels, const ProcessStart &start, Ranks *ranks) {
  SeriesRun(setup, kernels, start, ranks).run();
}

} // namespace nanobragg
