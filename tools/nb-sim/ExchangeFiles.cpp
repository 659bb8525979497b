#include "tools/nb-sim/ExchangeFiles.h"

#include "lib/Formats/ExptFile.h"
#include "lib/Images/CbfFile.h"
#include "tools/nb-sim/DialsExperimentOf.h"
#include "tools/nb-sim/FrameFiles.h"
#include "tools/nb-sim/NexusSink.h"
#include "tools/nb-sim/SeriesJournal.h"

namespace nanobragg {

void refuseUnfitCbf(const CommandLine &line, const io::DialsExperiment &description) {
  std::string why;
  if (line.outputs.cbfFile)
    io::cbfHeaderOf(description, why);
  if (!why.empty())
    throw UsageError("--cbf: " + why + ", for which miniCBF has no room; use --nexus=FILE");
}

static void refuseTable(const Experiment &experiment) {
  const ProgramVariant &v = experiment.variant;
  if (rowOf(v.shape).profile != SpotProfile::Gaussian)
    throw UsageError("--reflections is for Gaussian crystals, whose averages have a closed form; "
                     "give -gauss_xtal or -Ncells_def");
  if (v.isSampled())
    throw UsageError("--reflections needs averages in closed form, and this image takes samples; "
                     "give --average=closed");
}

ExchangeFiles::ExchangeFiles(const RunSetup &setup)
    : setup(setup), labels(setup, 1, !(setup.complete.report.osc > 0), alone, true) {
  const OutputOptions &o = setup.line.outputs;
  if (o.mtzFile) {
    factors = trueFactors(setup);
    mtz.emplace(*o.mtzFile);
  }
  if (o.reflectionsFile) {
    refuseTable(setup.complete.experiment);
    try {
      reflectionFormat = reflectionFormatOf(*o.reflectionsFile);
    } catch (const std::invalid_argument &error) {
      throw UsageError("--reflections=" + printable(*o.reflectionsFile) + ": " + error.what());
    }
    reflections.emplace(*o.reflectionsFile);
  }
  if (!o.cbfFile && !o.exptFile && !o.nexusFile)
    return;
  description = dialsExperimentOf(setup.complete, setup.line, setup.loaded, 1);
  refuseUnfitCbf(setup.line, description);
  if (o.cbfFile) {
    io::OutputFile::refuseFrameOfOther(*o.cbfFile);
    cbf.emplace(*o.cbfFile);
  }
  if (o.exptFile)
    expt.emplace(*o.exptFile);
  if (o.nexusFile) // written at the end: says now whether it can be
    io::OutputFile probe(*o.nexusFile);
}

void ExchangeFiles::write(const RenderedImage &image, Simulator &simulator) {
  const CommandLine &line = setup.line;
  const OutputOptions &o = line.outputs;
  std::string ignored;
  if (cbf) {
    const auto bytes =
        io::cbfBytes(io::cbfHeaderOf(description, ignored), countsOf(image, line, setup.complete));
    cbf->write(bytes.data(), bytes.size());
  }
  if (o.nexusFile) {
    NexusSink nexus(setup, 1, !description.scan, nullptr, description);
    nexus.write(0, image, line, setup.complete);
    nexus.finish();
  }
  if (expt) {
    io::ExptImages images;
    images.names.push_back(imageName());
    io::DialsExperiment e = description;
    e.imageSet = 0;
    io::writeExpt(*expt, std::span(&e, 1), images);
  }
  if (mtz)
    mtz->write(factors);
  if (reflections)
    writeReflections(*reflections, reflectionFormat, simulator.reflections(),
                     simulatedExperiment(setup.complete, line, setup.loaded, 1));
  if (labels.wanted()) {
    labels.add(0, setup.complete, simulatedExperiment(setup.complete, line, setup.loaded, 1),
               image.pixels,
               SpotLabels::takesTable(line, setup.complete.experiment) ? simulator.reflections()
                                                                       : ReflectionTable());
    labels.write(
        [&](std::int64_t) {
          return SpotLabels::ImageName{imageName(), o.nexusFile && !o.cbfFile ? "//0" : ""};
        },
        [](std::int64_t) { return 1; });
  }
}

/// The name of the image for DIALS.
std::string ExchangeFiles::imageName() const {
  const OutputOptions &o = setup.line.outputs;
  const std::string name = o.cbfFile     ? *o.cbfFile
                           : o.nexusFile ? *o.nexusFile
                           : o.noise     ? o.noiseFile
                                         : o.intFile;
  return absoluteName(name);
}

void ExchangeFiles::publish() {
  for (std::optional<io::OutputFile> *file : {&cbf, &expt, &mtz, &reflections})
    if (*file)
      (*file)->commit();
  labels.publish();
}

std::vector<std::string> ExchangeFiles::names() const {
  const OutputOptions &o = setup.line.outputs;
  std::vector<std::string> all;
  for (const auto &name :
       {o.cbfFile, o.nexusFile, o.exptFile, o.reflFile, o.reflectionsFile, o.streamFile, o.mtzFile})
    if (name)
      all.push_back(absoluteName(*name));
  return all;
}

} // namespace nanobragg
