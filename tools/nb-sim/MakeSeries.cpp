#include "tools/nb-sim/Actions.h"

#include "lib/Files/FileError.h"
#include "lib/Formats/DumpFile.h"
#include "lib/Formats/NexusFile.h"
#include "lib/Inputs/SpectrumInput.h"
#include "lib/Parallel/TaskQueue.h"
#include "lib/Parallel/ThreadTeam.h"
#include "lib/Quantities/Printable.h"
#include "lib/Trace/Trace.h"
#include "tools/nb-sim/DialsExperimentOf.h"
#include "tools/nb-sim/ExchangeFiles.h"
#include "tools/nb-sim/FrameDeal.h"
#include "tools/nb-sim/FrameFiles.h"
#include "tools/nb-sim/FrameRenderer.h"
#include "tools/nb-sim/ModelSink.h"
#include "tools/nb-sim/NexusSink.h"
#include "tools/nb-sim/SeriesJournal.h"
#include "tools/nb-sim/SeriesTeam.h"

#include <functional>
#include <memory>
#include <optional>

namespace nanobragg {
namespace {

/// Claims outputs that another series, with a journal of another name, may write too; before the
/// journal, which begins anew.
std::vector<io::OutputFile> claimsOf(const CommandLine &line, Ranks *ranks, bool leads) {
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

std::unique_ptr<SeriesJournal> journalOf(RunSetup &setup, Ranks *ranks) {
  if (!setup.line.series.any())
    return nullptr; // lattices on one image
  const OutputOptions &o = setup.line.outputs;
  if (setup.line.series.shard && !setup.line.series.shots && o.reflFile)
    throw UsageError("--write-refl: a reflection of a rotation may extend over images of several "
                     "shards; use ranks of MPI instead of shards, or leave it out here and, when "
                     "all images exist, run the whole command in one process, with --resume");
  return std::make_unique<SeriesJournal>(FrameFiles(setup.line, 1).journalName(), setup.line,
                                         setup.loaded, ranks);
}

/// A plan, of which this process makes what the dealer gives it; the journal notes what is made,
/// and sinks write it.
class SeriesRun {
public:
  SeriesRun(RunSetup &setup, KernelProvider &kernels, const ProcessStart &start, Ranks *ranks)
      : setup(setup), start(start), ranks(ranks),
        leads(setup.line.series.shard ? setup.line.series.shard->index == 0
                                      : !ranks || ranks->rank() == 0),
        claims(claimsOf(setup.line, ranks, leads)), journal(journalOf(setup, ranks)), plan(setup),
        files(setup.line, plan.count()), renderer(setup, kernels, plan), team(ranks),
        models(setup, plan, files, setup.line.series.shard && journal ? journal->part() : alone,
               leads, !ranks || leads) {}

  void run() {
    const OutputOptions &o = setup.line.outputs;
    if (setup.loaded.hasSpectraOfShots)
      readSpectra(*setup.line.files.spectrum, std::size_t(plan.count()), setup.loaded);
    const std::vector<io::DialsExperiment> first = renderer.describe(0, plan.count());
    refuseUnfitCbf(setup.line, first.front());
    const std::string factors = o.mtzFile && leads ? trueFactors(setup) : std::string();
    if (o.nexusFile)
      nexus.emplace(setup, plan.count(), plan.stills(), journal.get(), first.front());
    writeShots();
    makeFrames();
    if (nexus && (leads || !ranks))
      nexus->join([this](const auto &usable) { return finishedByAll(usable); });
    for (const std::string &packed : gatherSpots())
      models.take(packed, renderer);
    models.write(first, renderer);
    writeStructureFactors(factors);
    printSummary();
  }

private:
  void makeFrames() {
    FrameDeal deal(
        plan.count(), [&](std::int64_t i) { return !models.needsAllFrames() && isDone(i); },
        [&](std::int64_t i) { return double(plan.lattices(i)); }, setup.line.series, ranks);
    SeriesProgress &progress = this->progress.emplace(
        stdout, plan.count() - deal.others(), setup.line.tool.progress && !setup.line.tool.quiet);
    for (std::int64_t i = 0; i < deal.done(); ++i)
      progress.skip();
    team.prepareKernel([&] { renderer.prepare(); });
    TaskQueue writer(unsigned(threadsOf(requestedThreads(setup.line.tool))));
    while (const std::optional<std::int64_t> next = deal.next()) {
      const std::int64_t i = *next;
      const bool there = models.needsAllFrames() && isDone(i);
      writer.add([this, i, there, done = std::make_shared<RenderedFrame>(renderer.render(i))] {
        models.add(i, *done, renderer);
        if (!there)
          write(i, *done);
        there ? this->progress->skip() : this->progress->finishOne();
      });
      team.tell(progress);
    }
    writer.finish();
    const double busySeconds = start.sinceMain.seconds();
    if (nexus)
      nexus->finish();
    team.meet(progress);
    progress.end();
    team.gatherReports(busySeconds, renderer.kernelSeconds());
  }

  bool isDone(std::int64_t i) const {
    if (!journal)
      return false;
    const auto found = journal->finishedBefore().find(i + 1);
    return found != journal->finishedBefore().end() &&
           files.allThere(i + 1, setup.complete.experiment.detector) &&
           (!nexus || nexus->has(i, found->second));
  }

  /// On a thread of its own.
  void write(std::int64_t i, RenderedFrame &frame) {
    trace::nameThread("writer");
    trace::Span span("files", "write image");
    span.explain([&] { return std::to_string(i + 1); });
    frame.addUp();
    RenderedLattice &sum = frame.lattices.front();
    if (nexus)
      nexus->write(i, {sum.image, sum.photons}, frame.line, sum.complete);
    files.write(i + 1, {sum.image, sum.photons, &frame.map}, frame.line, sum.complete,
                dialsExperimentOf(sum.complete, frame.line, setup.loaded, 1));
    if (journal)
      journal->finish(i + 1);
    team.made(i + 1);
  }

  /// By all parts with a file.
  FinishedImages finishedByAll(const std::function<bool(int)> &usable) const {
    if (!ranks)
      return journal->finishedByAll(usable);
    FinishedImages finished = journal->finishedBefore();
    std::erase_if(finished, [&](const auto &entry) { return !usable(entry.second); });
    for (const auto &[image, which] : team.madeByRanks())
      finished[image] = which;
    return finished;
  }

  /// The spots of other ranks, on the first.
  std::vector<std::string> gatherSpots() {
    if (!models.needsAllFrames())
      return {};
    return team.gather(leads ? "" : models.packed());
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

  void writeStructureFactors(const std::string &factors) const {
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

  void printSummary() const {
    if (setup.line.tool.quiet)
      return;
    team.printFrames(*progress, start.sinceMain.seconds());
    for (const std::string &name : files.names(1, setup.complete.experiment.detector))
      std::printf("wrote %s%s\n", printable(name).c_str(), plan.count() > 1 ? " and so on" : "");
    if (nexus)
      nexus->printNames();
    const OutputOptions &o = setup.line.outputs;
    for (const auto &name : {o.exptFile, o.shotsFile, o.mtzFile})
      if (name && leads)
        std::printf("wrote %s\n", printable(*name).c_str());
    for (const std::string &name : models.names())
      std::printf("wrote %s\n", printable(name).c_str());
  }

  RunSetup &setup;
  const ProcessStart &start;
  Ranks *ranks; ///< null: none
  bool leads;   ///< does it write what there is one of?
  std::vector<io::OutputFile> claims;
  std::unique_ptr<SeriesJournal> journal; ///< before the plan: it knows the seeds
  FramePlan plan;
  FrameFiles files;
  FrameRenderer renderer;
  SeriesTeam team;
  ModelSink models;
  std::optional<NexusSink> nexus;
  std::optional<SeriesProgress> progress;
};

} // namespace

void makeSeries(RunSetup &setup, KernelProvider &kernels, const ProcessStart &start, Ranks *ranks) {
  SeriesRun(setup, kernels, start, ranks).run();
}

} // namespace nanobragg
